/// A search that keeps its tree from call to call: what Python calls an Engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/evaluator.h"
#include "games/any/state.h"
#include "search/config.h"
#include "search/result.h"
#include "search/run/pipeline.h"

namespace pyengine {

/// Counters since the engine was made.
struct SearchStats {
  std::uint64_t simulations = 0;
  std::uint64_t evaluations = 0;  ///< rows evaluated
  std::uint64_t batches = 0;
  std::uint64_t padding = 0;  ///< rows
  std::uint64_t cache_hits = 0;
  std::uint64_t collisions = 0;
  std::uint64_t nodes = 0;       ///< in the tree now
  std::uint64_t bytes = 0;       ///< memory held for trees and cache
  std::uint64_t refusals = 0;    ///< of memory: a node stayed without children
  double waiting_seconds = 0.0;  ///< of workers with nothing to do but wait for evaluations
  SchedulerCounters scheduler;
  std::string provider;
};

class Searcher {
 public:
  /// Throws ConfigError for the configuration, ModelError when the evaluator does not fit the game.
  Searcher(std::shared_ptr<const AnyGame> game, std::shared_ptr<Evaluator> evaluator,
           const SearchConfig& config);
  Searcher(const Searcher&) = delete;
  Searcher& operator=(const Searcher&) = delete;
  ~Searcher();

  [[nodiscard]] const SearchConfig& config() const noexcept { return config_; }
  [[nodiscard]] const std::shared_ptr<const AnyGame>& game() const noexcept { return game_; }

  /// Searches with `config` for this call. Throws ConfigError for a terminal state or one of
  /// another game and for a memory limit that the cache fills, EngineError while another search
  /// runs, and what the evaluator or the host threw; the tree is then as good as before.
  SearchResult search(const State& state, const SearchConfig& config, Host& host);
  /// Searches each state with a fresh tree; one evaluator, shared batches. Budgets are per state.
  /// The engine's own tree stays, unless it holds most of the memory. Deterministic trees have a
  /// share of the memory each; ConfigError where there are too many for that.
  std::vector<SearchResult> search_many(std::span<const State* const> states,
                                        const SearchConfig& config, Host& host);
  /// The result so far of the search under way, without moves before its root has some; for
  /// Host::poll() on the calling thread.
  [[nodiscard]] SearchResult progress() const;

  /// Re-roots the tree: the child's subtree stays, the rest is dropped in the background. Throws
  /// ConfigError without a tree, IllegalActionError for an action that is not legal at the root.
  void advance(Action action);
  /// Drops tree and cache; blocks for less than a millisecond whatever their size.
  void clear();
  /// Ends the search under way soon; from any thread.
  void stop() noexcept;
  [[nodiscard]] SearchStats stats() const;
  /// What the engine keeps of a state; null where there is no tree. Not while a search runs.
  [[nodiscard]] const State* root() const noexcept { return root_ ? &*root_ : nullptr; }
  /// The tree as the last search left it, or nullptr. For tests; not while a search runs.
  [[nodiscard]] const Tree* tree() const noexcept { return tree_.get(); }

 private:
  class Busy;
  class Running;
  struct MemoryGoesBack;
  /// Whether a call that waits for memory goes on: no deadline, stop or signal has come.
  using GoesOn = std::function<bool()>;
  struct Current {  ///< the search under way, for progress()
    const TreeSearch* search = nullptr;
    Clock::time_point begun;
  };

  void check(const State& state, const SearchConfig& config) const;
  void check_alive() const;
  [[nodiscard]] bool continues(const State& state) const;
  void start_tree(const State& state, const GoesOn& goes_on);
  void drop_tree();
  void limit_memory(const SearchConfig& config);
  void make_room(const GoesOn& goes_on);
  [[nodiscard]] std::vector<std::unique_ptr<Tree>> make_trees(std::size_t count,
                                                              const SearchConfig& config,
                                                              const GoesOn& goes_on);
  Pipeline& pipeline_for(const SearchConfig& config);
  RunEnd run(std::span<TreeSearch* const> searches, const SearchConfig& config,
             Clock::time_point begun, Host& host, Succession* succession = nullptr);
  SearchResult result_of(const TreeSearch& search, Clock::time_point begun, bool keep_tree) const;

  const std::shared_ptr<const AnyGame> game_;
  const std::shared_ptr<Evaluator> evaluator_;
  const SearchConfig config_;
  const long process_;  ///< that made this object
  std::unique_ptr<BoundEvaluator> bound_;
  std::shared_ptr<ChunkPool> pool_;
  std::unique_ptr<Pipeline> pipeline_;

  bool busy_ = false;              ///< one search, advance or clear is under way
  std::atomic<bool> stop_{false};  ///< the one under way is to end; set from its very beginning
  std::unique_ptr<Tree> tree_;
  std::optional<State> root_;             ///< of tree_
  bool advanced_ = false;                 ///< root_ comes of advance()
  Algorithm grown_by_ = Algorithm::puct;  ///< rule of the last search of tree_
  std::uint64_t searches_ = 0;            ///< so far: each has random numbers of its own
  Current current_;

  /// Guards busy_, pipeline_, tree_, running_ and done_ against stats() and stop(). Under it a
  /// user's state may be dropped, which takes the interpreter's lock: nobody may hold that and wait
  /// for this.
  mutable std::mutex stats_mutex_;
  std::vector<const TreeSearch*> running_;
  SearchStats done_;                             ///< counters of searches that have ended
  std::atomic<std::uint64_t> old_waited_ns_{0};  ///< of pipelines that were replaced
  SchedulerCounters old_scheduler_;              ///< likewise
};

}  // namespace pyengine
