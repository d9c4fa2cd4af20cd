/// k-in-a-row games for the alpha-beta search: tic-tac-toe, m,n,k games, and Gomoku without a rule
/// about overlines. Scores are 1, 0 and -1.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "exact/alphabeta/line_board.h"
#include "exact/alphabeta/position.h"
#include "games/common/hashing.h"

namespace pyengine::alphabeta {

template <std::size_t kWords>
class LinePosition {
  using Board = LineBoard<kWords>;
  using Points = typename Board::Points;

 public:
  using Score = int;
  static constexpr bool kKeepsHistory = false;
  static constexpr bool kLooksUpChildren = false;
  static constexpr bool kKeyIsCheap = false;
  static constexpr bool kNullWindows = true;
  static constexpr bool kHasMargin = false;
  static constexpr bool kEndsAreProof = true;
  /// Finds short wins before it examines long ones, which makes 7,7,4 300 times as fast.
  static constexpr bool kDeepens = true;

  class Children {
   public:
    [[nodiscard]] int size() const noexcept { return size_; }
    [[nodiscard]] int& order(int i) noexcept { return list_[at(i)].order; }
    [[nodiscard]] Action action(int i) const noexcept { return list_[at(i)].action; }
    void swap(int i, int j) noexcept { std::swap(list_[at(i)], list_[at(j)]); }

   private:
    friend class LinePosition;
    struct Child {
      Action action;
      int order;
      Points threats;  ///< threats of the player to move, after the move
    };
    std::array<Child, static_cast<std::size_t>(Points::kBits)> list_;
    int size_ = 0;
  };

  LinePosition() = default;
  /// `board` must outlive the position and its copies.
  LinePosition(const Board& board, const Points& own, const Points& other) noexcept
      : board_(&board),
        own_(own),
        other_(other),
        own_threats_(board.completing(own)),
        other_threats_(board.completing(other)) {}

  [[nodiscard]] std::optional<int> over() const noexcept {
    if (board_->has_line(other_)) return -1;
    if (!empty().any()) return 0;
    return std::nullopt;
  }
  /// Immediate results: a line now; two threats of the opponent; the last point; and players who
  /// cannot win.
  [[nodiscard]] std::optional<int> known(const Question& question, Children&,
                                         std::uint64_t&) const noexcept {
    const Points free = empty();
    if ((own_threats_ & free).any()) return 1;
    const Points forced = other_threats_ & free;
    if (forced.any() && forced.rest().any()) return -1;
    if (!free.any() || !free.rest().any()) return 0;
    const std::uint64_t least = board_->least_potential();
    if (question.alpha >= 0 && board_->potential(own_, other_) < least) return 0;
    if (question.beta <= 0 && board_->potential(other_, own_) < 2 * least) return 0;
    return std::nullopt;
  }
  [[nodiscard]] Bounds bounds(const Question&) const noexcept { return range(); }
  [[nodiscard]] static constexpr Bounds range() noexcept { return {-1, 1}; }

  /// Lists only the answers if the opponent has a threat.
  void list(const Question&, Children& children, std::uint64_t&) const noexcept {
    const Points forced = other_threats_ & empty();
    list_of(forced.any() ? forced : empty(), children);
  }
  [[nodiscard]] std::optional<int> known_by_children(const Question&, Children&) const noexcept {
    return std::nullopt;
  }
  void list_all(Children& children, std::uint64_t&) const noexcept { list_of(empty(), children); }
  void play(const Children& children, int i, LinePosition& next) const noexcept {
    const auto& child = children.list_[at(i)];
    next.board_ = board_;
    next.own_ = other_;
    next.other_ = own_ | Points::of(board_->bit_of(child.action));
    next.own_threats_ = other_threats_;
    next.other_threats_ = child.threats;
  }
  [[nodiscard]] bool same_mover(const LinePosition&) const noexcept { return false; }
  [[nodiscard]] int estimate() const noexcept { return 0; }
  /// With few stones, the key is the same for all symmetries.
  [[nodiscard]] std::uint64_t key() const noexcept { return best_turn().first; }
  [[nodiscard]] Action in_key(Action action) const noexcept {
    const int turn = best_turn().second;
    return turn < 0 ? action : board_->turned(action, turn);
  }
  [[nodiscard]] Action from_key(Action action) const noexcept {
    const int turn = best_turn().second;
    return turn < 0 ? action : board_->turned_back(action, turn);
  }
  [[nodiscard]] bool is_large(const Question&) const noexcept { return empty().count() > 10; }
  [[nodiscard]] bool is_kept() const noexcept { return empty().count() > 4; }

 private:
  static constexpr int kMostTurnedStones = 8;
  static constexpr int kThreat = 1 << 14;  ///< in the order of moves, compared with line weights

  [[nodiscard]] static constexpr std::size_t at(int i) noexcept {
    return static_cast<std::size_t>(i);
  }
  [[nodiscard]] Points empty() const noexcept { return board_->all() - own_ - other_; }

  /// The smallest hash over the symmetries and the symmetry that has it; -1 for the identity.
  [[nodiscard]] std::pair<std::uint64_t, int> best_turn() const noexcept {
    std::pair<std::uint64_t, int> best{hash_of(own_, other_), -1};
    if ((own_ | other_).count() > kMostTurnedStones) return best;
    for (int t = 0; t < board_->turns(); ++t) {
      best = std::min(best, {hash_of(board_->turned(own_, t), board_->turned(other_, t)), t});
    }
    return best;
  }
  [[nodiscard]] static std::uint64_t hash_of(const Points& own, const Points& other) noexcept {
    std::uint64_t hash = 0;
    for (std::size_t w = 0; w < kWords; ++w)
      hash = hash_words(own.words[w] ^ hash, other.words[w], 0);
    return hash;
  }

  /// Orders moves that make threats first, then by line weights.
  void list_of(const Points& moves, Children& children) const noexcept {
    children.size_ = 0;
    typename Board::Weights weights;
    board_->weigh(own_, other_, weights);
    for (Points rest = moves; rest.any(); rest = rest.rest()) {
      const int bit = rest.first();
      const Points threats = board_->completing(own_ | Points::of(bit));
      const int made = (threats & empty()).count();
      children.list_[at(children.size_++)] = {board_->point_of(bit),
                                              kThreat * made + weights[at(bit)], threats};
    }
  }

  const Board* board_ = nullptr;
  Points own_;  ///< stones of the player to move
  Points other_;
  Points own_threats_;  ///< points that complete a line, empty or not
  Points other_threats_;
};

static_assert(SolverPosition<LinePosition<1>>);

}  // namespace pyengine::alphabeta
