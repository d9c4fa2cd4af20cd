/// Gather -> evaluate -> back up, by a team of threads over one or many trees.
///
/// Leaves in flight are data, not threads: a worker fills an open batch, and only a full batch (or
/// one that nothing can be added to) is judged.
///
///        partial ──gather──▶ ready ──evaluate──▶ judged ──complete──▶ free
///           ▲                                                          │
///           └──────────────────────────────────────────────────────────┘
///
/// On a CPU the worker that fills a batch judges it: no hand-over, all cores busy. A device is fed
/// by threads of its own, so that gathering overlaps evaluating. A Python callable is called on the
/// thread that called run() and nowhere else, so that Ctrl-C reaches it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "search/tree_search.h"

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
  /// After ended() said so: makes the next search where this one is. Nobody looks at it meanwhile;
  /// the others wait, so it is to be short.
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

class Pipeline {
 public:
  Pipeline(BoundEvaluator& evaluator, int batch_rows);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline();

  /// Searches all trees, which share an arena, until each has its budget. Rethrows the first
  /// failure, with every mark taken back: the trees are as good as before.
  RunEnd run(std::span<TreeSearch* const> searches, const RunOptions& options, Host& host);

  /// Lets go of the memory of the trees searched last; not during a run.
  void release_memory();

  [[nodiscard]] int batch_rows() const noexcept { return batch_rows_; }
  /// Nanoseconds that workers had nothing to do but wait for judgements, over all runs.
  [[nodiscard]] std::uint64_t waited_ns() const noexcept {
    return waited_ns_.load(std::memory_order_relaxed);
  }

 private:
  // --- threads
  void start_threads(int workers);
  void worker_thread(std::size_t index);
  void device_thread();
  static void prepare_worker(Worker& worker, const TreeSearch& first);
  void work(Worker& worker, bool caller);
  bool step(Worker& worker, bool caller);
  void poll();
  [[nodiscard]] bool end_early(RunEnd end);

  // --- stages; each takes and gives slots under the mutex
  bool step_judge(Worker& worker, bool caller);
  bool step_complete(Worker& worker);
  bool step_gather(Worker& worker, bool caller);
  bool close_partial();
  void close_forgotten();
  [[nodiscard]] bool will_grow() const noexcept;
  void close(Slot& slot);
  void gather_turns(Worker& worker, TreeSearch& first);
  void gather_turn(Worker& worker, TreeSearch& search, Slot*& slot);
  void gather_round(Worker& worker, TreeSearch& search);
  void judge(Slot& slot);
  void conclude(Slot& slot);
  void complete(Worker& worker, Slot& slot);
  void complete_leaves(Worker& worker, Slot& slot);
  void finish_round(Worker& worker, TreeSearch& search);
  void cancel(Slot& slot) noexcept;
  void cancel_waiting(Worker& worker);
  bool call_gather(Worker& worker, TreeSearch& search, Slot& slot, const Turn& turn);

  // --- bookkeeping
  [[nodiscard]] bool open(const TreeSearch& search) const noexcept;
  bool queue(TreeSearch& search);
  void wake_one();
  [[nodiscard]] TreeSearch* enter_next(Worker& worker);
  [[nodiscard]] TreeSearch* next_search(Worker& worker);
  bool pass_on(Worker& worker, TreeSearch& left, TreeSearch** next);
  [[nodiscard]] bool over() noexcept;
  [[nodiscard]] bool may_judge(bool caller) const noexcept;
  Slot* take_slot();
  Slot* make_slot();
  void put_back(Slot* slot);
  void release(Slot& slot);
  void fail(std::exception_ptr error) noexcept;
  void signal() noexcept;
  void wait(std::uint64_t seen, bool caller);
  void tell_of(TreeSearch& search);
  [[nodiscard]] bool look_after(TreeSearch& search);
  void succeed(TreeSearch& search);
  [[nodiscard]] bool hands_over() const noexcept;
  void tell_of_leaves(const Slot& slot);

  BoundEvaluator& evaluator_;
  const EvaluatorTraits traits_;
  const int batch_rows_;

  std::mutex mutex_;                 ///< guards the queues, `slots_`, `error_` and the sleep
  std::condition_variable changed_;  ///< workers wait for it, nobody else
  std::condition_variable served_;   ///< a batch is ready for a device's thread
  std::condition_variable ended_;    ///< a worker has left the run
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_;
  std::vector<Slot*> partial_;
  std::deque<Slot*> ready_;
  std::deque<Slot*> judged_;
  int judging_ = 0;           ///< batches inside evaluate()
  int gathering_ = 0;         ///< workers between next_search() and put_back()
  int completing_ = 0;        ///< workers with a judged batch
  std::uint64_t events_ = 0;  ///< counts what a sleeping worker may have to act on
  int sleepers_ = 0;          ///< workers in wait()
  std::exception_ptr error_;

  // --- of the run under way
  std::vector<TreeSearch*> searches_;
  std::vector<TreeSearch*> unfinished_;  ///< those that over() has to look at yet
  /// Searches that may be gathered from, and perhaps some that no longer may. Under the mutex.
  std::deque<TreeSearch*> open_;
  RunOptions options_;
  Sharing sharing_ = Sharing::shared;
  int most_gatherers_ = 1;  ///< of one tree
  int turn_leaves_ = 1;
  int visits_ = 1;  ///< searches that a worker gathers from with one slot
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
};

}  // namespace pyengine
