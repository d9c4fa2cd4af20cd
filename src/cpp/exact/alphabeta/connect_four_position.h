/// Connect Four for the alpha-beta search. Columns lie side by side, with an empty point above
/// each, so that a sum finds the playable points and a four never runs over the edge.
///
/// A score is Pons': the stones that the winner has not played when he wins, counted from the end
/// of the board, negative for a loss, 0 for a draw.
///
/// Sources: Tromp, "John's Connect Four Playground" (the layout); Pons, "Solving Connect Four: how
/// to build a perfect AI", 2015 (moves that do not lose, the order by threats, bounds by the stones
/// left).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/bits.h"
#include "exact/alphabeta/position.h"
#include "games/connect_four.h"

namespace pyengine::alphabeta {

/// Board of a size that is known to the compiler, which makes every shift and mask a constant.
template <int kRows, int kColumns>
struct FixedBoard {
  [[nodiscard]] static constexpr int rows() noexcept { return kRows; }
  [[nodiscard]] static constexpr int columns() noexcept { return kColumns; }
};
/// Board of any size.
struct AnyBoard {
  int rows_ = 6;
  int columns_ = 7;
  [[nodiscard]] int rows() const noexcept { return rows_; }
  [[nodiscard]] int columns() const noexcept { return columns_; }
};

template <class Size>
class ConnectFourPosition {
  using Bits = std::uint64_t;

 public:
  static constexpr bool kKeepsHistory = false;
  static constexpr bool kLooksUpChildren = false;
  static constexpr bool kNullWindows = true;
  static constexpr bool kHasMargin = true;
  static constexpr bool kDeepens = false;
  static constexpr int kMostColumns = 63;

  class Children {
   public:
    [[nodiscard]] int size() const noexcept { return size_; }
    [[nodiscard]] int& order(int i) noexcept { return at(i).order; }
    [[nodiscard]] Action action(int i) const noexcept { return at(i).action; }
    [[nodiscard]] Bits move(int i) const noexcept { return at(i).move; }
    void swap(int i, int j) noexcept { std::swap(at(i), at(j)); }
    void clear() noexcept { size_ = 0; }
    void add(Bits move, Action action, int order) noexcept { at(size_++) = {move, action, order}; }

   private:
    struct Child {
      Bits move = 0;
      Action action = 0;
      int order = 0;
    };
    [[nodiscard]] Child& at(int i) noexcept { return list_[static_cast<std::size_t>(i)]; }
    [[nodiscard]] const Child& at(int i) const noexcept {
      return list_[static_cast<std::size_t>(i)];
    }
    std::array<Child, kMostColumns> list_;
    int size_ = 0;
  };

  ConnectFourPosition() = default;
  ConnectFourPosition(const ConnectFour& game, Size size) : size_(size) {
    BoardBits stones[2];
    game.stones(0, stones[0], stones[1]);
    for (int row = 0; row < size_.rows(); ++row) {
      for (int column = 0; column < size_.columns(); ++column) {
        const int point = row * size_.columns() + column;
        const Bits bit = Bits{1} << (stride() * column + size_.rows() - 1 - row);
        if (stones[0].test(point) || stones[1].test(point)) all_ |= bit;
        if (stones[game.to_move()].test(point)) own_ |= bit;
      }
    }
    plies_ = count_bits(all_);
  }

  [[nodiscard]] std::optional<int> over() const noexcept {
    // Who has just moved has a four: he won with one stone less on the board.
    if (has_four(own_ ^ all_)) return -((points() + 2 - plies_) / 2);
    if (plies_ == points()) return 0;
    return std::nullopt;
  }

  /// A win at once, a loss at the next move, or a draw with two stones left.
  [[nodiscard]] std::optional<int> known(const Question&, std::uint64_t&) const noexcept {
    if ((completing(own_) & playable()) != 0) return (points() + 1 - plies_) / 2;
    if (plies_ == points()) return 0;
    if (safe() == 0) return -((points() - plies_) / 2);
    if (plies_ >= points() - 2) return 0;
    return std::nullopt;
  }
  /// Neither wins with his next stone.
  [[nodiscard]] Bounds bounds(const Question&) const noexcept {
    return {-((points() - 2 - plies_) / 2), (points() - 1 - plies_) / 2};
  }
  [[nodiscard]] Bounds range() const noexcept {
    return {-((points() - plies_) / 2), (points() + 1 - plies_) / 2};
  }

  void list(const Question&, Children& children, std::uint64_t&) const noexcept {
    list_of(safe(), children);
  }
  void list_all(Children& children, std::uint64_t&) const noexcept {
    list_of(playable(), children);
  }
  void play(const Children& children, int i, ConnectFourPosition& next) const noexcept {
    next.size_ = size_;
    next.own_ = own_ ^ all_;
    next.all_ = all_ | children.move(i);
    next.plies_ = plies_ + 1;
  }
  [[nodiscard]] bool same_mover(const ConnectFourPosition&) const noexcept { return false; }
  [[nodiscard]] int estimate() const noexcept { return 0; }
  /// Of a position and its mirror image.
  [[nodiscard]] std::uint64_t key() const noexcept {
    const Bits here = own_ + all_ + bottom();
    return may_mirror() ? std::min(here, mirrored(here)) : here;
  }
  [[nodiscard]] Action in_key(Action column) const noexcept {
    const Bits here = own_ + all_ + bottom();
    const bool turned = may_mirror() && mirrored(here) < here;
    return turned ? size_.columns() - 1 - column : column;
  }
  [[nodiscard]] bool is_large(const Question&) const noexcept { return points() - plies_ > 14; }

 private:
  [[nodiscard]] constexpr int stride() const noexcept { return size_.rows() + 1; }
  [[nodiscard]] constexpr int points() const noexcept { return size_.rows() * size_.columns(); }
  [[nodiscard]] constexpr Bits bottom() const noexcept {
    Bits bits = 0;
    for (int column = 0; column < size_.columns(); ++column) bits |= Bits{1} << (stride() * column);
    return bits;
  }
  [[nodiscard]] constexpr Bits column_bits(int column) const noexcept {
    return ((Bits{1} << size_.rows()) - 1) << (stride() * column);
  }
  [[nodiscard]] constexpr Bits board() const noexcept {
    return bottom() * ((Bits{1} << size_.rows()) - 1);
  }
  [[nodiscard]] Bits playable() const noexcept { return (all_ + bottom()) & board(); }

  /// Empty points that would complete a four of these stones.
  [[nodiscard]] Bits completing(Bits stones) const noexcept {
    Bits found = (stones << 1) & (stones << 2) & (stones << 3);
    for (const int step : {stride(), stride() - 1, stride() + 1}) {
      const Bits ahead = (stones << step) & (stones << (2 * step));
      const Bits behind = (stones >> step) & (stones >> (2 * step));
      found |= ahead & ((stones << (3 * step)) | (stones >> step));
      found |= behind & ((stones >> (3 * step)) | (stones << step));
    }
    return found & (board() ^ all_);
  }
  [[nodiscard]] bool has_four(Bits stones) const noexcept {
    for (const int step : {1, stride(), stride() - 1, stride() + 1}) {
      const Bits pairs = stones & (stones >> step);
      if ((pairs & (pairs >> (2 * step))) != 0) return true;
    }
    return false;
  }
  /// Moves after which the other has no win at once.
  [[nodiscard]] Bits safe() const noexcept {
    const Bits threats = completing(own_ ^ all_);
    Bits open = playable();
    const Bits forced = open & threats;
    if (forced != 0) {
      if ((forced & (forced - 1)) != 0) return 0;
      open = forced;
    }
    return open & ~(threats >> 1);
  }

  /// Moves that make more threats first; of equal ones those nearer to the middle.
  void list_of(Bits moves, Children& children) const noexcept {
    children.clear();
    const int middle = size_.columns() - 1;
    for (int column = 0; column < size_.columns(); ++column) {
      const Bits move = moves & column_bits(column);
      if (move == 0) continue;
      const int off = 2 * column > middle ? 2 * column - middle : middle - 2 * column;
      children.add(move, column, 256 * count_bits(completing(own_ | move)) - off);
    }
  }

  /// Later, few positions are reached in both ways.
  [[nodiscard]] bool may_mirror() const noexcept { return plies_ < points() / 2; }
  [[nodiscard]] Bits mirrored(Bits bits) const noexcept {
    const Bits one = (Bits{1} << stride()) - 1;
    Bits turned = 0;
    for (int column = 0; column < size_.columns(); ++column) {
      turned |= (bits >> (stride() * column) & one) << (stride() * (size_.columns() - 1 - column));
    }
    return turned;
  }

  Bits own_ = 0;  ///< stones of the player to move
  Bits all_ = 0;
  int plies_ = 0;  ///< stones on the board
  [[no_unique_address]] Size size_{};
};

static_assert(SolverPosition<ConnectFourPosition<FixedBoard<6, 7>>>);
static_assert(SolverPosition<ConnectFourPosition<AnyBoard>>);

}  // namespace pyengine::alphabeta
