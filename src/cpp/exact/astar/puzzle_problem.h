/// Sliding puzzles as search problems: states numbered when first seen for best-first search, and a
/// walk for IDA*.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "exact/astar/nodes.h"
#include "exact/astar/puzzle.h"
#include "exact/astar/puzzle_heuristic.h"

namespace pyengine::astar {

/// The estimates for all goals.
class PuzzleGoals {
 public:
  /// Throws Stopped at a limit.
  PuzzleGoals(const PuzzleShape& shape, std::span<const Board> goals, PuzzleHeuristic heuristic,
              Limits& limits)
      : boards_(goals.begin(), goals.end()) {
    std::ranges::sort(boards_);
    const auto again = std::ranges::unique(boards_);
    boards_.erase(again.begin(), again.end());
    for (const Board goal : boards_) {
      PuzzleEstimate estimate(shape, goal, heuristic);
      if (boards_.size() <= kTabled) estimate.tabulate();
      limits.charge(estimate.bytes());
      limits.tick(Counts{});
      estimates_.push_back(std::move(estimate));
    }
  }
  [[nodiscard]] bool contains(Board board) const noexcept {
    return std::ranges::find(boards_, board) != boards_.end();
  }
  /// Estimate for the nearest goal.
  [[nodiscard]] int h(Board board) const noexcept {
    int least = std::numeric_limits<int>::max();
    for (const PuzzleEstimate& estimate : estimates_) least = std::min(least, estimate(board));
    return least;
  }
  /// See PuzzleEstimate::after().
  [[nodiscard]] int after(Board board, int cell, int blank, int h_before) const noexcept {
    if (estimates_.size() == 1) return estimates_.front().after(board, cell, blank, h_before);
    return h(slide(board, cell, blank));
  }

 private:
  static constexpr std::size_t kTabled = 8;  ///< up to this many goals, tables are worthwhile

  std::vector<Board> boards_;  ///< without duplicates
  std::vector<PuzzleEstimate> estimates_;
};

/// Numbers states in the order in which they are seen: a hash table with linear probing, at most
/// half full.
class BoardNumbers {
 public:
  explicit BoardNumbers(Limits& limits) : limits_(limits) { grow(); }
  /// Throws Stopped at the memory limit.
  [[nodiscard]] NodeId number(Board board) {
    std::size_t slot = home(board);
    for (; slots_[slot] != 0; slot = (slot + 1) & mask_) {
      if (boards_[slots_[slot] - 1] == board) return slots_[slot] - 1;
    }
    if (boards_.size() == kMaxNodes) throw Stopped(StopReason::memory);
    push_charged(boards_, board, limits_);
    slots_[slot] = static_cast<NodeId>(boards_.size());
    if (boards_.size() * 2 > slots_.size()) grow();
    return static_cast<NodeId>(boards_.size() - 1);
  }
  [[nodiscard]] Board board(NodeId node) const noexcept { return boards_[node]; }

 private:
  [[nodiscard]] std::size_t home(Board board) const noexcept {
    return static_cast<std::size_t>((board * 0x9E3779B97F4A7C15U) >> shift_) & mask_;
  }
  void grow() {
    const std::size_t size = slots_.empty() ? 1024 : 2 * slots_.size();
    limits_.charge(size * sizeof(NodeId));
    limits_.release(slots_.size() * sizeof(NodeId));
    slots_.assign(size, 0);
    mask_ = size - 1;
    shift_ = 64 - std::countr_zero(size);
    for (std::size_t i = 0; i < boards_.size(); ++i) {
      std::size_t slot = home(boards_[i]);
      while (slots_[slot] != 0) slot = (slot + 1) & mask_;
      slots_[slot] = static_cast<NodeId>(i + 1);
    }
  }

  Limits& limits_;
  std::vector<Board> boards_;
  std::vector<NodeId> slots_;  ///< number + 1; 0 = free
  std::size_t mask_ = 0;
  int shift_ = 0;
};

class PuzzleProblem {
 public:
  using Cost = std::int32_t;

  PuzzleProblem(const PuzzleShape& shape, const PuzzleGoals& goals, Limits& limits)
      : shape_(shape), goals_(goals), numbers_(limits) {}

  [[nodiscard]] NodeId number(Board board) { return numbers_.number(board); }
  [[nodiscard]] Board board(NodeId node) const noexcept { return numbers_.board(node); }
  [[nodiscard]] bool is_goal(NodeId node) const noexcept { return goals_.contains(board(node)); }
  [[nodiscard]] int h(NodeId node) const noexcept { return goals_.h(board(node)); }
  [[nodiscard]] double real_h(NodeId node) const noexcept { return h(node); }
  [[nodiscard]] double path_cost(const std::vector<NodeId>& /*path*/, Cost g) const { return g; }

  template <class Visit>
  void expand(NodeId node, Visit&& visit) {
    const Board from = board(node);
    const int blank = blank_of(from);
    for (const int cell : shape_.beside(blank)) visit(number(slide(from, cell, blank)), Cost{1});
  }

 private:
  const PuzzleShape& shape_;
  const PuzzleGoals& goals_;
  BoardNumbers numbers_;
};

/// Walks from state to state; never undoes the previous move.
class PuzzleWalk {
 public:
  using Cost = std::int32_t;
  using Move = std::uint8_t;  ///< the cell of the sliding tile

  PuzzleWalk(const PuzzleShape& shape, const PuzzleGoals& goals, Board start)
      : shape_(shape), goals_(goals) {
    const int blank = blank_of(start);
    path_.push_back({start, goals.h(start), static_cast<std::int16_t>(blank),
                     static_cast<std::int16_t>(blank)});
  }
  /// States have no numbers here; see boards().
  [[nodiscard]] static NodeId node() noexcept { return 0; }
  [[nodiscard]] static std::vector<NodeId> path() { return {}; }
  [[nodiscard]] std::vector<Board> boards() const {
    std::vector<Board> list;
    list.reserve(path_.size());
    for (const Step& step : path_) list.push_back(step.board);
    return list;
  }
  [[nodiscard]] bool at_goal() const noexcept { return goals_.contains(path_.back().board); }
  [[nodiscard]] int h() const noexcept { return path_.back().h; }

  void append_moves(std::vector<Move>& moves) const {
    const Step& here = path_.back();
    for (const std::uint8_t cell : shape_.beside(here.blank)) {
      if (cell != here.before) moves.push_back(cell);
    }
  }
  Cost enter(Move cell) {
    const Step here = path_.back();
    path_.push_back({slide(here.board, cell, here.blank),
                     goals_.after(here.board, cell, here.blank, here.h), cell, here.blank});
    return 1;
  }
  void leave() noexcept { path_.pop_back(); }

 private:
  struct Step {
    Board board;
    std::int32_t h;
    std::int16_t blank;   ///< the blank's cell
    std::int16_t before;  ///< the blank's previous cell
  };
  static_assert(sizeof(Step) == 16);

  const PuzzleShape& shape_;
  const PuzzleGoals& goals_;
  std::vector<Step> path_;
};

}  // namespace pyengine::astar
