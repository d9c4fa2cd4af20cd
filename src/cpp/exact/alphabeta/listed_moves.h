/// Children of a position whose moves come from the game's list of legal actions.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/types.h"

namespace pyengine::alphabeta {

/// Moves with their order, in reusable lists.
class ListedMoves {
 public:
  [[nodiscard]] int size() const noexcept { return legal_.size(); }
  [[nodiscard]] int& order(int i) noexcept { return moves_[static_cast<std::size_t>(i)].order; }
  [[nodiscard]] Action action(int i) const noexcept {
    return moves_[static_cast<std::size_t>(i)].action;
  }
  void swap(int i, int j) noexcept {
    std::swap(moves_[static_cast<std::size_t>(i)], moves_[static_cast<std::size_t>(j)]);
  }
  /// The legal actions, which the caller has written to legal().
  void adopt() {
    moves_.clear();
    for (const ActionId action : legal_) moves_.push_back({action, 0});
  }
  [[nodiscard]] ActionList& legal() noexcept { return legal_; }

 private:
  struct Move {
    ActionId action = 0;
    int order = 0;
  };
  ActionList legal_;
  std::vector<Move> moves_;
};

}  // namespace pyengine::alphabeta
