#include "search/rules/gumbel_plan.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace pyengine {
namespace {

/// Leaves in flight per move. The last two moves differ only in their values, which are less
/// reliable when leaves are chosen too early: in Connect Four with 32 simulations, 99.7 % of the
/// moves equal the serial search's with one leaf in flight per move, and 89 % with two or three at
/// 4 to 8 visits.
constexpr std::int64_t kVisitsPerLeafInFlight = 16;

[[nodiscard]] std::uint32_t visits_of(const Node& node) noexcept {
  return node.visits.load(std::memory_order_relaxed);
}

/// The largest score, then the smaller action, as argmax does.
constexpr auto kByScore = [](const auto& a, const auto& b) {
  return a.score != b.score ? a.score > b.score : a.move->action < b.move->action;
};
/// The fewest simulations first, then moves that may have another leaf in flight, then the fewest
/// visits, which include collisions: these steer later walks away.
constexpr auto kByTurn = [](const auto& a, const auto& b) {
  if (a.move->begun != b.move->begun) return a.move->begun < b.move->begun;
  if (a.may_fly != b.may_fly) return a.may_fly;
  return a.visits != b.visits ? a.visits < b.visits : kByScore(a, b);
};

}  // namespace

GumbelPlan::GumbelPlan(const SearchConfig& config, const Tree& tree,
                       std::vector<HalvingPhase> phases, const std::vector<double>& noise)
    : c_visit_(config.gumbel_c_visit),
      c_scale_(config.gumbel_c_scale),
      solver_(config.solver),
      plays_sample_(config.gumbel_plays_sample),
      phases_(std::move(phases)),
      visits_before_(visits_of(tree.root())) {
  for (const Edge edge : tree.edges(tree.root())) {
    Move move;
    move.action = edge.action();
    move.prior = edge.prior();
    move.logit = gumbel::logit_of(unpack_prior(edge.prior()));
    move.noise = noise[edge.action()];
    moves_.push_back(move);
  }
  begin_halving(tree, 0);
}

GumbelPlan::Move& GumbelPlan::move_of(const Node& child) noexcept {
  return *std::find_if(moves_.begin(), moves_.end(),
                       [&](const Move& move) { return move.action == child.action; });
}

/// Called while no simulation is in flight: see most_in_flight().
void GumbelPlan::begin_halving(const Tree& tree, std::uint32_t number) noexcept {
  std::uint32_t most = 0;
  for (Move& move : moves_) most = std::max(most, move.begun);
  for (Move& move : moves_) {
    move.won = number > 0 && move.begun == most;
    move.begun = 0;
  }
  const Node& root = tree.root();
  auto move = moves_.begin();
  for_each_child(tree.arena(), root, root.num_children.load(std::memory_order_acquire),
                 [&](const Node& child) { (move++)->before = visits_of(child); });
  halving_ = number;
}

gumbel::CompletedQ GumbelPlan::completed_q(const Tree& tree, int count) const noexcept {
  gumbel::CompletedQ completed;
  std::size_t visited = 0;
  auto move = moves_.begin();
  for_each_child(tree.arena(), tree.root(), count, [&](const Node& child) {
    const double prior = unpack_prior((move++)->prior);
    const double visits = visits_of(child);
    if (visits == 0.0) return;
    completed.add(prior, visits, child.mean_for_chooser());
    ++visited;
  });
  completed.complete(tree.root().value, visited == moves_.size(), c_visit_, c_scale_);
  return completed;
}

template <class Visit>
void GumbelPlan::for_each_candidate(const View& view, Visit&& visit) const noexcept {
  const gumbel::CompletedQ& completed = view.completed;
  const auto score = [&](const Move& move, double q) {
    return move.noise + move.logit + completed.sigma(q);
  };
  const Node& root = view.tree.root();
  const Proof lost = loss_of(root.mover);
  auto next = moves_.begin();
  for_each_child(view.tree.arena(), root, view.count, [&](Node& child) {
    const Move& move = *next++;
    if (solver_ && child.proof.load(std::memory_order_relaxed) == lost) return;
    const std::uint32_t visits = visits_of(child);
    const double q = visits == 0 ? completed.mixed() : child.mean_for_chooser();
    const std::int64_t marks = child.in_flight.load(std::memory_order_relaxed);
    const std::int64_t flying = std::int64_t{move.before} + move.begun - visits;
    const bool may_fly = flying < 1 + visits / kVisitsPerLeafInFlight;
    visit(Candidate{&child, &move, score(move, q), marks + visits - move.before, may_fly});
  });
  if (!view.may_create || next == moves_.end()) return;
  visit(Candidate{nullptr, &*next, score(*next, completed.mixed())});
}

template <class Allowed, class Better>
std::optional<GumbelPlan::Candidate> GumbelPlan::best(const View& view, Allowed&& allowed,
                                                      Better&& better) const noexcept {
  std::optional<Candidate> found;
  for_each_candidate(view, [&](const Candidate& candidate) {
    if (allowed(candidate) && (!found || better(candidate, *found))) found = candidate;
  });
  return found;
}

Selection GumbelPlan::enter(const Candidate& chosen) noexcept {
  if (!chosen.may_fly) return Selection::wait();
  return chosen.child != nullptr ? Selection::of(chosen.child) : Selection::create();
}

/// Until the phase has started on all the moves it considers, this is the best remaining survivor
/// of the previous phase; after that, a move that is short of visits.
Selection GumbelPlan::planned(const HalvingPhase& phase, const View& view) const noexcept {
  const auto is_in = [&](const Candidate& c) { return c.move->begun > phase.level; };
  std::uint32_t in = 0;
  for_each_candidate(view, [&](const Candidate& c) { in += is_in(c) ? 1U : 0U; });
  if (in < phase.considered) {
    const auto came_through = [&](const Candidate& c) { return c.move->begun == phase.level; };
    if (const auto another = best(view, came_through, kByScore)) return enter(*another);
  }
  const std::uint64_t enough = std::uint64_t{phase.level} + phase.extra;
  const auto lacks = [&](const Candidate& c) { return is_in(c) && c.move->begun < enough; };
  if (const auto same = best(view, lacks, kByTurn)) return enter(*same);
  // No move is short of visits: either moves were proven lost, or no child can be created.
  if (const auto extra = best(view, is_in, kByTurn)) return enter(*extra);
  const auto any = [](const Candidate&) { return true; };
  if (const auto other = best(view, any, kByTurn)) return enter(*other);
  // All children are proven lost, and at the memory limit no others can be created.
  if (view.count == 0) return Selection::nothing();
  return Selection::of(child_at(view.tree.arena(), view.tree.root(), 0));
}

Selection GumbelPlan::choose(const Tree& tree, bool may_create) noexcept {
  const std::lock_guard lock(mutex_);
  const HalvingPhase& phase = phase_of(phases_, begun_);
  if (phase.halving != halving_) begin_halving(tree, phase.halving);
  const Node& root = tree.root();
  const int count = root.num_children.load(std::memory_order_acquire);
  const View view{tree, count, may_create, completed_q(tree, count)};
  return planned(phase, view);
}

void GumbelPlan::began(const Node* child) noexcept {
  const std::lock_guard lock(mutex_);
  ++begun_;
  if (child != nullptr) ++move_of(*child).begun;
}

void GumbelPlan::took_back(const Node* child) noexcept {
  const std::lock_guard lock(mutex_);
  --begun_;
  if (child != nullptr) --move_of(*child).begun;
}

std::uint64_t GumbelPlan::most_in_flight(std::uint64_t completed) const noexcept {
  const std::uint64_t end = phase_of(phases_, completed).end;
  return end - std::min(end, completed);
}

std::vector<RootRank> GumbelPlan::ranks(const Tree& tree) const {
  const std::lock_guard lock(mutex_);
  const Node& root = tree.root();
  const int count = root.num_children.load(std::memory_order_acquire);
  const gumbel::CompletedQ completed = completed_q(tree, count);
  // An unfinished halving does not count if an earlier one is complete: that one decides.
  const std::uint64_t done = visits_of(root) - visits_before_;
  const bool by_visits = halving_ == 0 || done >= end_of_halving();
  std::vector<RootRank> ranks;
  const auto rank = [&](std::uint32_t visits, double q) {
    const Move& move = moves_[ranks.size()];
    const double counted = by_visits ? visits - move.before : static_cast<double>(move.won);
    const double noise = plays_sample_ ? move.noise : 0.0;
    ranks.push_back({counted, noise + move.logit + completed.sigma(q)});
  };
  for_each_child(tree.arena(), root, count, [&](const Node& child) {
    const std::uint32_t visits = visits_of(child);
    rank(visits, visits == 0 ? completed.mixed() : child.mean_for_chooser());
  });
  while (ranks.size() < moves_.size()) rank(0, completed.mixed());
  return ranks;
}

std::uint64_t GumbelPlan::end_of_halving() const noexcept {
  const auto last = std::find_if(phases_.rbegin(), phases_.rend(), [&](const HalvingPhase& phase) {
    return phase.halving == halving_;
  });
  return last->end;
}

std::vector<double> gumbel_noise(Rng& rng, const std::vector<Edge>& legal) {
  std::vector<ActionId> actions(legal.size());
  std::transform(legal.begin(), legal.end(), actions.begin(),
                 [](Edge edge) { return edge.action(); });
  std::sort(actions.begin(), actions.end());
  std::vector<double> noise(actions.empty() ? 0 : std::size_t{actions.back()} + 1);
  for (const ActionId action : actions) noise[action] = rng.gumbel();
  return noise;
}

std::unique_ptr<RootPlan> make_gumbel_plan(const SearchConfig& config, Tree& tree,
                                           std::uint64_t budget, Rng& rng) {
  const std::vector<Edge> edges = tree.edges(tree.root());
  std::vector<double> noise = gumbel_noise(rng, edges);
  if (!config.gumbel_noise) std::fill(noise.begin(), noise.end(), 0.0);
  std::vector<double> keys;
  keys.reserve(edges.size());
  for (const Edge edge : edges) {
    keys.push_back(noise[edge.action()] + gumbel::logit_of(unpack_prior(edge.prior())));
  }
  if (config.gumbel_noise) tree.order_root_edges(keys);
  const int moves = std::min(config.gumbel_actions, static_cast<int>(edges.size()));
  auto phases = config.seconds ? doubling_phases(moves, budget) : halving_phases(moves, budget);
  return std::make_unique<GumbelPlan>(config, tree, std::move(phases), noise);
}

}  // namespace pyengine
