/// Gather -> evaluate -> back up, by a team of threads over one or many trees.
///
/// Leaves in flight are data, not threads: a worker fills an open batch, and only a full batch (or
/// one that nothing can be added to) is evaluated.
///
///        partial ──gather──▶ ready ──evaluate──▶ evaluated ──complete──▶ free
///           ▲                                                             │
///           └─────────────────────────────────────────────────────────────┘
///
/// On a CPU the worker that fills a batch evaluates it: no hand-over, all cores busy. A device is
/// fed by threads of its own, so that gathering overlaps evaluating. A Python callable is called on
/// the thread that called run() and nowhere else, so that Ctrl-C reaches it.
///
/// Nothing is gathered while a device or a callable has what it can take (Ahead): leaves in flight
/// are spread over the trees first, and trees are deepened only where they are too few.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/memory.h"
#include "search/run/search_queue.h"
#include "search/run/tree_search.h"

namespace pyengine {

/// The caller's side of a run. poll() is called on the calling thread every 5 ms or so, but not
/// while that thread is inside an evaluation; false stops the run. It may throw: the run stops and
/// the exception is passed on.
class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;
  virtual bool poll() = 0;
};

using Clock = std::chrono::steady_clock;

/// What becomes of trees that have their budget while others are still searched.
class Succession {
 public:
  Succession() = default;
  Succession(const Succession&) = delete;
  Succession& operator=(const Succession&) = delete;
  virtual ~Succession() = default;
  /// Called once for a search that has its budget, by the worker that sees it first; not for those
  /// that are open when the run ends early. Whether another search follows in its place.
  virtual bool ended(TreeSearch& search) = 0;
  /// After ended() said so: makes the next search where this one is. Nobody else looks at it
  /// meanwhile.
  virtual void restart(TreeSearch& search) = 0;
};

struct RunOptions {
  int workers = 1;       ///< threads, the calling one included
  bool foreign = false;  ///< a user's game: walks on the calling thread only
  std::optional<Clock::time_point> deadline;
  const std::atomic<bool>* stop = nullptr;  ///< set from any thread to end the run soon; required
  Succession* succession = nullptr;
};

/// Why a run ended before its budgets.
enum class RunEnd : std::uint8_t { completed, deadline, stopped };

/// How far gathering may run ahead of evaluating.
struct Ahead {
  int ready;  ///< batches: with so many waiting nothing is gathered
  /// Batches: with so many waiting or in evaluation no busy search is deepened, where searches are
  /// many and where they are few.
  int busy_many;
  int busy_few;
  int gatherers;  ///< workers at once
};

class Pipeline {
 public:
  /// Batches take their memory within the limit of `pool`.
  Pipeline(BoundEvaluator& evaluator, int batch_rows, std::shared_ptr<ChunkPool> pool);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline();

  /// Before each run: plans how many batches it has, by its configuration and the number of
  /// searches alone, and reserves their memory in the pool: a quarter of its limit at most, or one
  /// batch. Throws ConfigError where one batch and a tree are too much.
  void prepare(const SearchConfig& config, std::size_t searches);
  /// Searches all trees, which share an arena, until each has its budget. Rethrows the first
  /// failure, with every mark taken back: the trees are as good as before.
  RunEnd run(std::span<TreeSearch* const> searches, const RunOptions& options, Host& host);

  /// Lets go of the memory of the trees searched last; not during a run.
  void release_memory();

  [[nodiscard]] int batch_rows() const noexcept { return batch_rows_; }
  /// Memory of the batches that there are.
  [[nodiscard]] std::uint64_t batch_bytes() const noexcept {
    return batch_bytes_.load(std::memory_order_relaxed);
  }
  /// Nanoseconds that workers had nothing to do but wait for evaluations, over all runs.
  [[nodiscard]] std::uint64_t waited_ns() const noexcept {
    return waited_ns_.load(std::memory_order_relaxed);
  }

 private:
  // --- threads
  void begin_run(std::span<TreeSearch* const> searches, const RunOptions& options, Host& host,
                 int workers);
  void plan_turns(const SearchConfig& config, int searches, int workers);
  void start_threads(int workers);
  void worker_thread(std::size_t index);
  void device_thread();
  static void prepare_worker(Worker& worker, const TreeSearch& first);
  void work(Worker& worker, bool caller);
  bool step(Worker& worker, bool caller);
  void poll();
  [[nodiscard]] bool end_early(RunEnd end);

  // --- stages; each takes and gives slots under the mutex
  bool step_evaluate(Worker& worker, bool caller);
  bool step_complete(Worker& worker);
  bool step_gather(Worker& worker, bool caller);
  bool close_partial();
  void close_forgotten();
  [[nodiscard]] bool will_grow() const noexcept;
  void close(Slot& slot) noexcept;
  void gather_turns(Worker& worker, Slot* slot);
  void gather_turn(Worker& worker, TreeSearch& search, Slot*& slot);
  void gather_round(Worker& worker, Place& place);
  void evaluate(Slot& slot) noexcept;
  void conclude(Slot& slot) noexcept;
  void complete(Worker& worker, Slot& slot) noexcept;
  void complete_leaves(Worker& worker, Slot& slot) noexcept;
  void finish_round(Worker& worker, Place& place) noexcept;
  void cancel_waiting(Worker& worker) noexcept;
  bool call_gather(Worker& worker, TreeSearch& search, Slot& slot, const Turn& turn);
  [[nodiscard]] bool full(const TreeSearch& search, const Slot& slot) const noexcept;

  // --- searches; under the mutex unless they take it
  [[nodiscard]] bool open(const Place& place) const noexcept;
  void queue(Place& place) noexcept;
  [[nodiscard]] bool may_gather(Load load, int others) const noexcept;
  void wake_gatherer() noexcept;
  [[nodiscard]] Place* enter(Worker& worker, Place& place) noexcept;
  [[nodiscard]] Place* enter_next(Worker& worker, int others) noexcept;
  [[nodiscard]] Place* begin_gathering(Worker& worker, Slot*& slot) noexcept;
  bool pass_on(Worker& worker, Place& left, Place** next) noexcept;
  [[nodiscard]] bool over() noexcept;
  [[nodiscard]] bool look_after(Place& place) noexcept;
  void tell_of(Place& place) noexcept;
  void tell_of_leaves(const Slot& slot) noexcept;
  void hand_over(Place& place) noexcept;
  [[nodiscard]] bool decide_what_follows(Place& place);
  [[nodiscard]] bool hands_over() const noexcept;

  // --- slots
  [[nodiscard]] bool evaluates(bool caller) const noexcept;
  [[nodiscard]] Slot* idle_slot() noexcept;
  [[nodiscard]] int wanted_slots(const SearchConfig& config, int searches) const noexcept;
  [[nodiscard]] int free_slots() const noexcept;
  Slot* take_slot();
  Slot* make_slot();
  void put_back(Slot* slot) noexcept;
  void release(Slot& slot) noexcept;

  // --- news
  void fail(std::exception_ptr error) noexcept;
  void signal() noexcept;
  void wake_one() noexcept;
  void wake_all() noexcept;
  void wait(std::uint64_t seen, bool caller);

  BoundEvaluator& evaluator_;
  const EvaluatorTraits traits_;
  const int batch_rows_;
  const Ahead ahead_;
  std::uint64_t slot_bytes_ = 0;           ///< of one slot's batch
  const std::shared_ptr<ChunkPool> pool_;  ///< pays for slots

  std::mutex mutex_;                 ///< guards the queues, `slots_`, `error_` and the sleep
  std::condition_variable changed_;  ///< workers wait for it, but for the calling thread
  std::condition_variable called_;   ///< the calling thread waits for it
  std::condition_variable served_;   ///< a batch is ready for a device's thread
  std::condition_variable ended_;    ///< a worker has left the run
  std::vector<std::unique_ptr<Slot>> slots_;
  int slots_begun_ = 0;  ///< those and the ones that are being made
  int most_slots_ = 1;   ///< of the run
  int round_slots_ = 1;  ///< most of a round of a deterministic search
  SlotList free_;
  SlotList partial_;
  SlotList ready_;
  SlotList evaluated_;
  int evaluating_ = 0;          ///< batches inside evaluate()
  int gathering_ = 0;           ///< workers between begin_gathering() and put_back()
  int completing_ = 0;          ///< workers with an evaluated batch
  std::uint64_t events_ = 0;    ///< counts what a sleeping worker may have to act on
  int sleepers_ = 0;            ///< workers in wait(), but for the calling thread
  bool caller_sleeps_ = false;  ///< in wait()
  std::exception_ptr error_;

  // --- of the run under way
  std::unique_ptr<Place[]> places_;
  int num_places_ = 0;
  int unfinished_ = 0;  ///< places that over() has to look at yet
  SearchQueue queue_;
  RunOptions options_;
  Sharing sharing_ = Sharing::shared;
  int most_gatherers_ = 1;  ///< of one tree
  int batch_leaves_ = 1;    ///< with which a batch goes
  int turn_leaves_ = 1;
  int visits_ = 1;     ///< searches that a worker gathers from with one slot
  bool many_ = false;  ///< searches: enough for two batches with a leaf of each
  bool use_cache_ = false;
  bool finishes_trees_ = false;  ///< a worker goes on with its tree as long as it can
  Host* host_ = nullptr;
  Clock::time_point last_poll_;
  bool host_stops_ = false;
  std::atomic<bool> ending_{false};            ///< stop, deadline or failure: nothing new is begun
  std::atomic<bool> closing_searches_{false};  ///< they end before their budgets
  RunEnd end_ = RunEnd::completed;

  // --- threads, kept between runs
  std::vector<std::unique_ptr<Worker>> workers_;  ///< [0] is the calling thread's
  std::vector<std::thread> threads_;
  std::vector<std::thread> device_threads_;
  std::condition_variable start_;
  std::uint64_t run_number_ = 0;
  int active_ = 0;   ///< pool threads to take part in the run
  int working_ = 0;  ///< pool threads still in it
  bool running_ = false;
  bool closing_ = false;
  std::atomic<std::uint64_t> waited_ns_{0};
  std::atomic<std::uint64_t> batch_bytes_{0};
};

}  // namespace pyengine
