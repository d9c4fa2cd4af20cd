/// The seam between the walk and the rules of choice. At every expanded node the walker
/// (run/walker.cpp) asks a Rule which child to enter, and knows no formula. A rule is one file and
/// one line in make_rule(). As in mctx the root has a choice of its own.
///
/// - PUCT: puct_rule.h.
/// - UCB1 at every node (UCT), or at the root of a tree that does not grow (flat UCB): ucb1.h.
/// - Gumbel AlphaZero: gumbel_rule.h. The root's choice needs the search's budget and noise, which
///   a RootPlan (root_plan.h) of the search knows.
///
/// A tree creates children in the order of its edges: larger priors first, or at random for rules
/// that read no priors. Of the edges without a child a rule can choose the first one only. That is
/// the best one for all rules above: without a child moves differ in their priors alone.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "search/config.h"
#include "search/tree/tree.h"

namespace pyengine {

/// What a rule answers.
struct Selection {
  enum class Outcome : std::uint8_t {
    child,      ///< the walk goes on at `child`
    new_child,  ///< the walk creates the child of the next edge
    nothing,    ///< the walk ends here: there is no child to enter
    wait,       ///< at the root: no walk is to begin before a leaf in flight is back
  };

  Node* child = nullptr;  ///< of Outcome::child
  Outcome outcome = Outcome::nothing;
  /// The rule passed by a move that is known to draw (open_moves.h). The player to move could have
  /// had the draw: for the nodes down to this one the walk counts as a draw.
  bool passes_draw = false;
  /// The choice of this visit alone: rules that visit by turns may choose another for the next.
  bool by_turns = false;

  [[nodiscard]] static Selection of(Node* child) noexcept { return {child, Outcome::child}; }
  [[nodiscard]] static Selection create() noexcept { return {nullptr, Outcome::new_child}; }
  [[nodiscard]] static Selection nothing() noexcept { return {}; }
  [[nodiscard]] static Selection wait() noexcept { return {nullptr, Outcome::wait}; }
};

class RootPlan;

/// What a walk and the choice at its root depend on beside the tree.
struct RootSearch {
  const SearchConfig& config;
  RootPlan* plan = nullptr;  ///< of rules that have one
  Sharing sharing = Sharing::shared;
};

/// Visits of a node that go to one of its moves.
struct Allotment {
  Selection to;
  std::uint32_t visits = 1;
  bool marked = false;  ///< for the walker: the child is marked as often
};

/// Chooses at the nodes of a walk. Each worker has a rule of its own, with the memory in which it
/// computes. A rule never writes to the tree, and other workers may change the counters that it
/// reads.
class Rule {
 public:
  Rule() = default;
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;
  virtual ~Rule() = default;

  /// Takes the constants of a run. They hold for all of its searches.
  virtual void configure(const SearchConfig& config) = 0;
  /// At the root of `tree`. `search`: this tree's. `may_create`: false at the memory cap.
  virtual Selection choose_at_root(const Tree& tree, const RootSearch& search,
                                   bool may_create) noexcept = 0;
  /// At any other node, which is expanded.
  virtual Selection choose(const Tree& tree, const Node& node, bool may_create) noexcept = 0;
  /// Where `visits` walks go on that have come to an expanded node together and have marked it:
  /// appends to `given` for one of them at least, at most for all. In one call no two allotments
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

/// Whether the rule reads the priors. Without them the moves of a node are tried in random order,
/// and noise in them has no meaning.
[[nodiscard]] constexpr bool reads_priors(Algorithm algorithm) noexcept {
  return algorithm == Algorithm::puct || algorithm == Algorithm::gumbel;
}
/// Whether nodes below the root are expanded. Without a tree each visit of a move evaluates it
/// anew.
[[nodiscard]] constexpr bool grows_a_tree(Algorithm algorithm) noexcept {
  return algorithm != Algorithm::flat_ucb;
}
/// Whether the next search goes on in the tree.
[[nodiscard]] constexpr bool keeps_tree(const SearchConfig& config) noexcept {
  return config.reuse_tree && grows_a_tree(config.algorithm);
}
/// Whether a search by one rule can go on in the tree of a search by the other.
[[nodiscard]] constexpr bool shares_trees(Algorithm a, Algorithm b) noexcept {
  return grows_a_tree(a) == grows_a_tree(b) && reads_priors(a) == reads_priors(b);
}

/// The list of all rules.
[[nodiscard]] std::unique_ptr<Rule> make_rule(Algorithm algorithm);

}  // namespace pyengine
