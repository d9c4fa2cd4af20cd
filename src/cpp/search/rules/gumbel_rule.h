/// Gumbel AlphaZero: at the root the search's plan chooses (gumbel_plan.h); at other nodes the rule
/// is
///
///   the action a with the largest   pi'(a) - N(a) / (1 + sum N)
///
/// so that visits approach the improved policy pi' (gumbel.h; mctx's deterministic selection).
/// Ties go to the smaller action.
///
/// All unvisited actions have the same completed Q and N = 0, so pi' orders them by prior, and the
/// best of them is the next edge.
///
/// A leaf in flight is a virtual visit: it counts in N(a) and the sum, but not in pi'. A child with
/// only leaves in flight has the mixed value. A child proven lost is chosen only if there is no
/// other. If the best child is a proven draw, the walk takes the best unproven one instead (see
/// Selection::passes_draw).
#pragma once

#include <vector>

#include "search/rules/gumbel.h"
#include "search/rules/rule.h"

namespace pyengine {

class GumbelRule final : public Rule {
 public:
  void configure(const SearchConfig& config) override;
  Selection choose_at_root(const Tree& tree, const RootSearch& search,
                           bool may_create) noexcept override;
  Selection choose(const Tree& tree, const Node& node, bool may_create) noexcept override;

 private:
  /// A snapshot of a child, since other workers may change it during the choice; or the next edge.
  struct Seen {
    Node* node = nullptr;  ///< nullptr: the next edge
    ActionId action = 0;
    double prior = 0.0;
    double visits = 0.0;
    double flying = 0.0;
    double q = 0.0;
    Proof proof = Proof::none;
    double score = 0.0;
  };
  /// Fills seen_ and adds the priors of its children to `priors`.
  gumbel::CompletedQ see(const Tree& tree, const Node& node, int count, double& priors) noexcept;
  /// The largest score, then the smaller action, as argmax does.
  [[nodiscard]] static bool before(const Seen& a, const Seen& b) noexcept {
    return a.score != b.score ? a.score > b.score : a.action < b.action;
  }
  template <class Allowed>
  [[nodiscard]] const Seen* best(Allowed&& allowed) const noexcept;

  double c_visit_ = 0.0;
  double c_scale_ = 0.0;
  bool solver_ = false;
  std::vector<Seen> seen_;  ///< candidates of the current choice
};

}  // namespace pyengine
