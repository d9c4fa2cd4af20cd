/// Gumbel AlphaZero at the root: the Gumbel-top-k trick draws moves without replacement, and
/// sequential halving (halving.h) compares them.
///
///   the move a with the largest   g(a) + log P(a) + sigma(completed Q(a))
///   among the moves with the planned number of visits; at the end, among the most visited
///
///   g(a)   standard Gumbel noise, drawn once per search; 0 without noise
///
/// The formulas and their source are in gumbel.h. A serial search of a new tree has the same visits
/// as mctx.gumbel_muzero_policy. Extensions:
///
/// - Batches. Each move of a phase may have a leaf in flight, since these lie in different
///   subtrees, and several if it has many visits. The next phase waits for all of them. Each move
///   gets its planned number of simulations; simulations that started count, not marks of leaves in
///   flight, since collisions add marks.
/// - Reused trees. The plan covers the simulations of this call and counts visits from its start;
///   Q, the mixed value and max N use all visits.
/// - A budget in seconds. Each halving has twice the simulations of the previous one, and the last
///   complete halving decides the move.
/// - Proofs. A move that is proven lost gets no more visits, and its share goes to the others.
/// - The memory limit. If no child can be created, the existing children share the visits.
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
  /// `noise`: g by action. The root's childless edges must be in the order of g + log P: unvisited
  /// moves differ only in that, so the next edge is the best of them.
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
    std::uint32_t begun = 0;   ///< simulations started in this halving
    ActionId action = 0;
    PackedPrior prior = 0;
    bool won = false;  ///< survived the previous halving
  };
  static_assert(sizeof(Move) == 32);  // a search has one per root move
  /// A move that can be chosen now.
  struct Candidate {
    Node* child = nullptr;  ///< nullptr: the next edge
    const Move* move = nullptr;
    double score = 0.0;
    std::int64_t visits = 0;  ///< in this halving, including marks of leaves in flight
    bool may_fly = true;      ///< another leaf may be in flight
  };
  /// The input of one choice.
  struct View {
    const Tree& tree;
    int count;  ///< number of children of the root
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
  const std::uint32_t visits_before_;  ///< visits of the root before this search

  mutable std::mutex mutex_;  ///< guards the members below
  std::vector<Move> moves_;   ///< in root edge order
  std::uint64_t begun_ = 0;   ///< simulations started by the search
  std::uint32_t halving_ = 0;
};

/// Standard Gumbel noise by action, drawn for legal actions in ascending order.
[[nodiscard]] std::vector<double> gumbel_noise(Rng& rng, const std::vector<Edge>& legal);

/// Draws the noise, orders the root's edges by it and plans the budget.
[[nodiscard]] std::unique_ptr<RootPlan> make_gumbel_plan(const SearchConfig& config, Tree& tree,
                                                         std::uint64_t budget, Rng& rng);

}  // namespace pyengine
