/// The board of uniform Go playouts: the rules of BasicGo with only what a playout needs.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "games/common/draws.h"
#include "games/go/board.h"
#include "games/go/geometry.h"
#include "games/go/history.h"
#include "games/go/near.h"
#include "games/go/params.h"

namespace pyengine {

/// The boards of a playout's own plies, which superko forbids as well as the earlier ones.
template <int MaxSide>
class GoPlayoutHistory {
 public:
  /// Maximum number of plies. Playouts of longer games with superko use the game's own board.
  static constexpr int kMost = 4 * MaxSide * MaxSide;

  [[nodiscard]] bool contains(std::uint64_t key, unsigned stones) const noexcept {
    unsigned i = latest_[stones];
    while (i != 0 && boards_[i].key != key) i = boards_[i].previous;
    return i != 0;
  }
  void add(std::uint64_t key, unsigned stones) noexcept {
    boards_[++used_] = {key, latest_[stones]};
    latest_[stones] = static_cast<std::uint16_t>(used_);
  }

 private:
  struct Board {
    std::uint64_t key;
    std::uint16_t previous;  ///< previous board with the same number of stones; 0 = none
  };
  std::array<std::uint16_t, MaxSide * MaxSide + 1> latest_{};  ///< [stones]
  std::array<Board, kMost + 1> boards_;                        // NOLINT: written before it is read
  unsigned used_ = 0;
};

/// The initial data of a playout; all of it must outlive the board.
template <int MaxSide>
struct GoPlayoutStart {
  const GoParams& params;
  const GoBoard<MaxSide>& board;
  const std::array<PointSet<GoBoard<MaxSide>::kWords>, 2>& taken;  ///< as in BasicGo
  const GoHistory& history;
  int to_move = 0;
  Action ko = kNoAction;
  int passes = 0;
  int plies_left = 0;
};

/// Points are places in one array with a border, so neighbours are at fixed offsets: place of (row,
/// column) = (row + 1) * kStride + column + 1. Each place stores its surroundings (near.h), so most
/// queries need no other load. A chain counts its pseudo-liberties, as in GoBoard. Empty places and
/// border places are chains of their own whose counts are meaningless: a play updates the counts of
/// four neighbours without checking what they are.
template <int MaxSide>
class GoPlayoutBoard {
 public:
  explicit GoPlayoutBoard(const GoPlayoutStart<MaxSide>& start) noexcept;

  [[nodiscard]] bool over() const noexcept { return passes_ >= 2 || plies_left_ <= 0; }
  /// Plays moves of BasicGo::playout_move() to the end; returns the number of plies.
  int play_out(SmallDraws& draws) noexcept;
  /// Plays a legal point, or the pass.
  void play(Action action) noexcept;
  /// For an empty point.
  [[nodiscard]] bool is_legal(Action point) noexcept;
  [[nodiscard]] bool fills_eye(Action point) const noexcept {
    return go_near::is_eye(near_[place(point)], own_);
  }
  /// Area score: points of the first player minus those of the second.
  [[nodiscard]] int margin() const noexcept;

 private:
  static constexpr unsigned kStride = MaxSide + 1;
  static constexpr unsigned kPlaces = (MaxSide + 2) * kStride + 1;
  static constexpr unsigned kPoints = MaxSide * MaxSide;
  static constexpr unsigned kNowhere = 0;  ///< a border place
  /// Offset to the neighbour of a bit of a go_near set; 8: none.
  static constexpr std::array<int, 9> kSteps{
      -static_cast<int>(kStride), 0, -1, 0, 1, 0, kStride, 0, 0};

  /// A count for places without a chain, too large to be taken for few pseudo-liberties.
  static constexpr std::uint16_t kNoChain = 0x8000;

  struct Empty {
    std::uint16_t place;
    std::uint16_t point;
  };
  /// Calls `visit` for the four adjacent places.
  template <class Visit>
  static void for_beside(unsigned place, Visit&& visit) {
    visit(place - kStride);
    visit(place - 1);
    visit(place + 1);
    visit(place + kStride);
  }
  /// Calls `visit` for the places of a set of neighbours.
  template <class Visit>
  static void for_sides(unsigned place, unsigned set, Visit&& visit) {
    for (; set != 0; set &= set - 1) visit(beside(place, set));
  }
  /// The first place of the set; the place itself if the set is empty.
  [[nodiscard]] static unsigned beside(unsigned place, unsigned set) noexcept {
    return place +
        static_cast<unsigned>(kSteps[static_cast<unsigned>(std::countr_zero(set | 256U))]);
  }

  [[nodiscard]] unsigned place(Action point) const noexcept {
    const auto p = static_cast<unsigned>(point);
    return (p / columns_ + 1) * kStride + p % columns_ + 1;
  }
  [[nodiscard]] unsigned point(unsigned place) const noexcept {
    return (place / kStride - 1) * columns_ + place % kStride - 1;
  }
  [[nodiscard]] std::uint16_t& open_of(unsigned place) noexcept { return open_[head_[place]]; }
  [[nodiscard]] static std::uint64_t stone_key(unsigned colour, unsigned point) noexcept {
    return kGoKeys.stone[colour - 1][point];
  }
  /// The key of the player to move, as in the keys of a history.
  [[nodiscard]] std::uint64_t turn_key(unsigned to_move) const noexcept {
    return situational_ && to_move != 1 ? kGoKeys.second_to_move : 0;
  }

  /// Plays a move for a colour, uniform over the legal places that are not its own eyes; passes if
  /// there is none. Tries the empty places in random order.
  template <unsigned kColour>
  void play_drawn(SmallDraws& draws) noexcept;
  /// Plays the empty place at `index` of the list; its neighbours' liberties have been taken.
  template <unsigned kColour>
  void play_empty(unsigned index, unsigned near, bool settles) noexcept;
  void pass() noexcept;

  /// The result of taking the liberties of a place's neighbours.
  enum class Sides : std::uint8_t {
    illegal,  ///< the liberties have been restored
    legal,
    settles,  ///< legal, and some chain has no liberties left
  };
  /// Takes the pseudo-liberties that a stone of the colour at the place removes, if it is legal.
  template <unsigned kColour>
  [[nodiscard]] Sides take_sides(unsigned place, unsigned near) noexcept;
  [[nodiscard]] Sides take_sides(unsigned place) noexcept {
    return own_ == 1 ? take_sides<1>(place, near_[place]) : take_sides<2>(place, near_[place]);
  }
  void give_sides(unsigned place) noexcept {
    for_beside(place, [this](unsigned p) { ++open_of(p); });
  }
  /// Whether a stone there may remove the last liberty of an adjacent chain.
  [[nodiscard]] bool has_few_sides(unsigned place) noexcept;
  /// The neighbours whose chains have no liberties left.
  [[nodiscard]] unsigned without_liberty(unsigned place) noexcept;
  /// Whether superko forbids the stone, whose neighbours' liberties have been taken.
  [[nodiscard]] bool repeats(unsigned place, unsigned near, bool lives) noexcept;

  void set_up(const GoPlayoutStart<MaxSide>& start) noexcept;
  void set_up_borders(unsigned rows) noexcept;
  /// Adds or removes a stone at the place.
  void toggle(unsigned place, unsigned colour) noexcept;
  void join(unsigned a, unsigned b) noexcept;
  void settle(unsigned place, unsigned near) noexcept;
  /// Returns the number of removed stones.
  unsigned take_off(unsigned stone, unsigned colour) noexcept;

  const GoHistory* earlier_;
  unsigned columns_;
  unsigned num_points_;
  unsigned own_;  ///< colour of the player to move
  unsigned ko_ = kNowhere;
  int passes_;
  int plies_left_;
  bool suicide_;
  bool superko_;
  bool situational_;
  std::uint64_t key_;
  int lead_;  ///< stones of the first player minus those of the second
  unsigned num_empty_ = 0;
  // The other members are written before they are read.
  std::array<GoNear, kPlaces> near_;
  std::array<std::uint16_t, kPlaces>
      head_;  ///< identifies the chain of a stone; the place itself for other places
  std::array<std::uint16_t, kPlaces> next_;  ///< of a stone: the next one in its chain's ring
  std::array<std::uint16_t, kPlaces> open_;  ///< [head]: pseudo-liberties
  std::array<std::uint16_t, kPlaces> size_;  ///< [head]: stones
  std::array<Empty, kPoints> list_;          ///< the empty places, in any order
  GoPlayoutHistory<MaxSide> history_;
};

static_assert(std::is_trivially_copyable_v<GoPlayoutBoard<19>>);

extern template class GoPlayoutBoard<9>;
extern template class GoPlayoutBoard<13>;
extern template class GoPlayoutBoard<19>;

}  // namespace pyengine
