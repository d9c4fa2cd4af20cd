/// A search that keeps its tree between calls: the Engine of the Python package.
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

/// Counters since construction.
struct SearchStats {
  std::uint64_t simulations = 0;
  std::uint64_t evaluations = 0;  ///< rows evaluated
  std::uint64_t batches = 0;
  std::uint64_t padding = 0;  ///< rows
  std::uint64_t cache_hits = 0;
  std::uint64_t collisions = 0;
  std::uint64_t nodes = 0;       ///< currently in the tree
  std::uint64_t bytes = 0;       ///< memory held for trees and cache
  std::uint64_t refusals = 0;    ///< failed allocations: a node stayed without children
  double waiting_seconds = 0.0;  ///< total time workers spent waiting
  SchedulerCounters scheduler;
  std::string provider;
};

class Searcher {
 public:
  /// Throws ConfigError for an invalid configuration and ModelError if the evaluator does not fit
  /// the game.
  Searcher(std::shared_ptr<const AnyGame> game, std::shared_ptr<Evaluator> evaluator,
           const SearchConfig& config);
  Searcher(const Searcher&) = delete;
  Searcher& operator=(const Searcher&) = delete;
  ~Searcher();

  [[nodiscard]] const SearchConfig& config() const noexcept { return config_; }
  [[nodiscard]] const std::shared_ptr<const AnyGame>& game() const noexcept { return game_; }

  /// Searches with `config` for this call. Throws ConfigError for a terminal state, a state of
  /// another game, or a memory limit that the cache fills, and EngineError while another search
  /// runs. Rethrows exceptions of the evaluator and the host; the tree stays valid.
  /// `moves`: the root moves to search. A tree is continued only with the same ones, and what it
  /// proves is not reported as the position's value.
  SearchResult search(const State& state, const SearchConfig& config, Host& host,
                      const RootMoves& moves = {});
  /// Searches each state with a fresh tree; all share one evaluator and its batches. Budgets are
  /// per state. The engine's tree is kept unless it holds most of the memory. Deterministic trees
  /// get equal shares of the memory; throws ConfigError if there are too many of them.
  std::vector<SearchResult> search_many(std::span<const State* const> states,
                                        const SearchConfig& config, Host& host);
  /// The current result of the running search, without moves until its root has some. For
  /// Host::poll() on the calling thread.
  [[nodiscard]] SearchResult progress() const;

  /// Moves the root to a child: its subtree is kept, the rest is freed in the background. Throws
  /// ConfigError without a tree and IllegalActionError for an action that is illegal at the root.
  void advance(Action action);
  /// The numbers of the tree's node after the moves of `path`, with which a search with `config`
  /// chooses there. Throws ConfigError without a tree, IllegalActionError for an illegal move, and
  /// EngineError for a node that is not in the tree.
  NodeNumbers numbers(std::span<const Action> path, const SearchConfig& config);
  /// The most visited nodes of the tree, at most `most`; none without a tree.
  std::vector<TreeNode> nodes(std::size_t most, const SearchConfig& config);
  /// Drops tree and cache; takes less than a millisecond whatever their size.
  void clear();
  /// Ends the running search soon. Callable from any thread.
  void stop() noexcept;
  [[nodiscard]] SearchStats stats() const;
  /// The state of the tree's root; nullptr without a tree. Must not be called during a search.
  [[nodiscard]] const State* root() const noexcept { return root_ ? &*root_ : nullptr; }
  /// The tree after the last search, or nullptr. For tests; must not be called during a search.
  [[nodiscard]] const Tree* tree() const noexcept { return tree_.get(); }

 private:
  class Busy;
  class Running;
  struct MemoryGoesBack;
  /// Whether a call that waits for memory should continue: no deadline, stop or signal occurred.
  using GoesOn = std::function<bool()>;
  struct Current {  ///< the running search, for progress()
    const TreeSearch* search = nullptr;
    Clock::time_point start_time;
  };

  void check(const State& state, const SearchConfig& config) const;
  void check_alive() const;
  [[nodiscard]] bool continues(const State& state) const;
  [[nodiscard]] bool has_graph_of(const SearchConfig& config) const;
  [[nodiscard]] bool has_sums_for(const State& state, const SearchConfig& config) const;
  void start_tree(const State& state, const SearchConfig& config, const GoesOn& goes_on);
  void drop_tree();
  void limit_memory(const SearchConfig& config);
  void make_room(const GoesOn& goes_on);
  [[nodiscard]] std::vector<std::unique_ptr<Tree>> make_trees(std::size_t count,
                                                              const SearchConfig& config,
                                                              const GoesOn& goes_on);
  Pipeline& pipeline_for(const SearchConfig& config);
  RunEnd run(std::span<TreeSearch* const> searches, const SearchConfig& config,
             Clock::time_point start_time, Host& host, Succession* succession = nullptr);
  SearchResult result_so_far(const TreeSearch& search, Clock::time_point start_time) const;
  SearchResult final_result(const TreeSearch& search, Clock::time_point start_time) const;

  const std::shared_ptr<const AnyGame> game_;
  const std::shared_ptr<Evaluator> evaluator_;
  const SearchConfig config_;
  const long process_;  ///< id of the creating process
  std::unique_ptr<BoundEvaluator> bound_;
  std::shared_ptr<ChunkPool> pool_;
  std::unique_ptr<Pipeline> pipeline_;

  bool busy_ = false;              ///< a search, advance or clear is running
  std::atomic<bool> stop_{false};  ///< the running search should end; set from its very beginning
  std::unique_ptr<Tree> tree_;
  std::optional<State> root_;             ///< state at the root of tree_
  std::vector<ActionId> only_;            ///< the root moves of tree_, unless they are all
  bool advanced_ = false;                 ///< root_ was set by advance()
  Algorithm grown_by_ = Algorithm::puct;  ///< algorithm of the last search of tree_
  std::uint64_t searches_ = 0;  ///< number of searches so far: each has separate random streams
  Current current_;             ///< used only by the thread that called search()

  /// Guards busy_, pipeline_, tree_, running_ and done_ against stats() and stop(). A user's state
  /// may be destroyed under it, which needs the GIL: a thread that holds the GIL must not wait for
  /// this mutex.
  mutable std::mutex mutex_;
  std::vector<const TreeSearch*> running_;
  SearchStats done_;                             ///< counters of searches that have ended
  std::atomic<std::uint64_t> old_waited_ns_{0};  ///< total of replaced pipelines
  SchedulerCounters old_scheduler_;              ///< total of replaced pipelines
};

}  // namespace pyengine
