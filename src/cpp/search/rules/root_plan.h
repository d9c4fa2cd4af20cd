/// What one search plans at its root: for rules whose choice there depends on the budget, and on
/// which simulations were begun before. It belongs to the search and is made when the root is
/// ready.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/rng.h"
#include "search/rules/rule.h"

namespace pyengine {

/// How a move of the root compares with the others: by the first number, then by the second; the
/// larger one is better.
using RootRank = std::array<double, 2>;

/// One worker at a time walks; any worker completes leaves or takes them back, and any thread asks
/// for ranks.
class RootPlan {
 public:
  RootPlan() = default;
  RootPlan(const RootPlan&) = delete;
  RootPlan& operator=(const RootPlan&) = delete;
  virtual ~RootPlan() = default;

  /// The choice of Rule::choose_at_root().
  virtual Selection choose(const Tree& tree, bool may_create) noexcept = 0;
  /// A simulation is under way, or done, below this child of the root; nullptr: at the root itself.
  virtual void began(const Node* child) noexcept = 0;
  /// A simulation that began there will not be completed.
  virtual void took_back(const Node* child) noexcept = 0;
  /// Simulations that may be begun before all of them are completed, after so many were; 1 or more
  /// before the budget is used up. choose() may want fewer.
  [[nodiscard]] virtual std::uint64_t most_in_flight(std::uint64_t completed) const noexcept = 0;
  /// For the choice of the move to play: of all moves, in the order of the root's edges.
  [[nodiscard]] virtual std::vector<RootRank> ranks(const Tree& tree) const = 0;
};

/// The plan of a search with an expanded root, or nullptr for rules without one. `budget`: in
/// simulations; `rng`: of the root's noise. May put the root's edges into another order.
[[nodiscard]] std::unique_ptr<RootPlan> make_root_plan(const SearchConfig& config, Tree& tree,
                                                       std::uint64_t budget, Rng& rng);

}  // namespace pyengine
