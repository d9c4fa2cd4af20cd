/// The interface between the walk and the selection rules. At every expanded node the walker
/// (run/walker.cpp) asks a Rule which child to enter; the walker contains no formula. A rule is one
/// file and one line in make_rule(). As in mctx, selection at the root is separate.
///
/// - PUCT: puct_rule.h.
/// - UCB1 at every node (UCT), or only at the root of a tree that does not grow (flat UCB): ucb1.h.
/// - Gumbel AlphaZero: gumbel_rule.h. Its choice at the root needs the search's budget and noise,
///   which are in the search's RootPlan (root_plan.h).
///
/// A tree creates children in edge order: by descending prior, or randomly for rules that read no
/// priors. Of the edges without a child, a rule can choose only the first. For all rules above it
/// is the best one, since unvisited moves differ only in their priors.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "search/config.h"
#include "search/tree/tree.h"

namespace pyengine {

/// A rule's answer.
struct Selection {
  enum class Outcome : std::uint8_t {
    child,      ///< the walk continues at `child`
    new_child,  ///< the walk creates the child of the next edge
    nothing,    ///< the walk ends here: there is no child to enter
    wait,       ///< at the root: start no walk until a leaf in flight is completed
  };

  Node* child = nullptr;  ///< for Outcome::child
  Outcome outcome = Outcome::nothing;
  /// The rule skipped a known draw (open_moves.h). The player to move could have had the draw, so
  /// the walk counts as a draw for the nodes down to this one.
  bool passes_draw = false;
  /// Valid for this visit only: a rule that alternates may choose differently for the next one.
  bool by_turns = false;

  [[nodiscard]] static Selection of(Node* child) noexcept { return {child, Outcome::child}; }
  [[nodiscard]] static Selection create() noexcept { return {nullptr, Outcome::new_child}; }
  [[nodiscard]] static Selection nothing() noexcept { return {}; }
  [[nodiscard]] static Selection wait() noexcept { return {nullptr, Outcome::wait}; }
};

class RootPlan;

/// What a walk and the choice at its root depend on besides the tree.
struct RootSearch {
  const SearchConfig& config;
  RootPlan* plan = nullptr;  ///< for rules that have one
  Sharing sharing = Sharing::shared;
};

/// The number of visits of a node that go to one of its moves.
struct Allotment {
  Selection to;
  std::uint32_t visits = 1;
  bool marked = false;  ///< for the walker: the child has been marked `visits` times
};

/// Chooses a child at each node of a walk. Each worker has its own rule with its own scratch
/// memory. A rule never writes to the tree, and other workers may change the counters that it
/// reads.
class Rule {
 public:
  Rule() = default;
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;
  virtual ~Rule() = default;

  /// Sets the constants of a run, shared by all of its searches.
  virtual void configure(const SearchConfig& config) = 0;
  /// At the root of `tree`, for its search `search`. `may_create`: false at the memory limit.
  virtual Selection choose_at_root(const Tree& tree, const RootSearch& search,
                                   bool may_create) noexcept = 0;
  /// At any other node, which is expanded.
  virtual Selection choose(const Tree& tree, const Node& node, bool may_create) noexcept = 0;
  /// Distributes `visits` walks that have reached and marked an expanded node together: appends
  /// allotments for at least one and at most all of them to `given`. No two allotments of one call
  /// name the same child.
  virtual void allot(const Tree& tree, const Node& node, const RootSearch& search,
                     [[maybe_unused]] std::uint32_t visits, bool may_create,
                     std::vector<Allotment>& given) {
    given.emplace_back().to = choose_at(tree, node, search, may_create);
  }

 protected:
  Selection choose_at(const Tree& tree, const Node& node, const RootSearch& search,
                      bool may_create) noexcept {
    return &node == &tree.root() ? choose_at_root(tree, search, may_create)
                                 : choose(tree, node, may_create);
  }
};

/// Whether the rule reads the priors. If not, the moves of a node are tried in random order, and
/// noise has no effect.
[[nodiscard]] constexpr bool reads_priors(Algorithm algorithm) noexcept {
  return algorithm == Algorithm::puct || algorithm == Algorithm::gumbel;
}
/// Whether nodes below the root are expanded. Without a tree each visit of a move evaluates it
/// again.
[[nodiscard]] constexpr bool grows_a_tree(Algorithm algorithm) noexcept {
  return algorithm != Algorithm::flat_ucb;
}
/// Whether the next search can reuse the tree.
[[nodiscard]] constexpr bool keeps_tree(const SearchConfig& config) noexcept {
  return config.reuse_tree && grows_a_tree(config.algorithm);
}
/// Whether a search with one rule can reuse the tree of a search with the other.
[[nodiscard]] constexpr bool shares_trees(Algorithm a, Algorithm b) noexcept {
  return grows_a_tree(a) == grows_a_tree(b) && reads_priors(a) == reads_priors(b);
}

/// The value of a draw for the first player, in a search with this player to move at the root.
[[nodiscard]] constexpr float draw_for_first(const SearchConfig& config, int to_move) noexcept {
  return static_cast<float>(to_move == 0 ? config.draw_value : -config.draw_value);
}

/// The list of all rules.
[[nodiscard]] std::unique_ptr<Rule> make_rule(Algorithm algorithm);

}  // namespace pyengine
