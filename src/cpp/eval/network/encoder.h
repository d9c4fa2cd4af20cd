/// From a position to the rows of a network's input, as a ModelSpec says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "eval/network/spec.h"
#include "games/any/any_game.h"

namespace pyengine {

/// Type of the input's elements. Of int8 a quarter as much crosses to a device, where the network
/// widens it; see Encoder::fits_int8().
enum class ElementType : std::uint8_t { float32, float16, int8 };

inline constexpr std::size_t size_of(ElementType type) noexcept {
  constexpr std::array<std::size_t, 3> kBytes = {4, 2, 1};
  return kBytes[static_cast<std::size_t>(type)];
}

/// Shape of a row of planes.
struct PlaneShape {
  int channels = 0;
  int rows = 0;
  int columns = 0;
  bool channels_last = false;
  [[nodiscard]] int points() const noexcept { return rows * columns; }
  [[nodiscard]] std::size_t elements() const noexcept {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(points());
  }
  /// {C,H,W} or {H,W,C}.
  [[nodiscard]] std::array<std::int64_t, 3> dims() const noexcept;
  friend bool operator==(const PlaneShape&, const PlaneShape&) = default;
};

/// What the planes of a position show, the same under all symmetries.
struct PlaneStack {
  std::vector<BoardBits> bits;  ///< planes that are sets of points
  std::vector<float> fill;      ///< planes of one value
  std::vector<float> dense;     ///< other planes, or a user's observation; H*W each
  std::uint64_t key[2] = {};    ///< 128-bit hash of all of the above
};

/// A spec compiled for a game. Immutable: any number of threads may use it.
///
/// open() reads a position into sets of points, single values and dense planes; write() lays them
/// out under a symmetry. A row under symmetry k shows the position with its points moved by k.
class Encoder {
 public:
  /// Throws ModelError when the game does not have what a plane shows, ConfigError for a bad spec.
  Encoder(const ModelSpec& spec, const AnyGame& game);

  /// How the content of a channel is kept in a PlaneStack.
  enum class Storage : std::uint8_t { set, value, dense };
  struct Channel {
    Storage storage;
    std::uint16_t slot;  ///< index into bits, fill, or planes of dense
  };

  [[nodiscard]] const PlaneShape& shape() const noexcept { return shape_; }
  /// [C]. Those of sets and of values take the slots 0, 1, 2 ... in their order.
  [[nodiscard]] const std::vector<Channel>& channels() const noexcept { return channels_; }
  /// Planes of PlaneStack::dense, whichever of them the channels show.
  [[nodiscard]] int dense_planes() const noexcept { return dense_planes_; }
  /// [C]: the slot that a channel shows under a symmetry; it differs from Channel::slot where what
  /// a plane means has a direction.
  [[nodiscard]] const std::vector<std::uint16_t>& slots_under(int symmetry) const noexcept {
    return dense_slot_[static_cast<std::size_t>(symmetry)];
  }

  /// Whether the planes hold -1, 0 and 1 alone: all but a user's observation and Gomoku's features.
  [[nodiscard]] bool fits_int8() const noexcept { return dense_planes_ == 0; }

  /// Fills `planes`, key included. `legal` are the legal actions of `position`. Throws what the
  /// code of a user's game throws.
  void open(const AnyPosition& position, const ActionList& legal, PlaneStack& planes) const;

  /// Writes shape().elements() elements of `type` to `row`; int8 only where fits_int8().
  void write(const PlaneStack& planes, int symmetry, ElementType type,
             std::byte* row) const noexcept;

 private:
  void add(const Plane& plane, const AnyGame& game);
  void add_observation(const AnyGame& game);
  void check(const Plane& plane, const AnyGame& game) const;
  void make_places(const ModelSpec& spec, const AnyGame& game);
  void make_dense_slots();

  using Stones = std::array<BoardBits, 2 * kMaxPlyPlanes>;  ///< [t][player]
  using Areas = std::array<BoardBits, 2>;                   ///< [player]
  void open_set(const Plane& plane, const AnyPosition& position, const ActionList& legal,
                const Stones& stones, const Areas& areas, BoardBits& bits) const;
  void open_dense(const AnyPosition& position, const Stones& stones, PlaneStack& planes) const;
  void make_key(const Stones& stones, PlaneStack& planes) const noexcept;
  /// The point of an action, or -1 for a pass; `above` finds a drop's place on top of the stones.
  [[nodiscard]] int point_of(Action action, const BoardBits& stones, bool above) const noexcept;
  template <class T, bool kChannelsLast>
  void write_as(const PlaneStack& planes, int symmetry, T* row) const noexcept;

  PlaneShape shape_;
  int board_columns_ = 0;
  bool drops_ = false;             ///< actions are columns (Connect Four)
  std::vector<Channel> channels_;  ///< [C]
  std::vector<Plane> sets_;        ///< of PlaneStack::bits
  std::vector<Plane> values_;      ///< of PlaneStack::fill
  std::uint32_t plies_ = 0;        ///< bit t: the planes need stones(t)
  bool reads_observation_ = false;
  bool reads_gomoku_ = false;
  bool reads_areas_ = false;
  int dense_planes_ = 0;
  std::vector<std::vector<std::uint16_t>> place_;       ///< [k][p] = where p goes within a plane
  std::vector<std::vector<std::uint16_t>> dense_slot_;  ///< [k][c] for dense channels
};

/// The symmetry, below `symmetries`, of a leaf that is evaluated under a random one. It depends on
/// position and seed alone, so that a position that comes back finds its answer in the cache, in
/// all searches of a seed. The games of self-play with one network therefore share openings under
/// one symmetry each: the next network's errors there are others, and training sees every position
/// under all symmetries.
int random_symmetry(const PlaneStack& planes, std::uint64_t seed, int symmetries);

}  // namespace pyengine
