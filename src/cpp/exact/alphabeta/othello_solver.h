/// 8x8 Othello for the alpha-beta search, based on othello_position.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "exact/alphabeta/othello_position.h"
#include "exact/alphabeta/position.h"

namespace pyengine::alphabeta {

/// The score is the disc difference, with empty points counted for the winner.
class OthelloPosition {
 public:
  using Score = int;
  static constexpr bool kKeepsHistory = false;
  static constexpr bool kLooksUpChildren = true;
  static constexpr bool kKeyIsCheap = false;
  static constexpr bool kNullWindows = false;
  static constexpr bool kHasMargin = true;
  static constexpr bool kEndsAreProof = false;
  static constexpr bool kDeepens = false;

  class Children {
   public:
    [[nodiscard]] int size() const noexcept { return size_; }
    [[nodiscard]] int& order(int i) noexcept { return at(i).order; }
    [[nodiscard]] Action action(int i) const noexcept { return at(i).point; }
    [[nodiscard]] const othello::Board& board(int i) const noexcept { return at(i).board; }
    void swap(int i, int j) noexcept { std::swap(at(i), at(j)); }
    void list(othello::Board board, int depth, std::uint64_t& nodes) noexcept {
      size_ = othello::kernels().list_children(board, depth, list_.data(), nodes);
    }

   private:
    [[nodiscard]] othello::Child& at(int i) noexcept { return list_[static_cast<std::size_t>(i)]; }
    [[nodiscard]] const othello::Child& at(int i) const noexcept {
      return list_[static_cast<std::size_t>(i)];
    }
    std::array<othello::Child, othello::kMaxChildren> list_;
    int size_ = 0;
  };

  OthelloPosition() = default;
  explicit OthelloPosition(const Othello& game) : OthelloPosition(othello::board_of(game)) {}
  explicit OthelloPosition(othello::Board board)
      : board_(board), empties_(othello::count_empties(board)) {}

  [[nodiscard]] std::optional<int> over() const {
    Children children;
    std::uint64_t nodes = 0;
    children.list(board_, 0, nodes);
    if (children.size() != 0) return std::nullopt;
    return othello::final_score(board_);
  }
  /// A few empty points are solved directly.
  [[nodiscard]] std::optional<int> known(const Question& question, Children&,
                                         std::uint64_t& nodes) const {
    if (empties_ > othello::kFewEmpties || question.depth < empties_) return std::nullopt;
    --nodes;  // solve_few() counts it
    const int alpha = std::max(question.alpha, -othello::kMostDiscs);
    const int beta = std::min(question.beta, othello::kMostDiscs);
    if (alpha >= beta) return alpha;
    return othello::kernels().solve_few(board_, alpha, beta, nodes);
  }
  [[nodiscard]] Bounds bounds(const Question& question) const noexcept {
    Bounds all = range();
    if (question.alpha >= othello::kBoundFrom) all.high = othello::upper_bound(board_);
    return all;
  }
  [[nodiscard]] Bounds range() const noexcept {
    return {-othello::kMostDiscs, othello::kMostDiscs};
  }
  void list(const Question& question, Children& children, std::uint64_t& nodes) const noexcept {
    const int depth = othello::probe_depth(empties_, !question.is_null_window());
    children.list(board_, std::min(depth, question.depth - 1), nodes);
  }
  [[nodiscard]] std::optional<int> known_by_children(const Question&, Children&) const noexcept {
    return std::nullopt;
  }
  void list_all(Children& children, std::uint64_t& nodes) const noexcept {
    children.list(board_, 0, nodes);
  }
  void play(const Children& children, int i, OthelloPosition& next) const noexcept {
    next.board_ = children.board(i);
    next.empties_ = children.action(i) == othello::kPass ? empties_ : empties_ - 1;
  }
  /// A pass swaps the players.
  [[nodiscard]] bool same_mover(const OthelloPosition&) const noexcept { return false; }
  [[nodiscard]] int estimate() const noexcept { return othello::kernels().estimate(board_); }
  [[nodiscard]] std::uint64_t key() const noexcept { return othello::hash_of(board_); }
  [[nodiscard]] Action in_key(Action action) const noexcept { return action; }
  [[nodiscard]] Action from_key(Action action) const noexcept { return action; }
  [[nodiscard]] static constexpr bool is_kept() noexcept { return true; }
  [[nodiscard]] bool is_large(const Question&) const noexcept {
    return empties_ > othello::kFewEmpties + 2;
  }

 private:
  othello::Board board_;
  int empties_ = 0;
};

static_assert(SolverPosition<OthelloPosition>);

}  // namespace pyengine::alphabeta
