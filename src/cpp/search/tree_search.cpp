#include "search/tree_search.h"

#include <algorithm>
#include <utility>

namespace pyengine {
namespace {

constexpr std::uint32_t kFirstInFlight = 4;  ///< a young tree has little to choose from
constexpr std::uint32_t kVisitsPerLeafInFlight = 4;
constexpr std::uint64_t kNoiseStream = 1;  ///< beside the streams of leaves, which are even

/// A stream of its own for everything random about a search.
Rng stream_of(const SearchConfig& config, std::uint64_t search, std::uint64_t what) {
  return Rng(config.seed, (search << 40) ^ what);
}

}  // namespace

std::vector<double> dirichlet(Rng& rng, int count, std::optional<double> alpha) {
  const double shape = alpha.value_or(10.0 / count);
  std::vector<double> noise(static_cast<std::size_t>(count));
  double total = 0.0;
  for (double& x : noise) total += x = rng.gamma(shape);
  for (double& x : noise) x = total > 0 ? x / total : 1.0 / count;
  return noise;
}

TreeSearch::TreeSearch(Tree& tree, const State& root, const SearchConfig& config,
                       std::uint64_t budget, std::uint64_t stream, BoundEvaluator& evaluator)
    : tree_(tree),
      root_(root),
      config_(config),
      evaluator_(evaluator),
      traits_(evaluator.traits()),
      budget_(budget),
      stream_(stream),
      symmetries_(traits_.reads_planes ? root.game()->symmetries().count() : 1) {
  if (tree.root().state.load(std::memory_order_acquire) == NodeState::expanded) {
    tree.clear_root_noise();
    ready_root();
  } else {
    tree.root().chooser = (1 - root.position().to_move()) & 1;
  }
}

bool TreeSearch::may_gather(int most_gatherers) const noexcept {
  if (closed_.load(std::memory_order_relaxed)) return false;
  if (gatherers_.load(std::memory_order_relaxed) >= most_gatherers) return false;
  if (!root_ready_.load(std::memory_order_acquire)) {
    return !root_asked_.load(std::memory_order_relaxed);
  }
  if (proven() || reserved_.load(std::memory_order_relaxed) >= budget_) return false;
  const std::uint32_t flying = in_flight_.load(std::memory_order_relaxed);
  if (config_.deterministic && flying != 0) return false;
  // Without a leaf in flight nobody would lift the block, and nothing is blocked.
  return flying == 0 || (flying < flight_cap() && !blocked_.load(std::memory_order_relaxed));
}

bool TreeSearch::finished() const noexcept {
  if (gatherers_.load(std::memory_order_acquire) != 0) return false;
  if (in_flight_.load(std::memory_order_acquire) != 0) return false;
  if (closed_.load(std::memory_order_relaxed)) return true;
  if (!root_ready_.load(std::memory_order_acquire)) return false;
  return proven() || reserved_.load(std::memory_order_relaxed) >= budget_;
}

std::uint32_t TreeSearch::flight_cap() const noexcept {
  const std::uint32_t visits = tree_.root().visits.load(std::memory_order_relaxed);
  const auto most = static_cast<std::uint32_t>(max_in_flight(config_));
  return std::min(most, kFirstInFlight + visits / kVisitsPerLeafInFlight);
}

int TreeSearch::rows_per_leaf(bool is_root) const noexcept {
  const bool all = config_.symmetry == SymmetryMode::average ||
      (is_root && config_.symmetry == SymmetryMode::root_average);
  return all ? symmetries_ : 1;
}

bool TreeSearch::fits(const Slot& slot) const noexcept {
  const EvalBatch& batch = *slot.batch;
  const int rows = static_cast<int>(batch.rows.size()) +
      rows_per_leaf(!root_ready_.load(std::memory_order_relaxed));
  return rows <= batch.capacity && batch.num_leaves < batch.capacity;
}

std::uint64_t TreeSearch::reserve(std::uint64_t wanted) noexcept {
  std::uint64_t taken = reserved_.load(std::memory_order_relaxed);
  std::uint64_t got = 0;
  do {
    got = std::min(wanted, budget_ - std::min(taken, budget_));
  } while (got != 0 &&
           !reserved_.compare_exchange_weak(taken, taken + got, std::memory_order_relaxed));
  return got;
}

void TreeSearch::request_symmetries(EvalBatch& batch, int leaf, bool is_root) {
  const int wanted = rows_per_leaf(is_root);
  int first = 0;
  if (config_.symmetry != SymmetryMode::none && symmetries_ > 1 && wanted == 1) {
    const std::uint64_t number = batch.leaves[static_cast<std::size_t>(leaf)].number;
    first = static_cast<int>(
        stream_of(config_, stream_, 2 * number).below(static_cast<std::uint32_t>(symmetries_)));
  }
  for (int i = 0; i < wanted; ++i) evaluator_.request(batch, leaf, first + i);
}

void TreeSearch::fill(Slot& slot) const {
  EvalBatch& batch = *slot.batch;
  if (!traits_.reads_planes || symmetries_ == 1) return;
  const std::size_t placed = batch.rows.size();
  for (int turn = 1; turn < symmetries_; ++turn) {
    for (std::size_t row = 0; row < placed; ++row) {
      if (static_cast<int>(batch.rows.size()) >= batch.capacity) return;
      const EvalRow first = batch.rows[row];
      evaluator_.request(batch, first.leaf, (first.symmetry + turn) % symmetries_);
    }
  }
}

/// Between the judgement of the root and the first walk: its noise.
void TreeSearch::ready_root() {
  if (config_.dirichlet_fraction > 0.0) {
    Rng rng = stream_of(config_, stream_, kNoiseStream);
    const auto noise = dirichlet(rng, tree_.root().num_edges, config_.dirichlet_alpha);
    tree_.add_root_noise(noise, config_.dirichlet_fraction);
  }
  root_asked_.store(true, std::memory_order_relaxed);
  root_ready_.store(true, std::memory_order_release);
}

template <Sharing S>
void TreeSearch::finish_leaf(Worker& worker, const Path& path, const EvalLeaf& leaf, bool is_root) {
  // Backed up before it is expanded: whoever sees the edges sees a visit.
  back_up<S>(path, leaf.to_move == 0 ? leaf.value : -leaf.value);
  const bool expanded = tree_.expand(worker.allocator, *path.back(), leaf);
  if (!is_root) {
    add<S>(completed, std::uint64_t{1});
  } else if (expanded) {
    ready_root();
  } else {
    close();  // not even the root fits into the memory
  }
}

template <Sharing S>
void TreeSearch::place(Worker& worker, Slot& slot, const AnyPosition& position, bool is_root) {
  EvalBatch& batch = *slot.batch;
  const int index = batch.num_leaves;
  EvalLeaf& leaf = batch.leaves[static_cast<std::size_t>(index)];
  position.legal_actions(leaf.legal);
  position.rethrow_if_failed();
  leaf.to_move = position.to_move();
  leaf.number = numbers_.fetch_add(1, std::memory_order_relaxed);
  if (traits_.reads_positions) {
    if (leaf.position) {  // of the same game: a batch belongs to an evaluator bound to it
      leaf.position->assign(position);
    } else {
      leaf.position = position.clone();
    }
    leaf.root = &root_;
    leaf.moves.clear();
    for (std::size_t i = 1; i < worker.path.size(); ++i) {
      leaf.moves.push_back(worker.path[i]->action);
    }
  }
  evaluator_.open(batch, index, position);
  request_symmetries(batch, index, is_root);
  if (leaf.pending_rows == 0) {
    evaluator_.finish(leaf);
    finish_leaf<S>(worker, worker.path, leaf, is_root);
    return;
  }
  Flight& flight = slot.flights[static_cast<std::size_t>(index)];
  flight.search = this;
  flight.path.assign(worker.path.begin(), worker.path.end());
  flight.is_root = is_root;
  ++batch.num_leaves;
  mark<S>(flight.path);
  in_flight_.fetch_add(1, std::memory_order_relaxed);
}

template <Sharing S>
bool TreeSearch::gather_root(Worker& worker, Slot& slot) {
  if (root_asked_.exchange(true, std::memory_order_relaxed)) return false;
  Node& node = tree_.root();
  node.state.store(NodeState::claimed, std::memory_order_relaxed);
  worker.path.assign(1, &node);
  try {
    place<S>(worker, slot, root_.position(), true);
  } catch (...) {
    node.state.store(NodeState::fresh, std::memory_order_release);
    throw;
  }
  return true;
}

template <Sharing S>
bool TreeSearch::gather(Worker& worker, Slot& slot, const Turn& turn) {
  if (!root_ready_.load(std::memory_order_acquire)) return gather_root<S>(worker, slot);

  const std::uint64_t tickets = reserve(turn.simulations);
  const int leaves_before = slot.batch->num_leaves;
  const std::size_t most_collisions = static_cast<std::size_t>(std::max(4, 2 * turn.leaves));
  const bool sorted = tree_.root_is_sorted();
  std::uint64_t used = 0;
  std::uint64_t created = 0;
  std::size_t collided = 0;
  // The walker's failures (a user's game) leave nothing marked; the tickets go back in any case.
  const auto settle = [&] {
    for (std::size_t i = 0; i < collided; ++i) unmark<S>(worker.collisions[i]);
    reserved_.fetch_sub(tickets - used, std::memory_order_relaxed);
    if (created != 0) tree_.add_nodes(created);
    if (collided != 0) collisions.fetch_add(collided, std::memory_order_relaxed);
  };
  try {
    while (used < tickets && !turn.stop->load(std::memory_order_relaxed) && !proven()) {
      if (slot.batch->num_leaves - leaves_before >= turn.leaves || !fits(slot)) break;
      if (in_flight_.load(std::memory_order_relaxed) >= flight_cap()) break;
      const Walk walk = worker.walker->walk(tree_, root_.position(), sorted, worker.selector,
                                            worker.allocator, config_.solver, worker.path);
      created += walk.created;
      if (walk.end == WalkEnd::collision) {
        // Marked until the turn ends, so that the next walk goes elsewhere.
        if (worker.collisions.size() <= collided) worker.collisions.emplace_back();
        worker.collisions[collided] = worker.path;
        mark<S>(worker.collisions[collided]);
        if (++collided >= most_collisions) break;
        continue;
      }
      if (walk.end == WalkEnd::known) {
        back_up<S>(worker.path, walk.value);
        if (walk.newly_over && config_.solver) prove(tree_, worker.path, walk.value);
        add<S>(completed, std::uint64_t{1});
      } else {
        try {
          place<S>(worker, slot, worker.walker->position(), false);
        } catch (...) {
          worker.path.back()->state.store(NodeState::fresh, std::memory_order_release);
          throw;
        }
      }
      ++used;
    }
  } catch (...) {
    settle();
    throw;
  }
  settle();
  if (used == 0 && collided != 0) blocked_.store(true, std::memory_order_relaxed);
  return used != 0;
}

template <Sharing S>
void TreeSearch::complete(Worker& worker, Flight& flight, const EvalLeaf& leaf) {
  unmark<S>(flight.path);
  finish_leaf<S>(worker, flight.path, leaf, flight.is_root);
  blocked_.store(false, std::memory_order_relaxed);
  in_flight_.fetch_sub(1, std::memory_order_release);
}

template <Sharing S>
void TreeSearch::cancel(Flight& flight) noexcept {
  unmark<S>(flight.path);
  flight.path.back()->state.store(NodeState::fresh, std::memory_order_release);
  if (!flight.is_root) {
    reserved_.fetch_sub(1, std::memory_order_relaxed);
  } else {
    root_asked_.store(false, std::memory_order_relaxed);
  }
  blocked_.store(false, std::memory_order_relaxed);
  in_flight_.fetch_sub(1, std::memory_order_release);
}

template bool TreeSearch::gather<Sharing::exclusive>(Worker&, Slot&, const Turn&);
template bool TreeSearch::gather<Sharing::shared>(Worker&, Slot&, const Turn&);
template void TreeSearch::complete<Sharing::exclusive>(Worker&, Flight&, const EvalLeaf&);
template void TreeSearch::complete<Sharing::shared>(Worker&, Flight&, const EvalLeaf&);
template void TreeSearch::cancel<Sharing::exclusive>(Flight&) noexcept;
template void TreeSearch::cancel<Sharing::shared>(Flight&) noexcept;

}  // namespace pyengine
