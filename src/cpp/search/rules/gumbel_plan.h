/// Gumbel AlphaZero at the root: moves are drawn without replacement by the Gumbel-top-k trick and
/// compared by sequential halving (halving.h).
///
///   the move a with the largest   g(a) + log P(a) + sigma(completed Q(a))
///   of those that have as many visits as the plan says now; at the end, of those with most visits
///
///   g(a)   standard Gumbel noise, drawn once for a search; 0 without noise
///
/// The formulas and their source are in gumbel.h. Serial searches of a new tree have the visits of
/// mctx.gumbel_muzero_policy. What is ours:
///
/// - A batch. Each move of a phase may have a leaf in flight, as these lie in different subtrees;
///   where it has many visits, several. The next phase waits for all of them. Each move gets as
///   many simulations as planned: what was begun counts, not the marks of leaves in flight, of
///   which a collision leaves more.
/// - A tree that is continued. The plan is for the simulations of this call and counts the visits
///   since it began; Q, the mixed value and max N are of all visits.
/// - A budget in seconds. Halvings follow one another, each with twice the simulations of the one
///   before, and the move is of the last whole one.
/// - Proofs. A move that is proven lost gets no more visits, and its share goes to the others.
/// - The cap on memory. Where no child can be created, the children that exist share the visits.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "search/rules/gumbel.h"
#include "search/rules/halving.h"
#include "search/rules/root_plan.h"

namespace pyengine {

class GumbelPlan final : public RootPlan {
 public:
  /// `noise`: g by action. The root's edges without a child are to be in the order of g + log P:
  /// without visits moves differ in that alone, so the best of them is the next one.
  GumbelPlan(const SearchConfig& config, const Tree& tree, std::vector<HalvingPhase> phases,
             const std::vector<double>& noise);

  Selection choose(const Tree& tree, bool may_create) noexcept override;
  void began(const Node* child) noexcept override;
  void took_back(const Node* child) noexcept override;
  [[nodiscard]] std::uint64_t most_in_flight(std::uint64_t completed) const noexcept override;
  [[nodiscard]] std::vector<RootRank> ranks(const Tree& tree) const override;

 private:
  struct Move {
    double logit = 0.0;
    double noise = 0.0;
    std::uint32_t before = 0;  ///< visits before this halving
    std::uint32_t begun = 0;   ///< simulations of this halving
    ActionId action = 0;
    PackedPrior prior = 0;
    bool won = false;  ///< the halving before left it over
  };
  static_assert(sizeof(Move) == 32);  // a search has as many as its root has moves
  /// A move that can be chosen now.
  struct Candidate {
    Node* child = nullptr;  ///< none: the next edge
    const Move* move = nullptr;
    double score = 0.0;
    std::int64_t visits = 0;  ///< of this halving, with the marks of leaves in flight
    bool may_fly = true;      ///< another leaf
  };
  /// What one choice sees.
  struct View {
    const Tree& tree;
    int count;  ///< children of the root
    bool may_create;
    gumbel::CompletedQ completed;
  };

  [[nodiscard]] Move& move_of(const Node& child) noexcept;
  void begin_halving(const Tree& tree, std::uint32_t number) noexcept;
  [[nodiscard]] gumbel::CompletedQ completed_q(const Tree& tree, int count) const noexcept;
  template <class Visit>
  void for_each_candidate(const View& view, Visit&& visit) const noexcept;
  template <class Allowed, class Better>
  [[nodiscard]] std::optional<Candidate> best(const View& view, Allowed&& allowed,
                                              Better&& better) const noexcept;
  [[nodiscard]] static Selection enter(const Candidate& chosen) noexcept;
  [[nodiscard]] Selection planned(const HalvingPhase& phase, const View& view) const noexcept;
  [[nodiscard]] std::uint64_t end_of_halving() const noexcept;

  const double c_visit_;
  const double c_scale_;
  const bool solver_;
  const bool plays_sample_;
  const std::vector<HalvingPhase> phases_;
  const std::uint32_t visits_before_;  ///< of the root

  mutable std::mutex mutex_;  ///< guards what follows
  std::vector<Move> moves_;   ///< in the order of the root's edges
  std::uint64_t begun_ = 0;   ///< simulations of the search
  std::uint32_t halving_ = 0;
};

/// Standard Gumbel noise by action, drawn for legal actions in ascending order.
[[nodiscard]] std::vector<double> gumbel_noise(Rng& rng, const std::vector<Edge>& legal);

/// Draws the noise, orders the root's edges by it and divides the budget.
[[nodiscard]] std::unique_ptr<RootPlan> make_gumbel_plan(const SearchConfig& config, Tree& tree,
                                                         std::uint64_t budget, Rng& rng);

}  // namespace pyengine
