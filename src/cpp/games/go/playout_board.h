/// The board of uniform playouts of Go: the rules of BasicGo with no more than a playout needs.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "games/common/draws.h"
#include "games/go/board.h"
#include "games/go/geometry.h"
#include "games/go/history.h"
#include "games/go/params.h"

namespace pyengine {

/// The boards of a playout's own plies, which superko forbids as well as those before it.
template <int MaxSide>
class GoPlayoutHistory {
 public:
  /// Plies that fit. Playouts of longer games that superko rules use the game's own board.
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
    std::uint16_t previous;  ///< older one with as many stones; 0 = none
  };
  std::array<std::uint16_t, MaxSide * MaxSide + 1> latest_{};  ///< [stones]
  std::array<Board, kMost + 1> boards_;                        // NOLINT: written before it is read
  unsigned used_ = 0;
};

/// What a playout begins with; all of it outlives the board.
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

/// Points are places of one array with a border, so that neighbours are fixed steps:
///
///   place of (row, column) = (row + 1) * kStride + column + 1
///
/// A chain counts its pseudo-liberties, as GoBoard does. Empty places and the border belong to
/// chain 0, whose count means nothing: a play changes the counts of four neighbours without asking
/// what they are.
template <int MaxSide>
class GoPlayoutBoard {
 public:
  explicit GoPlayoutBoard(const GoPlayoutStart<MaxSide>& start) noexcept;

  [[nodiscard]] bool over() const noexcept { return passes_ >= 2 || plies_left_ <= 0; }
  /// Plays to the end by the moves of BasicGo::playout_move(); returns the number of plies.
  int play_out(SmallDraws& draws) noexcept {
    int plies = 0;
    for (; !over(); ++plies) play_place(draw(draws));
    return plies;
  }
  /// Plays a legal point, or the pass.
  void play(Action action) noexcept {
    play_place(static_cast<unsigned>(action) == num_points_ ? kNowhere : place(action));
  }
  /// Of an empty point.
  [[nodiscard]] bool is_legal(Action point) noexcept {
    return is_legal_place(place(point), around(place(point)));
  }
  [[nodiscard]] bool fills_eye(Action point) const noexcept {
    return is_eye(place(point), around(place(point)));
  }
  /// Points of the first player less those of the second, by area.
  [[nodiscard]] int margin() const noexcept;

 private:
  static constexpr unsigned kStride = MaxSide + 1;
  static constexpr unsigned kPlaces = (MaxSide + 2) * kStride + 1;
  static constexpr unsigned kPoints = MaxSide * MaxSide;
  static constexpr unsigned kNowhere = 0;  ///< a place of the border
  /// Colours as bits: what stands around a place is the union of four of them. 1 and 2 are players.
  static constexpr unsigned kEmpty = 4;
  static constexpr unsigned kBorder = 8;

  /// Calls `visit` for the four places beside one.
  template <class Visit>
  static void for_beside(unsigned place, Visit&& visit) {
    visit(place - kStride);
    visit(place - 1);
    visit(place + 1);
    visit(place + kStride);
  }

  [[nodiscard]] unsigned place(Action point) const noexcept {
    const auto p = static_cast<unsigned>(point);
    return (p / columns_ + 1) * kStride + p % columns_ + 1;
  }
  [[nodiscard]] unsigned point(unsigned place) const noexcept {
    return (place / kStride - 1) * columns_ + place % kStride - 1;
  }
  [[nodiscard]] unsigned around(unsigned place) const noexcept {
    return static_cast<unsigned>(colour_[place - kStride] | colour_[place - 1] |
                                 colour_[place + 1] | colour_[place + kStride]);
  }
  [[nodiscard]] unsigned own() const noexcept { return 1U << mover_; }
  [[nodiscard]] std::uint64_t stone_key(unsigned player, unsigned place) const noexcept {
    return kGoKeys.stone[player][point(place)];
  }
  /// With what the keys of a history tell the player to move.
  [[nodiscard]] std::uint64_t turn_key(unsigned to_move) const noexcept {
    return situational_ && to_move != 0 ? kGoKeys.second_to_move : 0;
  }

  /// Uniform over the legal places that are no eye of the mover's; kNowhere, the pass, where there
  /// is none. Tries the empty places in a random order.
  [[nodiscard]] unsigned draw(SmallDraws& draws) noexcept;
  void play_place(unsigned place) noexcept;

  // `beside` = around(place)
  /// All neighbours are the mover's; at most one stone of the other's is diagonal to it, none at
  /// the edge.
  [[nodiscard]] bool is_eye(unsigned place, unsigned beside) const noexcept {
    return (beside & ~(own() | kBorder)) == 0 && has_sound_corners(place, beside);
  }
  [[nodiscard]] bool has_sound_corners(unsigned place, unsigned beside) const noexcept;
  [[nodiscard]] bool is_legal_place(unsigned place, unsigned beside) noexcept;
  /// Whether a stone of the mover would have a liberty where no empty point is beside it.
  [[nodiscard]] bool lives_by_chains(unsigned place) noexcept;
  /// Whether superko forbids the stone, which lives or is suicide.
  [[nodiscard]] bool repeats(unsigned place, bool lives) noexcept;

  void set_up(const GoPlayoutStart<MaxSide>& start) noexcept;
  void place_stone(unsigned place) noexcept;
  void join(unsigned place, unsigned other) noexcept;
  /// Returns the number of stones.
  unsigned take_off(unsigned stone) noexcept;
  void add_empty(unsigned place) noexcept {
    list_[num_empty_] = static_cast<std::uint16_t>(place);
    index_[place] = static_cast<std::uint16_t>(num_empty_++);
  }
  void swap_empties(unsigned i, unsigned j) noexcept;
  void remove_empty(unsigned place) noexcept {
    swap_empties(index_[place], num_empty_ - 1);
    --num_empty_;
  }

  const GoHistory* earlier_;
  unsigned columns_;
  unsigned num_points_;
  unsigned mover_;
  unsigned ko_ = kNowhere;
  int passes_;
  int plies_left_;
  bool suicide_;
  bool superko_;
  bool situational_;
  std::uint64_t key_;
  std::array<int, 2> stones_;  ///< of each player
  unsigned num_empty_ = 0;
  // The others are written before they are read.
  std::array<std::uint8_t, kPlaces> colour_;
  std::array<std::uint8_t, kPlaces> taken_;   ///< bits of players whose stones were taken off there
  std::array<std::uint16_t, kPlaces> head_;   ///< names the chain of a stone; 0 for no stone
  std::array<std::uint16_t, kPlaces> next_;   ///< of a stone: the next one of its chain's ring
  std::array<std::uint16_t, kPlaces> size_;   ///< [head]: stones
  std::array<std::uint16_t, kPlaces> open_;   ///< [head]: pseudo-liberties
  std::array<std::uint16_t, kPoints> list_;   ///< the empty places, in any order
  std::array<std::uint16_t, kPlaces> index_;  ///< of an empty place in the list
  GoPlayoutHistory<MaxSide> history_;
};

static_assert(std::is_trivially_copyable_v<GoPlayoutBoard<19>>);

extern template class GoPlayoutBoard<9>;
extern template class GoPlayoutBoard<13>;
extern template class GoPlayoutBoard<19>;

}  // namespace pyengine
