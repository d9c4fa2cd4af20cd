#include "search/searcher.h"

#include <algorithm>
#include <utility>

#include "base/deadline.h"
#include "base/error.h"
#include "base/janitor.h"
#include "base/process.h"
#include "eval/abilities.h"
#include "games/any/state_check.h"
#include "search/setup.h"

namespace pyengine {
namespace {

std::uint64_t budget_of(const SearchConfig& config) {
  if (config.simulations) return *config.simulations;
  return config.seconds ? ~std::uint64_t{0} >> 1 : kDefaultSimulations;
}

/// Size of a result's tree: copying it should not cost much more than the search itself.
std::size_t kept_nodes(const TreeSearch& search) {
  constexpr std::uint64_t kLeast = 256;
  const std::uint64_t done = search.tally.completed.load(std::memory_order_relaxed);
  return static_cast<std::size_t>(std::min<std::uint64_t>(kLeast + 4 * done, kTreeNodes));
}

/// Watches a call before its run starts.
std::function<bool()> until_due(const SearchConfig& config, Clock::time_point start_time,
                                Host& host, const std::atomic<bool>& stop) {
  const auto watch =
      std::make_shared<Watch>(host, stop, deadline_after(start_time, config.seconds));
  return [watch] {
    watch->poll_host();
    return !watch->due();
  };
}

Rng choice_stream(const SearchConfig& config, std::uint64_t search) {
  return Rng(config.seed ^ 0xC2B2AE3D27D4EB4FU, search);
}

StopReason reason_of(const TreeSearch& search, RunEnd end) {
  if (search.proven()) return StopReason::proven;
  if (search.decided()) return StopReason::decided;
  if (search.tally.completed.load(std::memory_order_relaxed) >= search.budget()) {
    const bool cut = search.budget() < budget_of(search.config());
    return cut ? StopReason::visits : StopReason::simulations;
  }
  switch (end) {
    case RunEnd::completed:
      return StopReason::simulations;
    case RunEnd::deadline:
      return StopReason::seconds;
    case RunEnd::stopped:
      break;
  }
  return StopReason::stopped;
}

/// A proof that holds for some of the moves is not the position's.
void hide_proof(SearchResult& result) noexcept {
  result.proven.reset();
  if (!result.tree.empty()) result.tree.front().proven = TreeNode::kNotProven;
}

/// Calls `read` for searches that have spent their budget; nothing follows them.
template <class Read>
class WhereTheyEnd final : public Succession {
 public:
  explicit WhereTheyEnd(Read read) : read_(std::move(read)) {}
  bool ended(TreeSearch& search) override {
    read_(search);
    return false;
  }
  void restart(TreeSearch& /*search*/) override {}

 private:
  Read read_;
};

}  // namespace

/// Allows one call at a time: a second one is refused, not queued.
class Searcher::Busy {
 public:
  Busy(Searcher& owner, const char* what) : owner_(owner) {
    owner.check_alive();
    const std::lock_guard lock(owner.mutex_);
    if (owner.busy_) {
      throw EngineError(std::string(what) +
                        ": this engine is searching; stop() it first, or use another engine");
    }
    owner.busy_ = true;
    owner.stop_.store(false, std::memory_order_relaxed);
  }

  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() {
    const std::lock_guard lock(owner_.mutex_);
    owner_.busy_ = false;
  }

 private:
  Searcher& owner_;
};

/// Makes stats() include the counters of running searches, and adds them to the totals at the end.
class Searcher::Running {
 public:
  Running(Searcher& owner, std::span<TreeSearch* const> searches) : owner_(owner) {
    const std::lock_guard lock(owner_.mutex_);
    owner_.running_.assign(searches.begin(), searches.end());
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    owner_.current_ = {};
    const std::lock_guard lock(owner_.mutex_);
    for (const TreeSearch* search : owner_.running_) add_to(owner_.done_, *search);
    owner_.running_.clear();
  }

  static void add_to(SearchStats& stats, const TreeSearch& search) noexcept {
    stats.simulations += search.tally.completed.load(std::memory_order_relaxed);
    stats.evaluations += search.tally.evaluations.load(std::memory_order_relaxed);
    stats.collisions += search.collisions.load(std::memory_order_relaxed);
  }

 private:
  Searcher& owner_;
};

Searcher::Searcher(std::shared_ptr<const AnyGame> game, std::shared_ptr<Evaluator> evaluator,
                   const SearchConfig& config)
    : game_(std::move(game)),
      evaluator_(std::move(evaluator)),
      config_(config),
      process_(process_id()) {
  validate(config_);
  bound_ = evaluator_->bind(game_, bind_options(config_));
  pool_ = std::make_shared<ChunkPool>(tree_bytes(config_));
  if (bound_->traits().runs_on.device()) pipeline_for(config_);  // opens sessions
}

Searcher::~Searcher() {
  if (process_ != process_id()) {
    // A forked child has our objects but not our threads. They cannot be joined, and the condition
    // variables cannot be destroyed while they count waiting threads.
    static_cast<void>(pipeline_.release());
    static_cast<void>(bound_.release());
    return;
  }
  pipeline_.reset();
  // Returning gigabytes to the system takes a while, and nothing needs to wait for it.
  if (tree_) tree_->abandon();
  try {
    run_in_background(
        [tree = std::shared_ptr<Tree>(std::move(tree_)), pool = std::move(pool_)]() mutable {
          tree.reset();
          pool.reset();
        });
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // There is no memory for a background task: free it here.
  }
}

void Searcher::check_alive() const {
  if (process_ != process_id()) {
    throw EngineError(
        "this engine was created before fork(); create a new one in the child process");
  }
}

void Searcher::check(const State& state, const SearchConfig& config) const {
  validate(config);
  check_unfinished(state, *game_);
  check_endings(config, state);
  check_graph(config, *game_);
}

bool Searcher::continues(const State& state) const {
  if (!tree_ || !root_) return false;
  // Only the user's code can compare states of a user's game.
  if (is_foreign(state)) {
    return root_->position().equals(state.position()) || (advanced_ && resembles(*root_, state));
  }
  return *root_ == state;
}

/// For an existing tree.
bool Searcher::has_graph_of(const SearchConfig& config) const {
  const bool is_graph = searches_graph(config, game_->traits().graph_by_default);
  return tree_->is_graph() == is_graph &&
      (!is_graph || tree_->graph_history() == config.graph_history);
}

/// Whether the nodes of an existing tree have the sums that the search reads.
bool Searcher::has_sums_for(const State& state, const SearchConfig& config) const {
  if (tree_->root().state.load(std::memory_order_relaxed) != NodeState::expanded) return true;
  const bool same_draws = tree_->draw() == draw_for_first(config, state.position().to_move());
  return same_draws && (tree_->keeps_squares() || config.c_puct_stdev == 0.0);
}

void Searcher::drop_tree() {
  const std::lock_guard lock(mutex_);
  tree_.reset();
  root_.reset();
  only_.clear();
  // Each worker keeps the memory of the tree that it searched last.
  if (pipeline_) pipeline_->release_memory();
}

void Searcher::start_tree(const State& state, const SearchConfig& config, const GoesOn& goes_on) {
  State root = state;
  drop_tree();
  advanced_ = false;
  make_room(goes_on);
  const std::lock_guard lock(mutex_);
  root_.emplace(std::move(root));
  tree_ = std::make_unique<Tree>(pool_);
  prepare_tree(*tree_, config, *game_);
}

/// Sets the memory that trees may take in this call. An existing cache keeps its memory.
void Searcher::limit_memory(const SearchConfig& config) {
  constexpr std::uint64_t kLeastTree = 2 * kChunkBytes;
  const std::uint64_t cache = stats_of(*bound_).cache_bytes;
  const std::uint64_t trees = tree_bytes(config, cache);
  if (trees < kLeastTree) {
    throw ConfigError("memory_limit: expected at least " + std::to_string(cache + kLeastTree) +
                      " bytes, since the engine's cache keeps " + std::to_string(cache) + ", got " +
                      std::to_string(config.memory_limit));
  }
  pool_->set_limit(trees);
}

/// The memory of dropped trees may not have been released yet.
void Searcher::make_room(const GoesOn& goes_on) {
  if (pool_->available() < pool_->limit_chunks() / 2) wait_for_background(goes_on);
}

/// Creates the pipeline outside the mutex: a device may take minutes to prepare for a batch size.
Pipeline& Searcher::pipeline_for(const SearchConfig& config) {
  const int rows = batch_rows(config, *game_, bound_->traits());
  if (pipeline_ && pipeline_->batch_rows() == rows) return *pipeline_;
  auto replacement = std::make_unique<Pipeline>(*bound_, rows, pool_);
  const std::lock_guard lock(mutex_);  // the old one is destroyed after the mutex is released
  if (pipeline_) {
    old_waited_ns_ += pipeline_->waited_ns();
    old_scheduler_ += pipeline_->counters();
  }
  pipeline_.swap(replacement);
  return *pipeline_;
}

RunEnd Searcher::run(std::span<TreeSearch* const> searches, const SearchConfig& config,
                     Clock::time_point start_time, Host& host, Succession* succession) {
  RunOptions options;
  options.succession = succession;
  options.workers = num_workers(config);
  options.foreign = is_foreign(searches[0]->root());
  options.stop = &stop_;
  options.deadline = deadline_after(start_time, config.seconds);
  Pipeline& pipeline = pipeline_for(config);
  const Running running(*this, searches);
  return pipeline.run(searches, options, host);
}

SearchResult Searcher::result_so_far(const TreeSearch& search, Clock::time_point start_time) const {
  SearchResult result = read_tree(search.tree(), game_->shape().num_actions, search.config(),
                                  choice_stream(search.config(), search.stream()),
                                  kept_nodes(search), search.plan(), search.samples());
  if (search.restricted()) hide_proof(result);
  result.reused = search.reused();
  result.simulations = search.tally.completed.load(std::memory_order_relaxed);
  result.evaluations = search.tally.evaluations.load(std::memory_order_relaxed);
  result.seconds = std::chrono::duration<double>(Clock::now() - start_time).count();
  return result;
}

SearchResult Searcher::final_result(const TreeSearch& search, Clock::time_point start_time) const {
  if (!search.root_ready()) {
    throw EngineError("memory_limit: " + std::to_string(search.config().memory_limit) +
                      " bytes leave no room for the root of a tree");
  }
  return result_so_far(search, start_time);
}

SearchResult Searcher::search(const State& state, const SearchConfig& config, Host& host,
                              const RootMoves& moves) {
  const Busy busy(*this, "search");
  const Clock::time_point start_time = Clock::now();
  const GoesOn goes_on = until_due(config, start_time, host, stop_);
  check(state, config);
  std::vector<ActionId> only = considered_moves(state, moves);
  limit_memory(config);
  pipeline_for(config).prepare(config, 1);
  const bool fits = shares_trees(grown_by_, config.algorithm) && only == only_;
  if (!keeps_tree(config) || !fits || !continues(state) || !has_graph_of(config) ||
      !has_sums_for(state, config)) {
    start_tree(state, config, goes_on);
    only_ = std::move(only);
  } else if (tree_->nodes() == 1) {  // advanced to a move without a child
    make_room(goes_on);
  }
  grown_by_ = config.algorithm;
  // The available memory and the node count are then the same in every run.
  if (config.deterministic) wait_for_background(goes_on);
  TreeSearch search(*tree_, *root_, config, budget_of(config), searches_++, *bound_);
  if (config.deterministic) search.use_own_allocator();
  search.restrict_root(only_);
  TreeSearch* const one[] = {&search};
  current_ = {&search, start_time};
  const RunEnd end = run(one, config, start_time, host);
  SearchResult result = final_result(search, start_time);
  result.stop_reason = reason_of(search, end);
  return result;
}

/// Called at the end of a call that keeps no tree: workers still hold the last arena.
struct Searcher::MemoryGoesBack {
  Searcher& owner;
  ~MemoryGoesBack() {
    if (owner.pipeline_) owner.pipeline_->release_memory();
  }
};

/// Creates trees in one arena. Deterministic searches get equal shares: otherwise the order of
/// their allocations would decide which tree runs out of memory.
std::vector<std::unique_ptr<Tree>> Searcher::make_trees(std::size_t count,
                                                        const SearchConfig& config,
                                                        const GoesOn& goes_on) {
  if (pipeline_) pipeline_->release_memory();
  config.deterministic ? wait_for_background(goes_on) : make_room(goes_on);
  if (pool_->available() < pool_->limit_chunks() / 2) drop_tree();
  std::vector<std::unique_ptr<Tree>> trees;
  if (!config.deterministic) {
    const auto arena = std::make_shared<Arena>(pool_);
    while (trees.size() < count) trees.push_back(std::make_unique<Tree>(arena));
    return trees;
  }
  const auto pieces = std::make_shared<PiecePool>(pool_, share_units(*game_));
  const std::size_t share = pieces->available() / count;
  if (share == 0) {
    throw ConfigError("memory_limit: expected room for " + std::to_string(count) +
                      " trees of at least " + std::to_string(pieces->bytes()) +
                      " bytes each, because deterministic=True reserves equal shares, got " +
                      "room for " + std::to_string(pieces->available()) + " under " +
                      std::to_string(config.memory_limit) + " bytes");
  }
  while (trees.size() < count) {
    trees.push_back(std::make_unique<Tree>(std::make_shared<Arena>(pieces, share)));
  }
  return trees;
}

std::vector<SearchResult> Searcher::search_many(std::span<const State* const> states,
                                                const SearchConfig& config, Host& host) {
  const Busy busy(*this, "search_many");
  const Clock::time_point start_time = Clock::now();
  validate(config);
  for (const State* state : states) check(*state, config);
  std::vector<SearchResult> results;
  if (states.empty()) return results;
  limit_memory(config);
  pipeline_for(config).prepare(config, states.size());
  const MemoryGoesBack afterwards{*this};
  const std::vector<std::unique_ptr<Tree>> trees =
      make_trees(states.size(), config, until_due(config, start_time, host, stop_));
  std::vector<std::unique_ptr<TreeSearch>> searches;
  std::vector<TreeSearch*> running;
  for (std::size_t i = 0; i < states.size(); ++i) {
    prepare_tree(*trees[i], config, *game_);
    searches.push_back(std::make_unique<TreeSearch>(*trees[i], *states[i], config,
                                                    budget_of(config), searches_++, *bound_));
    if (config.deterministic) searches.back()->use_own_allocator();
    running.push_back(searches.back().get());
  }
  // Each result is read by the worker that finishes the search: the nodes are in that core's cache.
  results.resize(searches.size());
  std::vector<char> read(searches.size(), 0);  // each written by one worker
  const std::uint64_t first = searches.front()->stream();
  WhereTheyEnd reader([&](const TreeSearch& search) {
    const std::uint64_t place = search.stream() - first;
    results[place] = final_result(search, start_time);
    read[place] = 1;
  });
  // With a single tree, no worker knows that it is the last one.
  const RunEnd end =
      run(running, config, start_time, host, searches.size() > 1 ? &reader : nullptr);
  for (std::size_t i = 0; i < searches.size(); ++i) {
    if (read[i] == 0) results[i] = final_result(*searches[i], start_time);
    results[i].stop_reason = reason_of(*searches[i], end);
  }
  return results;
}

SearchResult Searcher::progress() const {
  // The edges may be incomplete, and noise may still reorder them.
  if (current_.search == nullptr || !current_.search->root_ready()) return {};
  return result_so_far(*current_.search, current_.start_time);
}

void Searcher::advance(Action action) {
  const Busy busy(*this, "advance");
  if (!root_) throw ConfigError("advance: there is no tree yet; search a state first");
  State next = *root_;
  next.apply_action(action);
  const std::lock_guard lock(mutex_);
  if (!tree_->advance(static_cast<ActionId>(action))) {
    tree_ = std::make_unique<Tree>(pool_);
    if (pipeline_) pipeline_->release_memory();
  }
  root_.emplace(std::move(next));
  only_.clear();
  advanced_ = true;
}

NodeNumbers Searcher::numbers(std::span<const Action> path, const SearchConfig& config) {
  const Busy busy(*this, "explain");
  if (!root_) throw ConfigError("explain: there is no tree yet; search a state first");
  State state = *root_;
  const Node* node = &tree_->root();
  for (const Action action : path) {
    state.apply_action(action);
    if (node != nullptr) node = child_of_action(*tree_, tree_->position_of(*node), action);
  }
  const Node* position = node == nullptr ? nullptr : &tree_->position_of(*node);
  if (position == nullptr ||
      position->state.load(std::memory_order_acquire) != NodeState::expanded) {
    throw EngineError("path: expected moves to an evaluated position of the tree");
  }
  return numbers_of(*tree_, *position, config);
}

std::vector<TreeNode> Searcher::nodes(std::size_t most, const SearchConfig& config) {
  const Busy busy(*this, "tree");
  if (!root_) return {};
  std::vector<TreeNode> nodes = most_visited(*tree_, config.solver, most);
  if (!only_.empty()) nodes.front().proven = TreeNode::kNotProven;  // it holds for some moves only
  return nodes;
}

void Searcher::clear() {
  const Busy busy(*this, "clear");
  drop_tree();
  clear_cache_of(*bound_);
}

void Searcher::stop() noexcept {
  if (process_ != process_id()) return;
  const std::lock_guard lock(mutex_);
  if (busy_) stop_.store(true, std::memory_order_relaxed);
}

SearchStats Searcher::stats() const {
  check_alive();
  const std::lock_guard lock(mutex_);
  const EvaluatorStats evaluated = stats_of(*bound_);
  SearchStats stats = done_;
  for (const TreeSearch* search : running_) Running::add_to(stats, *search);
  stats.batches = evaluated.batches;
  stats.padding = evaluated.padding;
  stats.cache_hits = evaluated.cache_hits;
  stats.bytes = pool_->bytes() + evaluated.cache_bytes + (pipeline_ ? pipeline_->batch_bytes() : 0);
  stats.refusals = pool_->refusals();
  stats.provider = evaluator_->provider();
  const std::uint64_t waited = old_waited_ns_ + (pipeline_ ? pipeline_->waited_ns() : 0);
  stats.waiting_seconds = static_cast<double>(waited) * 1e-9;
  stats.scheduler = old_scheduler_;
  if (pipeline_) stats.scheduler += pipeline_->counters();
  stats.nodes = tree_ ? tree_->nodes() : 0;
  return stats;
}

}  // namespace pyengine
