/// The plan of one search at its root, for rules whose choice there depends on the budget and on
/// the simulations started so far. The search owns it and creates it when the root is ready.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/rng.h"
#include "search/rules/rule.h"

namespace pyengine {

/// The rank of a root move: compared by the first number, then by the second; larger is better.
using RootRank = std::array<double, 2>;

/// One worker at a time walks; any worker may complete or undo leaves, and any thread may call
/// ranks().
class RootPlan {
 public:
  RootPlan() = default;
  RootPlan(const RootPlan&) = delete;
  RootPlan& operator=(const RootPlan&) = delete;
  virtual ~RootPlan() = default;

  /// The choice of Rule::choose_at_root().
  virtual Selection choose(const Tree& tree, bool may_create) noexcept = 0;
  /// A simulation started below this child of the root; nullptr: at the root itself.
  virtual void began(const Node* child) noexcept = 0;
  /// A simulation that started there will not be completed.
  virtual void took_back(const Node* child) noexcept = 0;
  /// How many simulations may start before all of them are completed, given the number already
  /// started; at least 1 before the budget is used up. choose() may allow fewer.
  [[nodiscard]] virtual std::uint64_t most_in_flight(std::uint64_t completed) const noexcept = 0;
  /// For choosing the move to play: the ranks of all moves, in root edge order.
  [[nodiscard]] virtual std::vector<RootRank> ranks(const Tree& tree) const = 0;
};

/// The plan of a search with an expanded root, or nullptr for rules without one. `budget`: in
/// simulations; `rng`: for the root noise. May reorder the root's edges.
[[nodiscard]] std::unique_ptr<RootPlan> make_root_plan(const SearchConfig& config, Tree& tree,
                                                       std::uint64_t budget, Rng& rng);

}  // namespace pyengine
