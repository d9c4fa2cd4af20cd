/// A minimal search that uses all of the solver's Othello code: one thread, an unlimited table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "exact/alphabeta/othello_position.h"

namespace pyengine::test {

class OthelloSearch {
 public:
  explicit OthelloSearch(const othello::Kernels& kernels = othello::kernels())
      : kernels_(kernels) {}

  /// Exact between alpha and beta, otherwise a bound.
  int search(othello::Board board, int alpha, int beta) {
    using namespace othello;
    const int empties = count_empties(board);
    if (empties <= kFewEmpties) return kernels_.solve_few(board, alpha, beta, nodes_);
    ++nodes_;
    if (alpha >= kBoundFrom) {
      if (const int bound = upper_bound(board); bound <= alpha) return bound;
    }
    Entry& entry = table_[board];
    if (entry.lower >= beta || entry.lower == entry.upper) return entry.lower;
    if (entry.upper <= alpha) return entry.upper;

    Child children[kMaxChildren];
    const bool open = beta - alpha > 1;
    const int size = kernels_.list_children(board, probe_depth(empties, open), children, nodes_);
    if (size == 0) return final_score(board);
    std::stable_sort(children, children + size, [&](const Child& a, const Child& b) {
      const auto rank = [&](const Child& c) { return c.point == entry.best ? INT32_MAX : c.order; };
      return rank(a) > rank(b);
    });
    const Found found = try_children(children, size, alpha, beta);
    Entry& known = table_[board];  // the table may have moved
    if (found.score > alpha) known.lower = static_cast<std::int8_t>(found.score);
    if (found.score < beta) known.upper = static_cast<std::int8_t>(found.score);
    known.best = found.point;
    return found.score;
  }

  [[nodiscard]] int best_point(othello::Board root) const { return table_.at(root).best; }
  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }

 private:
  struct Entry {
    std::int8_t lower = -othello::kMostDiscs;
    std::int8_t upper = othello::kMostDiscs;
    std::uint8_t best = UINT8_MAX;
  };
  struct Found {
    int score;
    std::uint8_t point;
  };
  struct Hash {
    std::size_t operator()(othello::Board board) const { return othello::hash_of(board); }
  };

  /// A pass keeps the empty points and does not count as a node.
  int below(const othello::Child& child, int alpha, int beta) {
    if (child.point == othello::kPass) --nodes_;
    return -search(child.board, -beta, -alpha);
  }

  /// A child that the table knows to be above a null window.
  [[nodiscard]] const othello::Child* known_above(const othello::Child* children, int size,
                                                  int alpha) const {
    return std::find_if(children, children + size, [&](const othello::Child& child) {
      const auto found = table_.find(child.board);
      return found != table_.end() && -found->second.upper > alpha;
    });
  }

  Found try_children(const othello::Child* children, int size, int alpha, int beta) {
    if (beta - alpha == 1) {
      const othello::Child* above = known_above(children, size, alpha);
      if (above != children + size) return {-table_.at(above->board).upper, above->point};
    }
    Found best{-othello::kMostDiscs - 1, UINT8_MAX};
    for (int i = 0; i < size && best.score < beta; ++i) {
      const int least = std::max(alpha, best.score);
      int score = below(children[i], least, i == 0 ? beta : least + 1);
      if (i > 0 && score > least && score < beta) score = below(children[i], least, beta);
      if (score > best.score) best = {score, children[i].point};
    }
    return best;
  }

  const othello::Kernels& kernels_;
  std::unordered_map<othello::Board, Entry, Hash> table_;
  std::uint64_t nodes_ = 0;
};

}  // namespace pyengine::test
