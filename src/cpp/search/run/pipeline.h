/// Gather -> evaluate -> back up, by a team of threads on one or many trees.
///
/// Leaves in flight are data, not threads: a worker fills an open batch, and a batch is evaluated
/// only when it is full or nothing can be added to it.
///
///        partial ──gather──▶ ready ──evaluate──▶ evaluated ──complete──▶ free
///           ▲                                                             │
///           └─────────────────────────────────────────────────────────────┘
///
/// On a CPU the worker that fills a batch evaluates it, so that all cores are busy without handing
/// batches over. Dedicated threads feed a device, so that gathering overlaps evaluation. A Python
/// callable is only called on the thread that called run(), so that Ctrl-C reaches it.
///
///   worker:  ┌─▶ next(task) ── one pass through the mutex: settle the last task, choose one    ─┐
///            └── perform(task) ◀── without the mutex: gather, evaluate, complete, hand over ◀───┘
///
/// Three parts hold the state of a run, each with its own invariant: Searches (which search is
/// next, what follows a finished one), Slots (where each batch is) and Team (which threads work or
/// sleep). Only the pipeline knows all three: it decides what a worker does next.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/memory.h"
#include "eval/abilities.h"
#include "search/run/plan.h"
#include "search/run/searches.h"
#include "search/run/slots.h"
#include "search/run/team.h"
#include "search/run/tree_search.h"
#include "search/run/watch.h"

namespace pyengine {

/// Decides what follows a search that has spent its budget while others still run.
class Succession {
 public:
  Succession() = default;
  Succession(const Succession&) = delete;
  Succession& operator=(const Succession&) = delete;
  virtual ~Succession() = default;
  /// Called once for each search that has spent its budget, by the first worker that notices; not
  /// for searches that are unfinished when the run ends early. Returns whether another search takes
  /// its place.
  virtual bool ended(TreeSearch& search) = 0;
  /// Called after ended() returned true: starts the next search in this object. No other thread
  /// accesses it meanwhile.
  virtual void restart(TreeSearch& search) = 0;
};

struct RunOptions {
  int workers = 1;       ///< threads, including the calling one
  bool foreign = false;  ///< a user-defined game: walks run on the calling thread only
  std::optional<Clock::time_point> deadline;
  const std::atomic<bool>* stop = nullptr;  ///< set from any thread to end the run; required
  Succession* succession = nullptr;
};

/// Cost of synchronization, summed over all runs.
struct SchedulerCounters {
  std::uint64_t passes = 0;            ///< acquisitions of the mutex
  std::uint64_t wake_ups = 0;          ///< of sleeping threads
  std::uint64_t queue_operations = 0;  ///< insertions and removals, of searches and slots

  SchedulerCounters& operator+=(const SchedulerCounters& more) noexcept {
    passes += more.passes;
    wake_ups += more.wake_ups;
    queue_operations += more.queue_operations;
    return *this;
  }
};

struct Hand;
struct Task;

class Pipeline {
 public:
  /// Batches allocate their memory within the limit of `pool`.
  Pipeline(BoundEvaluator& evaluator, int batch_rows, std::shared_ptr<ChunkPool> pool);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline();

  /// Must be called before each run. Derives the number of batches from the configuration and the
  /// number of searches, and reserves their memory in the pool: at most a quarter of its limit, or
  /// one batch. Throws ConfigError if one batch and a tree exceed the limit.
  void prepare(const SearchConfig& config, std::size_t searches);
  /// Searches all trees, which share an arena, until each has spent its budget. Rethrows the first
  /// failure after all marks are removed, so the trees stay valid.
  RunEnd run(std::span<TreeSearch* const> searches, const RunOptions& options, Host& host);

  /// Releases the memory of the trees searched last. Must not be called during a run.
  void release_memory();

  [[nodiscard]] int batch_rows() const noexcept { return batch_rows_; }
  /// Bytes allocated for batches.
  [[nodiscard]] std::uint64_t batch_bytes() const noexcept {
    return batch_bytes_.load(std::memory_order_relaxed);
  }
  /// Nanoseconds in which workers waited for evaluations, summed over all runs.
  [[nodiscard]] std::uint64_t waited_ns() const noexcept { return team_.slept_ns(); }
  [[nodiscard]] SchedulerCounters counters();

 private:
  using Searches = SearchesOf<TreeSearch>;
  using Pass = Team::Pass;

  // --- the run (pipeline.cpp)
  struct RunPlan {
    int workers = 1;
    TurnPlan plan;
  };
  [[nodiscard]] RunPlan plan_run(std::span<TreeSearch* const> searches, const RunOptions& options);
  void hire(int workers);
  void begin_run(std::span<TreeSearch* const> searches, const RunOptions& options,
                 const RunPlan& planned);
  bool work(std::size_t index);
  void feed_device();
  void add_hand(bool caller);
  void look_after_host(Hand& hand, Task& task);
  [[nodiscard]] bool goes_on_at_leaf() noexcept;
  void end_early(RunEnd end);
  void poll_host() noexcept;
  void fail(std::exception_ptr error) noexcept;
  void fail_unless_interrupted() noexcept;

  // --- one pass (passes.cpp): under the mutex
  void next(Hand& hand, Task& task);
  void settle(Hand& hand, Task& task) noexcept;
  void settle_leaves(Hand& hand, Task& task) noexcept;
  static void hold_if(bool finished, Hand& hand, Place& place) noexcept;
  [[nodiscard]] bool choose(Hand& hand, Task& task) noexcept;
  [[nodiscard]] bool choose_gather(Hand& hand, Task& task) noexcept;
  [[nodiscard]] bool send_partial(Slot& slot, Task& task) noexcept;
  void wake_for_rest() noexcept;
  [[nodiscard]] bool work_for(bool caller) const noexcept;
  [[nodiscard]] bool evaluates(bool caller) const noexcept;
  [[nodiscard]] bool gathers(bool caller) const noexcept;

  // --- tasks (tasks.cpp): without the mutex, except to take another slot
  void perform(Hand& hand, Task& task) noexcept;
  void gather(Hand& hand, Task& task) noexcept;
  void gather_turn(Hand& hand, Place& place, Task& task);
  void gather_round(Hand& hand, Task& task) noexcept;
  [[nodiscard]] Turn turn_of(const Hand& hand, int leaves,
                             std::uint64_t simulations) const noexcept;
  bool gather_into(Hand& hand, Place& place, Slot& slot, const Turn& turn);
  [[nodiscard]] bool full(const Slot& slot, const TreeSearch& search) const noexcept;
  void fill(Slot& slot) noexcept;
  void evaluate(Slot& slot, const std::function<bool()>& goes_on) noexcept;
  void complete(Hand& hand, Task& task) noexcept;
  void complete_leaves(Hand& hand, Slot& slot) noexcept;
  void review_early(Hand& hand, Place& place);
  void hand_over(Task& task) noexcept;
  Slot* exchange(Slot* full);
  Slot* make_slot();

  BoundEvaluator& evaluator_;
  RowFiller* const filler_;  ///< of the evaluator; nullptr if it has none
  const EvaluatorTraits traits_;
  const int batch_rows_;
  std::uint64_t slot_bytes_ = 0;           ///< bytes of one slot's batch
  const std::shared_ptr<ChunkPool> pool_;  ///< provides the memory of slots
  std::atomic<std::uint64_t> batch_bytes_{0};

  Team team_;  ///< its mutex guards the next three members and `error_`
  Slots slots_;
  Searches searches_;
  std::exception_ptr error_;
  std::vector<std::unique_ptr<Hand>> hands_;  ///< [0] belongs to the calling thread

  // --- state of the current run
  RunOptions options_;
  TurnPlan plan_;
  std::optional<Watch> watch_;       ///< used by the calling thread
  RunEnd end_ = RunEnd::completed;   ///< written by the calling thread
  std::atomic<bool> ending_{false};  ///< stop, deadline or failure: nothing new begins
  /// Set as soon as a stop or deadline is noticed. The run continues until each root has moves, but
  /// long evaluations are cut short.
  std::atomic<bool> hurrying_{false};
  std::atomic<bool> evaluated_{false};  ///< a batch of this run is or was evaluated
  /// Turn::goes_on of the threads that do not poll the host.
  const std::function<bool()> not_hurrying_ = [this] {
    return !hurrying_.load(std::memory_order_relaxed);
  };
};

}  // namespace pyengine
