/// Gumbel AlphaZero: at the root the search's plan chooses (gumbel_plan.h); at other nodes
///
///   the action a with the largest   pi'(a) - N(a) / (1 + sum N)
///
/// so that visits approach the improved policy pi' (gumbel.h; mctx's deterministic selection).
/// Equal scores: the smaller action.
///
/// All actions without visits have the same completed Q and N = 0, so pi' orders them by their
/// priors: the best of them is the next edge, which has the largest one.
///
/// A leaf in flight is a virtual visit: it counts in N(a) and the sum, not in pi'. A child that has
/// only leaves in flight takes the mixed value. A child proven lost is chosen where there is no
/// other one. Where the best child is proven a draw, the walk passes it by for the best one without
/// a proof (see Selection::passes_draw).
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
  /// What a choice reads of a child, once: other workers change it meanwhile. Or the next edge.
  struct Seen {
    Node* node = nullptr;  ///< none: the next edge
    ActionId action = 0;
    double prior = 0.0;
    double visits = 0.0;
    double flying = 0.0;
    double q = 0.0;
    Proof proof = Proof::none;
    double score = 0.0;
  };
  /// Fills seen_; the priors of its children are added to `priors`.
  gumbel::CompletedQ see(const Tree& tree, const Node& node, int count, double& priors) noexcept;
  /// The largest score, then the smaller action, as an argmax finds it.
  [[nodiscard]] static bool before(const Seen& a, const Seen& b) noexcept {
    return a.score != b.score ? a.score > b.score : a.action < b.action;
  }
  template <class Allowed>
  [[nodiscard]] const Seen* best(Allowed&& allowed) const noexcept;

  double c_visit_ = 0.0;
  double c_scale_ = 0.0;
  bool solver_ = false;
  std::vector<Seen> seen_;  ///< of one choice
};

}  // namespace pyengine
