#include "search/run/tree_search.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "games/any/call_guard.h"
#include "search/run/root_priors.h"
#include "search/run/streams.h"
#include "search/tree/order.h"

namespace pyengine {
namespace {

constexpr int kKnownPerTurn = 8;  ///< visits of known ends while leaves wait

/// Releases a claimed node that will not be evaluated; a node that was expanded before the failure
/// stays expanded.
void give_up(Node& node) noexcept {
  if (node.state.load(std::memory_order_relaxed) != NodeState::claimed) return;
  node.state.store(NodeState::fresh, std::memory_order_release);
}

/// The root's child on the path; nullptr if the walk stayed at the root.
[[nodiscard]] const Node* root_child(const Path& path) noexcept {
  return path.size() > 1 ? path[1] : nullptr;
}

/// Simulations until the root's visit counter is full. The first visit of a fresh root is not a
/// simulation.
std::uint64_t room_for_visits(const Node& root) noexcept {
  const std::uint32_t visits = root.visits.load(std::memory_order_relaxed);
  return kMaxVisits - std::max(visits, 1U);
}

[[nodiscard]] std::uint64_t visits_of_children(const Tree& tree) noexcept {
  const Node& root = tree.root();
  std::uint64_t visits = 0;
  for_each_child(
      tree.arena(), root, root.num_children.load(std::memory_order_acquire),
      [&](const Node& child) { visits += child.visits.load(std::memory_order_relaxed); });
  return visits;
}

/// Whether another path to the root, on which other moves are legal, has made its list of moves.
[[nodiscard]] bool has_other_moves(const Tree& tree, const AnyPosition& root) {
  if (tree.shares_proofs()) return false;
  if (tree.root().state.load(std::memory_order_acquire) != NodeState::expanded) return false;
  std::vector<ActionId> moves;
  for (const Edge edge : tree.evaluated_root_edges()) moves.push_back(edge.action());
  std::sort(moves.begin(), moves.end());
  ActionList legal;
  root.legal_actions(legal);
  return !std::equal(moves.begin(), moves.end(), legal.begin(), legal.end());
}

}  // namespace

TreeSearch::TreeSearch(Tree& tree, const State& root, const SearchConfig& config,
                       std::uint64_t budget, std::uint64_t stream, BoundEvaluator& evaluator)
    : tree_(tree),
      root_(root),
      config_(config),
      evaluator_(evaluator),
      traits_(evaluator.traits()),
      stream_(stream),
      symmetries_(traits_.under_symmetries ? root.game()->symmetries().count() : 1),
      tickets_(std::min(budget, room_for_visits(tree.root()))),
      seats_(config, budget),
      decision_(config) {
  tally.numbers.store(first_number(config.seed, stream), std::memory_order_relaxed);
  // The endgame solver turned a nonterminal position into a terminal node.
  const bool solved = tree.root().state.load(std::memory_order_acquire) == NodeState::terminal;
  if (solved || tree.provisional() || has_other_moves(tree, root.position())) tree.clear();
  tree.set_root_mover(root.position().to_move());
  if (tree.root().state.load(std::memory_order_acquire) == NodeState::expanded) {
    tree.clear_root_noise();
    // Leases, and searches that do not need them, leave the sums of squares incomplete.
    if (config.c_puct_stdev == 0.0) tree.keep_squares(false);
    if (config.solver && !tree.shares_proofs()) prove_root(tree);
    reused_ = visits_of_children(tree);
    ready_root();
  } else {
    tree.keep_prior_sums(config.algorithm == Algorithm::gumbel);
    tree.keep_squares(config.c_puct_stdev != 0.0);
    tree.set_draw(draw_for_first(config, root.position().to_move()));
    if (!reads_priors(config.algorithm)) tree.order_by(order_of_tree(config.seed, stream));
  }
  counts_more_ = tree.draw() != 0.0F || tree.keeps_squares() || config.choose == MoveChoice::lcb;
}

TreeSearch::~TreeSearch() { remove_stray_marks(); }

void TreeSearch::remove_stray_marks() noexcept { detours_.clear<Sharing::shared>(); }

bool TreeSearch::may_gather() const noexcept {
  if (closed_.load(std::memory_order_relaxed)) return false;
  if (!root_ready_.load(std::memory_order_acquire)) {
    return !root_asked_.load(std::memory_order_relaxed);
  }
  if (!may_begin()) return false;
  const std::uint32_t taken = seats_.taken();
  // Without a leaf in flight nothing is blocked, and none would land to unblock it.
  if (taken == 0) return true;
  return !config_.deterministic && taken < seat_limit() && !seats_.blocked();
}

bool TreeSearch::finished() const noexcept {
  if (!idle()) return false;
  if (closed_.load(std::memory_order_relaxed)) return true;
  if (!root_ready_.load(std::memory_order_acquire)) return false;
  return !may_begin();
}

std::uint32_t TreeSearch::seat_limit() const noexcept {
  if (plan_) {
    return seats_.planned_limit(
        plan_->most_in_flight(tally.completed.load(std::memory_order_relaxed)));
  }
  return seats_.limit(tree_.root().visits.load(std::memory_order_relaxed));
}

int TreeSearch::rows_per_leaf(bool is_root) const noexcept {
  const bool all = config_.symmetry == SymmetryMode::average ||
      (is_root && config_.symmetry == SymmetryMode::root_average);
  return all ? symmetries_ : 1;
}

int TreeSearch::room(const Slot& slot) const noexcept {
  const EvalBatch& batch = *slot.batch;
  const int rows = rows_per_leaf(!root_ready_.load(std::memory_order_relaxed));
  // A batch may exceed batch_size for leaves with all symmetries.
  const int most = rows > 1 ? batch.capacity : std::min(batch.capacity, config_.batch_size);
  return std::min((most - batch.num_rows) / rows, most - batch.num_leaves);
}

LeafSymmetry TreeSearch::symmetry_of_leaf(bool is_root) const noexcept {
  if (rows_per_leaf(is_root) > 1) return LeafSymmetry::all;
  return config_.symmetry == SymmetryMode::none ? LeafSymmetry::identity : LeafSymmetry::random;
}

/// Called when the root is expanded: adds its noise and makes its plan before the first walk.
void TreeSearch::ready_root() {
  Rng rng = noise_stream(config_.seed, stream_);
  const auto priors = changed_root_priors(config_, tree_, rng);
  if (!priors.empty()) tree_.change_root_priors(priors);
  plan_ = make_root_plan(config_, tree_, tickets_.budget(), rng);
  if (config_.choose == MoveChoice::lcb) samples_.emplace(tree_.evaluated_root_edges());
  decision_.begin();
  // The visit of a forced move gives it a value and a reply.
  if (config_.stop_when_decided && tree_.root().num_edges == 1) decide(reused_ == 0 ? 1 : 0);
  root_asked_.store(true, std::memory_order_relaxed);
  root_ready_.store(true, std::memory_order_release);
}

/// Ends the search after `simulations` in all.
void TreeSearch::decide(std::uint64_t simulations) noexcept {
  decided_.store(true, std::memory_order_relaxed);
  tickets_.limit(simulations);
}

/// After the back-up of a visit of the first `nodes` nodes of a path.
template <Sharing S>
[[gnu::noinline]] void TreeSearch::count_more(const Path& path, std::size_t nodes,
                                              const VisitValue& visit) noexcept {
  back_up_draw<S>(path, visit);
  if (tree_.keeps_squares()) back_up_squares<S>(tree_, path, nodes, visit);
  if (samples_) samples_->add<S>(path, visit);
}

template <Sharing S>
[[gnu::always_inline]] inline void TreeSearch::count_visit(const Path& path, float value_for_first,
                                                           std::uint32_t drawn) noexcept {
  back_up<S>(path, value_for_first, drawn);
  if (counts_more_) count_more<S>(path, path.size(), {value_for_first, tree_.draw(), drawn});
}

/// Counts a visit that ends at a position of a graph and does not count there. The nodes above get
/// the change of a sum; for other statistics the visit has the position's mean value.
template <Sharing S>
void TreeSearch::count_transposition(const Path& path, std::uint32_t drawn) noexcept {
  back_up_mean<S>(path, drawn);
  if (!counts_more_) return;
  const Node& position = *path.back();
  const double mean = position.mean_for_chooser();
  const auto value = static_cast<float>(position.chooser == 0 ? mean : -mean);
  count_more<S>(path, path.size() - 1, {value, tree_.draw(), drawn});
}

/// The steps that may fail come first: a leaf that cannot be finished counts as never visited.
template <Sharing S>
void TreeSearch::finish_leaf(Worker& worker, const Path& path, std::uint32_t drawn,
                             const EvalLeaf& leaf, bool is_root, Tally& counts) {
  Node& node = *path.back();
  const bool grows = is_root || grows_a_tree(config_.algorithm);
  const bool stored = is_root && restricted()
      ? tree_.store_evaluation(allocator_of(worker), node, restricted_to(only_, leaf))
      : grows && tree_.store_evaluation(allocator_of(worker), node, leaf);
  float value = leaf.value;  // for the player to move
  if (counts_more_) {
    value += leaf.draw * (leaf.to_move == 0 ? tree_.draw() : -tree_.draw());
    node.value = value;
  }
  // Back up before expanding: a thread that sees the edges also sees a visit.
  count_visit<S>(path, leaf.to_move == 0 ? value : -value, drawn);
  Tree::publish(node, stored);
  if (is_root) {
    if (leaf.unfinished) tree_.set_provisional();
    ready_root();
  } else {
    add<S>(counts.completed, std::uint64_t{1});
  }
}

/// Removes the marks of joint walks from a leaf that will not be in flight. Other walks may have
/// collided there, and no completion will release them.
template <Sharing S>
void TreeSearch::take_marks_back(const Worker& worker) noexcept {
  if (!worker.marked) return;
  unmark<S>(worker.path);
  seats_.unblock();
}

/// Returns whether the leaf waits in the batch; otherwise it was answered and completed.
template <Sharing S>
bool TreeSearch::place(Worker& worker, Slot& slot, const AnyPosition& position, bool is_root,
                       Tally& counts) {
  EvalBatch& batch = *slot.batch;
  EvalLeaf& leaf = batch.next();
  leaf.has_legal_bits = traits_.equal_priors && position.legal_bits(leaf.legal_bits);
  if (!leaf.has_legal_bits) position.legal_actions(leaf.legal);
  position.rethrow_if_failed();
  leaf.to_move = position.to_move();
  leaf.number = add<S>(counts.numbers, std::uint64_t{1});
  leaf.symmetry = symmetry_of_leaf(is_root);
  leaf.seed = config_.seed;
  leaf.unfinished = false;
  leaf.on_the_spot = S == Sharing::exclusive && traits_.on_the_spot() && !config_.deterministic;
  if (traits_.reads_positions && !leaf.on_the_spot) {
    copy_position(position, leaf.position);
    leaf.root = &root_;
    list_moves(worker.path, leaf.moves);
  }
  const int rows = evaluator_.request(batch, position);
  if (rows == kAnswered) {
    if (leaf.on_the_spot) add<S>(counts.evaluations, std::uint64_t{1});
    if (leaf.unfinished && !is_root) throw Interrupted();
    take_marks_back<S>(worker);
    finish_leaf<S>(worker, worker.path, worker.drawn, leaf, is_root, counts);
    return false;
  }
  Flight& flight = slot.flights[static_cast<std::size_t>(batch.num_leaves)];
  flight.place = slot.gathering_for;
  flight.path.assign(worker.path.begin(), worker.path.end());
  flight.is_root = is_root;
  flight.drawn = worker.drawn;
  batch.add_next(rows);
  if (!worker.marked) mark<S>(flight.path);
  flight.marked = true;
  return true;
}

template <Sharing S>
bool TreeSearch::gather_root(Worker& worker, Slot& slot) {
  Node& node = tree_.root();
  worker.path.assign(1, &node);
  if (root_asked_.exchange(true, std::memory_order_relaxed)) return false;
  node.state.store(NodeState::claimed, std::memory_order_relaxed);
  worker.drawn = 0;
  worker.marked = false;
  seats_.take_for_root();
  bool waits = false;
  try {
    waits = place_claimed<S>(worker, slot, root_.position(), true, tally);
  } catch (...) {
    seats_.give_back(1);
    throw;
  }
  if (!waits) seats_.give_back(1);
  return true;
}

/// Places the leaf at the end of the worker's path; releases the node on failure.
template <Sharing S>
bool TreeSearch::place_claimed(Worker& worker, Slot& slot, const AnyPosition& position,
                               bool is_root, Tally& counts) {
  try {
    return place<S>(worker, slot, position, is_root, counts);
  } catch (...) {
    take_marks_back<S>(worker);
    give_up(*worker.path.back());
    throw;
  }
}

/// Whether to start another walk. Takes the resources that it needs.
template <Sharing S>
bool TreeSearch::may_walk(TurnProgress& now, const Turn& turn) noexcept {
  if (now.used >= turn.simulations || turn.stop->load(std::memory_order_relaxed) || proven()) {
    return false;
  }
  // Reserve few tickets at a time: other workers cannot use what one worker holds.
  if (now.used == now.tickets) {
    now.tickets += tickets_.reserve(static_cast<std::uint64_t>(turn.leaves));
  }
  if (now.used == now.tickets) return false;
  if (now.seats == 0) now.seats = seats_.take<S>(1, seat_limit());
  return now.seats != 0;
}

/// Solves a leaf near the end of the game and makes it a terminal node.
template <Sharing S>
void TreeSearch::solve_ending(Worker& worker, Walk& walk, const Turn& turn) {
  const GameShape& shape = root_.game()->shape();
  const AnyPosition& position = worker.walker->position();
  Node& leaf = *worker.path.back();
  std::optional<float> value;
  try {
    value =
        worker.endings->solve(position, shape.rows * shape.columns, config_.endgame_solver_empties,
                              [&] { return !closed() && (*turn.goes_on)(); });
  } catch (...) {
    take_marks_back<S>(worker);
    give_up(leaf);
    throw;
  }
  if (!value) return;
  take_marks_back<S>(worker);
  leaf.value = position.to_move() == 0 ? *value : -*value;
  leaf.state.store(NodeState::terminal, std::memory_order_release);
  walk.end = WalkEnd::over;
  walk.value = leaf.value;
  walk.newly_over = true;
}

/// Returns whether a leaf is in flight at the end of the path. In a graph it may have another path,
/// and a leaf that has landed meanwhile is not noticed.
template <Sharing S>
bool TreeSearch::mark_collision(const Path& path, std::uint32_t times) {
  if (!tree_.is_graph()) return mark_again<S>(path, times);
  if (path.back()->in_flight.load(std::memory_order_relaxed) == 0) return false;
  detours_.mark<S>(path, times);
  return true;
}

/// Removes the marks of a leaf in flight, and of the walks that collided.
template <Sharing S>
void TreeSearch::remove_marks(Flight& flight) noexcept {
  if (!tree_.is_graph()) return unmark<S>(flight.path);
  if (std::exchange(flight.marked, false)) unmark_once<S>(flight.path);
  detours_.clear<S>();
}

/// Handles the end that `visits` walks reached together.
template <Sharing S>
[[gnu::always_inline]] inline void TreeSearch::settle(Worker& worker, Slot& slot, const Turn& turn,
                                                      const Part& part, Walk walk,
                                                      std::uint32_t visits, TurnProgress& now) {
  now.created += walk.created;
  if (walk.end == WalkEnd::leaf && config_.endgame_solver_empties > 0 && !closed()) {
    solve_ending<S>(worker, walk, turn);
  }
  worker.drawn = walk.drawn;
  if (walk.end == WalkEnd::wait) {
    now.waits = true;
    return;
  }
  if (walk.end == WalkEnd::collision) {
    ++now.collided;
    now.collisions += visits;
    now.hit_in_flight |= mark_collision<S>(
        worker.path, std::max(visits, times_to_mark(config_, *worker.path.back())));
    return;
  }
  if (walk.end != WalkEnd::leaf) {
    if (walk.end == WalkEnd::transposition) {
      count_transposition<S>(worker.path, walk.drawn);
    } else {
      const bool is_draw = walk.end == WalkEnd::over && walk.value == 0.0F;
      const float value = is_draw ? tree_.draw() : walk.value;
      for (std::uint32_t i = 0; i < visits; ++i) count_visit<S>(worker.path, value, walk.drawn);
    }
    if (walk.newly_over && config_.solver) prove(tree_, worker.path, walk.value);
    add<S>(part.counts.completed, std::uint64_t{visits});
    now.known += static_cast<int>(visits);
    now.used += visits;
  } else if (place_claimed<S>(worker, slot, worker.walker->position(), false, part.counts)) {
    // All walks but one collided with a leaf in flight.
    now.collided += visits > 1 ? 1 : 0;
    now.collisions += visits - 1;
    now.hit_in_flight |= visits > 1;
    --now.seats;
    ++now.used;
  } else {
    ++now.answered;
    ++now.used;
  }
  if (plan_) plan_->began(root_child(worker.path));
}

template <Sharing S>
void TreeSearch::walk_once(Worker& worker, Slot& slot, const Turn& turn, const Part& part,
                           TurnProgress& now) {
  const auto way = tree_.is_graph() ? &Walker::walk_in_graph : &Walker::walk;
  const Walk walk =
      (*worker.walker.*way)(tree_, part.start, {config_, plan_.get(), S}, worker.selector.rule(),
                            allocator_of(worker), worker.path);
  worker.marked = false;
  settle<S>(worker, slot, turn, part, walk, 1, now);
}

/// Runs as many joint walks as fit, up to `most`. Collisions do not end them: otherwise the leaves
/// would all belong to the first moves.
template <Sharing S>
void TreeSearch::walk_jointly(Worker& worker, Slot& slot, const Turn& turn, const Part& part,
                              int most, TurnProgress& now) {
  const auto count = static_cast<std::uint32_t>(
      std::min(static_cast<std::uint64_t>(std::min(most, room(slot))), now.tickets - now.used));
  if (now.seats < count) now.seats += seats_.take<S>(count - now.seats, seat_limit());
  const auto ended = [&](const Walk& walk, std::uint32_t visits) {
    worker.marked = walk.end == WalkEnd::leaf;
    settle<S>(worker, slot, turn, part, walk, visits, now);
    return !turn.stop->load(std::memory_order_relaxed) && !proven();
  };
  worker.walker->walk_jointly(tree_, part.start, {config_, nullptr, S}, worker.selector.rule(),
                              allocator_of(worker), worker.path, std::min(count, now.seats), ended);
}

/// Ends a turn, even a failed one: returns unused resources.
template <Sharing S>
void TreeSearch::end_turn(const TurnProgress& now) noexcept {
  tickets_.give_back(now.tickets - now.used);
  if (now.created != 0) tree_.add_nodes(now.created);
  if (now.collisions != 0) collisions.fetch_add(now.collisions, std::memory_order_relaxed);
  if (now.seats != 0) seats_.give_back(now.seats);
}

/// Leaves that the turn added to the batch, plus those answered on the spot by playouts.
int TreeSearch::leaves_of(const TurnProgress& now, const Slot& slot) const noexcept {
  return slot.batch->num_leaves + (traits_.on_the_spot() ? now.answered : 0);
}

template <Sharing S>
bool TreeSearch::gather(Worker& worker, Slot& slot, const Turn& turn) {
  slot.batch->goes_on = turn.goes_on;
  if (!root_ready()) return gather_root<S>(worker, slot);
  if (decision_.by_visits()) return gather_until_decided<S>(worker, slot, turn);
  return gather_leaves<S>(worker, slot, turn);
}

/// Shortens the turn, so that a serial search ends at the first simulation that decides it. At the
/// start of a turn, a deterministic search is in the same state with any number of threads.
template <Sharing S>
bool TreeSearch::gather_until_decided(Worker& worker, Slot& slot, const Turn& turn) {
  Turn shorter = turn;
  const std::uint64_t completed = tally.completed.load(std::memory_order_relaxed);
  shorter.simulations =
      std::min(turn.simulations, decision_.simulations_until(tree_, completed, tickets_.budget()));
  if (shorter.simulations != 0) return gather_leaves<S>(worker, slot, shorter);
  decide(0);
  return false;
}

template <Sharing S>
bool TreeSearch::gather_leaves(Worker& worker, Slot& slot, const Turn& turn) {
  const CallGuard guard(turn.guards_calls ? turn.goes_on : nullptr);
  if (seats_.sharers() > 1) return gather_by_leases(worker, slot, turn);
  const Part whole{{tree_.root(), root_.position()}, tally};
  const int most_leaves = slot.batch->num_leaves + turn.leaves;
  const std::size_t most_collided =
      most_collisions(config_, tree_.root().visits.load(std::memory_order_relaxed), turn.leaves);
  const int most_known = std::max(kKnownPerTurn, turn.leaves);
  TurnProgress now;
  try {
    while (leaves_of(now, slot) < most_leaves && fits(slot) && may_walk<S>(now, turn)) {
      const int most = std::min(turn.joint_walks, most_leaves - leaves_of(now, slot));
      if (most > 1) {
        walk_jointly<S>(worker, slot, turn, whole, most, now);
      } else {
        walk_once<S>(worker, slot, turn, whole, now);
      }
      if (now.waits || now.collided >= most_collided) break;
      // Visits that need no row could continue forever while leaves wait for their evaluation.
      if (now.known >= most_known && slot.batch->num_leaves > 0) break;
    }
  } catch (...) {
    end_turn<S>(now);
    throw;
  }
  end_turn<S>(now);
  // Only if a leaf in flight remains that unblocks the tree when it lands.
  const bool collided_enough =
      now.hit_in_flight && (now.collided >= most_collided || now.used == 0);
  if (now.waits || collided_enough || (now.known >= most_known && !traits_.immediate()))
    seats_.block();
  return now.used != 0;
}

template <Sharing S>
void TreeSearch::complete(Worker& worker, Flight& flight, const EvalLeaf& leaf) {
  remove_marks<S>(flight);
  finish_leaf<S>(worker, flight.path, flight.drawn, leaf, flight.is_root, tally);
  seats_.land();
}

template <Sharing S>
void TreeSearch::cancel(Flight& flight) noexcept {
  remove_marks<S>(flight);
  give_up(*flight.path.back());
  if (!flight.is_root) {
    if (plan_) plan_->took_back(root_child(flight.path));
    tickets_.give_back(1);
  } else {
    root_asked_.store(false, std::memory_order_relaxed);
  }
  seats_.land();
}

template void TreeSearch::walk_once<Sharing::exclusive>(Worker&, Slot&, const Turn&, const Part&,
                                                        TurnProgress&);
template void TreeSearch::end_turn<Sharing::shared>(const TurnProgress&) noexcept;
template bool TreeSearch::gather<Sharing::exclusive>(Worker&, Slot&, const Turn&);
template bool TreeSearch::gather<Sharing::shared>(Worker&, Slot&, const Turn&);
template void TreeSearch::complete<Sharing::exclusive>(Worker&, Flight&, const EvalLeaf&);
template void TreeSearch::complete<Sharing::shared>(Worker&, Flight&, const EvalLeaf&);
template void TreeSearch::cancel<Sharing::exclusive>(Flight&) noexcept;
template void TreeSearch::cancel<Sharing::shared>(Flight&) noexcept;

}  // namespace pyengine
