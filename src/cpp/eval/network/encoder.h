/// Converts positions to rows of a network's input as a ModelSpec describes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "eval/network/spec.h"
#include "games/any/any_game.h"

namespace pyengine {

/// Type of the input's elements. int8 needs a quarter of the transfer to a device, where the
/// network converts it; see Encoder::fits_int8().
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

/// The content of a position's planes, the same under all symmetries.
struct PlaneStack {
  std::vector<BoardBits> bits;  ///< planes that are sets of points
  std::vector<float> fill;      ///< planes with one value
  std::vector<float> dense;     ///< other planes, or a user's observation; H*W each
  std::uint64_t key[2] = {};    ///< 128-bit hash of all of the above
};

/// The planes of a spec, compiled for a game. Immutable, so any number of threads may use it.
/// open() reads a position into sets of points, single values and dense planes; write() lays them
/// out under a symmetry. A row under symmetry k shows the position with its points moved by k.
class Encoder {
 public:
  /// Throws ModelError if the game lacks a plane's content, and ConfigError for an invalid spec.
  Encoder(const ModelSpec& spec, const AnyGame& game);

  /// How a PlaneStack stores the content of a channel.
  enum class Storage : std::uint8_t { set, value, dense };
  struct Channel {
    Storage storage;
    std::uint16_t slot;  ///< index into bits, fill, or the planes of dense
  };

  [[nodiscard]] const PlaneShape& shape() const noexcept { return shape_; }
  /// [C]. Sets and values are numbered 0, 1, 2, ... in their order.
  [[nodiscard]] const std::vector<Channel>& channels() const noexcept { return channels_; }
  /// Number of planes in PlaneStack::dense, whether or not a channel shows them.
  [[nodiscard]] int dense_planes() const noexcept { return dense_planes_; }
  /// [C]: the slot that a channel shows under a symmetry. It differs from Channel::slot for planes
  /// whose meaning has a direction.
  [[nodiscard]] const std::vector<std::uint16_t>& slots_under(int symmetry) const noexcept {
    return dense_slot_[static_cast<std::size_t>(symmetry)];
  }

  /// Whether all elements are -1, 0 or 1: true unless there are user observations or Gomoku
  /// features.
  [[nodiscard]] bool fits_int8() const noexcept { return dense_planes_ == 0; }

  /// Fills `planes`, including the key. `legal`: the legal actions of `position`. Rethrows
  /// exceptions of user code.
  void open(const AnyPosition& position, const ActionList& legal, PlaneStack& planes) const;

  /// Writes shape().elements() elements of `type` to `row`; int8 requires fits_int8().
  void write(const PlaneStack& planes, int symmetry, ElementType type,
             std::byte* row) const noexcept;

 private:
  void add(const Plane& plane, const AnyGame& game);
  void add_observation(const AnyGame& game);
  void check(const Plane& plane, const AnyGame& game) const;
  /// Reads a user's planes of 0 and 1 into the sets.
  void open_observation_sets(const AnyPosition& position, PlaneStack& planes) const;
  void make_places(const ModelSpec& spec, const AnyGame& game);
  void make_dense_slots();

  using Stones = std::array<BoardBits, 2 * kMaxPlyPlanes>;  ///< [t][player]
  using Areas = std::array<BoardBits, 2>;                   ///< [player]
  void open_set(const Plane& plane, const AnyPosition& position, const ActionList& legal,
                const Stones& stones, const Areas& areas, BoardBits& bits) const;
  void open_dense(const AnyPosition& position, const Stones& stones, PlaneStack& planes) const;
  void make_key(const Stones& stones, PlaneStack& planes) const noexcept;
  /// The point of an action, or -1 for a pass; `above` finds the point on top of the stones for a
  /// drop.
  [[nodiscard]] int point_of(Action action, const BoardBits& stones, bool above) const noexcept;
  template <class T, bool kChannelsLast>
  void write_as(const PlaneStack& planes, int symmetry, T* row) const noexcept;

  PlaneShape shape_;
  int board_columns_ = 0;
  bool drops_ = false;             ///< actions are columns (Connect Four)
  std::vector<Channel> channels_;  ///< [C]
  std::vector<Plane> sets_;        ///< the planes in PlaneStack::bits
  std::vector<Plane> values_;      ///< the planes in PlaneStack::fill
  std::uint32_t plies_ = 0;        ///< bit t: the planes need stones(t)
  bool reads_observation_ = false;
  std::size_t observation_set_ = 0;  ///< the first of a user's planes of 0 and 1 in `sets_`
  int observation_sets_ = 0;         ///< the number of these
  bool reads_gomoku_ = false;
  bool reads_areas_ = false;
  int dense_planes_ = 0;
  std::vector<std::vector<std::uint16_t>> place_;  ///< [k][p] = image of point p within a plane
  std::vector<std::vector<std::uint16_t>> dense_slot_;  ///< [k][c] for dense channels
};

/// The symmetry, in 0..symmetries - 1, of a leaf that is evaluated under a random one. It depends
/// only on position and seed, so that a recurring position hits the cache in all searches with the
/// same seed. Self-play games with one network therefore evaluate openings under one symmetry each;
/// the next network's errors there differ, and training sees every position under all symmetries.
int random_symmetry(const PlaneStack& planes, std::uint64_t seed, int symmetries);

}  // namespace pyengine
