/// Connect Four for the alpha-beta search.
///
/// A score is Pons' score: the stones that the winner has not played when he wins, counted from the
/// full board, negative for a loss, 0 for a draw.
///
/// Source: Pons, "Solving Connect Four: how to build a perfect AI", 2015 (non-losing moves,
/// ordering by threats, bounds from the remaining stones).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/bits.h"
#include "exact/alphabeta/connect_four_board.h"
#include "exact/alphabeta/connect_four_bounds.h"
#include "exact/alphabeta/position.h"
#include "games/connect_four.h"

namespace pyengine::alphabeta {

template <class Size>
class ConnectFourPosition {
  using Bits = std::uint64_t;

 public:
  using Score = int;
  static constexpr bool kKeepsHistory = false;
  static constexpr bool kLooksUpChildren = true;
  static constexpr bool kKeyIsCheap = true;
  static constexpr bool kNullWindows = true;
  static constexpr bool kHasMargin = true;
  static constexpr bool kEndsAreProof = true;
  static constexpr bool kDeepens = false;

  class Children {
   public:
    [[nodiscard]] int size() const noexcept { return size_; }
    [[nodiscard]] int& order(int i) noexcept { return at(i).order; }
    [[nodiscard]] Action action(int i) const noexcept { return at(i).action; }
    void swap(int i, int j) noexcept { std::swap(at(i), at(j)); }

   private:
    friend class ConnectFourPosition;
    struct Child {
      Bits move;
      Bits threats;  ///< threats of the player to move, after the move
      Action action;
      int order;
    };
    [[nodiscard]] Child& at(int i) noexcept { return list_[static_cast<std::size_t>(i)]; }
    [[nodiscard]] const Child& at(int i) const noexcept {
      return list_[static_cast<std::size_t>(i)];
    }
    std::array<Child, Size::kMostColumns> list_;
    int size_ = 0;
    int not_below_ = kNoScore;  ///< no static bound of a child is at most this value
  };

  ConnectFourPosition() = default;
  ConnectFourPosition(const ConnectFour& game, Size size) : board_(size) {
    BoardBits stones[2];
    game.stones(0, stones[0], stones[1]);
    for (int row = 0; row < board_.rows(); ++row) {
      for (int column = 0; column < board_.columns(); ++column) {
        const int point = row * board_.columns() + column;
        const Bits bit = Bits{1} << (board_.stride() * column + board_.rows() - 1 - row);
        if (stones[0].test(point) || stones[1].test(point)) all_ |= bit;
        if (stones[game.to_move()].test(point)) own_ |= bit;
      }
    }
    empties_ = board_.points() - count_bits(all_);
    own_threats_ = board_.completing(own_, all_);
    other_threats_ = board_.completing(own_ ^ all_, all_);
  }

  [[nodiscard]] std::optional<int> over() const noexcept {
    // The player who just moved has a four and wins with one stone fewer on the board.
    if (board_.has_four(own_ ^ all_)) return -((empties_ + 2) / 2);
    if (empties_ == 0) return 0;
    return std::nullopt;
  }

  [[nodiscard]] std::optional<int> known(const Question& question, Children&,
                                         std::uint64_t&) const noexcept {
    const Bits open = board_.playable(all_);
    if ((own_threats_ & open) != 0) return (empties_ + 1) / 2;
    if (empties_ == 0) return 0;
    const Bits moves = safe(open, other_threats_);
    if (moves == 0) return -(empties_ / 2);
    if (empties_ <= 2) return 0;
    const auto [low, high] = bounds(question);
    if (low >= question.beta) return low;
    if (high <= question.alpha) return high;
    if (high == question.alpha + 1) return wins_with_second(open, moves) ? high : question.alpha;
    if (low < 0 && low + 1 == question.beta) {
      return loses_to_second(open, moves) ? low : question.beta;
    }
    if (question.alpha != not_below_) {
      const int bound = upper(question.alpha, high);
      if (bound <= question.alpha) return bound;
    }
    return std::nullopt;
  }
  /// Neither player wins with the next stone.
  [[nodiscard]] Bounds bounds(const Question&) const noexcept {
    return {-((empties_ - 2) / 2), (empties_ - 1) / 2};
  }
  [[nodiscard]] Bounds range() const noexcept { return {-(empties_ / 2), (empties_ + 1) / 2}; }

  void list(const Question&, Children& children, std::uint64_t&) const noexcept {
    list_of(safe(board_.playable(all_), other_threats_), children);
  }
  /// A score of at least beta, if some child proves it.
  [[nodiscard]] std::optional<int> known_by_children(const Question& question,
                                                     Children& children) const noexcept {
    const int beta = question.beta;
    children.not_below_ = -beta;
    Bits moves = 0;
    Bits threats = 0;
    for (int i = 0; i < children.size(); ++i) {
      moves |= children.at(i).move;
      threats |= children.at(i).threats;
    }
    const ConnectFourBounds<Size> before(board_, own_ ^ all_, all_, threats);
    if (!before.may_answer(empties_ - 1, -beta, moves)) return std::nullopt;
    ConnectFourPosition next;
    for (int i = 0; i < children.size(); ++i) {
      play(children, i, next);
      const int bound = next.upper(-beta, 1 - beta);
      if (bound <= -beta) return -bound;
    }
    return std::nullopt;
  }
  void list_all(Children& children, std::uint64_t&) const noexcept {
    list_of(board_.playable(all_), children);
  }
  void play(const Children& children, int i, ConnectFourPosition& next) const noexcept {
    const auto& child = children.at(i);
    next.board_ = board_;
    next.own_ = own_ ^ all_;
    next.all_ = all_ | child.move;
    next.own_threats_ = other_threats_ & ~child.move;
    next.other_threats_ = child.threats;
    next.empties_ = empties_ - 1;
    next.not_below_ = children.not_below_;
  }
  [[nodiscard]] bool same_mover(const ConnectFourPosition&) const noexcept { return false; }
  [[nodiscard]] int estimate() const noexcept { return 0; }
  /// The key shared by a position and its mirror image.
  [[nodiscard]] std::uint64_t key() const noexcept {
    const Bits here = key_here();
    return may_mirror() ? std::min(here, board_.mirrored(here)) : here;
  }
  [[nodiscard]] Action in_key(Action column) const noexcept {
    const Bits here = key_here();
    const bool turned = may_mirror() && board_.mirrored(here) < here;
    return turned ? board_.columns() - 1 - column : column;
  }
  [[nodiscard]] Action from_key(Action column) const noexcept { return in_key(column); }
  [[nodiscard]] bool is_large(const Question&) const noexcept { return empties_ > 14; }
  /// If a move is forced, the position after it is stored instead.
  [[nodiscard]] bool is_kept() const noexcept {
    return empties_ > 8 && (board_.playable(all_) & other_threats_) == 0;
  }

 private:
  [[nodiscard]] Bits key_here() const noexcept { return own_ + all_ + board_.bottom(); }
  /// Later, few positions are reached in both orientations.
  [[nodiscard]] bool may_mirror() const noexcept { return empties_ > board_.points() / 2; }

  /// Moves to `open` points after which the opponent has no immediate win.
  [[nodiscard]] static Bits safe(Bits open, Bits threats) noexcept {
    const Bits forced = open & threats;
    if (forced != 0) {
      if ((forced & (forced - 1)) != 0) return 0;
      open = forced;
    }
    return open & ~(threats >> 1);
  }
  [[nodiscard]] Bits threats_after(Bits move) const noexcept {
    return board_.completing(own_ | move, all_ | move);
  }
  /// Whether some move leaves the opponent without a safe move.
  [[nodiscard]] bool wins_with_second(Bits open, Bits moves) const noexcept {
    for (; moves != 0; moves &= moves - 1) {
      const Bits move = moves & (~moves + 1);
      const Bits left = (open ^ move) | (move << 1 & board_.all());
      if (safe(left, threats_after(move)) == 0) return true;
    }
    return false;
  }
  /// Whether the opponent can answer each of these moves so that no safe move is left.
  [[nodiscard]] bool loses_to_second(Bits open, Bits moves) const noexcept {
    ConnectFourPosition next{};
    next.board_ = board_;
    next.own_ = own_ ^ all_;
    for (; moves != 0; moves &= moves - 1) {
      const Bits move = moves & (~moves + 1);
      const Bits left = (open ^ move) | (move << 1 & board_.all());
      next.all_ = all_ | move;
      if (!next.wins_with_second(left, safe(left, threats_after(move)))) return false;
    }
    return true;
  }
  /// Like ConnectFourBounds::upper().
  [[nodiscard]] int upper(int alpha, int high) const noexcept {
    return ConnectFourBounds<Size>(board_, own_, all_, other_threats_).upper(empties_, alpha, high);
  }

  /// Orders moves by the number of new threats, then by distance from the middle.
  void list_of(Bits moves, Children& children) const noexcept {
    std::array<Bits, Size::kMostColumns> list;
    std::array<Bits, Size::kMostColumns> threats;
    std::size_t count = 0;
    for (; moves != 0; moves &= moves - 1) list[count++] = moves & (~moves + 1);
    // A separate loop, which compilers vectorise.
    for (std::size_t i = 0; i < count; ++i) threats[i] = threats_after(list[i]);
    // Points above a threat of the opponent are never reached.
    const Bits dead = board_.upward(other_threats_ << 1 & board_.all());
    const int middle = board_.columns() - 1;
    for (std::size_t i = 0; i < count; ++i) {
      const int column = board_.column_of(list[i]);
      const int order = 256 * count_bits(threats[i] & ~dead) - std::abs(2 * column - middle);
      children.list_[i] = {list[i], threats[i], column, order};
    }
    children.size_ = static_cast<int>(count);
    children.not_below_ = kNoScore;
  }

  Bits own_ = 0;  ///< stones of the player to move
  Bits all_ = 0;
  Bits own_threats_ = 0;  ///< empty points that complete a four, playable or not
  Bits other_threats_ = 0;
  int empties_ = 0;
  int not_below_ = kNoScore;  ///< the static bound is known to exceed this value
  [[no_unique_address]] ConnectFourBoard<Size> board_{};
};

static_assert(SolverPosition<ConnectFourPosition<FixedBoard<6, 7>>>);
static_assert(SolverPosition<ConnectFourPosition<AnyBoard>>);

}  // namespace pyengine::alphabeta
