/// The threads of a Pipeline: how they start, look for work, sleep and end.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "search/run/pipeline.h"

namespace pyengine {
namespace {

constexpr auto kPollEvery = std::chrono::milliseconds(5);
/// Searches visited with one slot: each slot taken and put back is two passes through the mutex.
constexpr int kMostVisits = 8;
/// Workers that gather for a device at once. They outrun it, and the more batches are begun at a
/// time the emptier they go: with 16 on a modelled device 131,000 rows/s, with 1 to 4 some 230,000.
constexpr int kMostGathering = 4;
constexpr int kMostSlots = 1 << 16;
/// Rounds of deterministic searches under way at once. Fixed, as the memory that is left for trees
/// may not depend on the number of workers.
constexpr int kMostRounds = 16;
/// Batches for which a second worker gathers from the same tree: below, what the two write in turns
/// costs more than it brings.
constexpr int kRowsForTwoGatherers = 256;

Ahead ahead_of(const EvaluatorTraits& traits) noexcept {
  const int served = traits.device_batches;
  if (served > 0) return {served, served + 1, served + 3, kMostGathering};
  if (traits.calling_thread)
    return {1, 2, 2, 1};  // several would spread leaves over as many batches
  constexpr int kAny = std::numeric_limits<int>::max() / 4;
  return {kAny, kAny, kAny, kAny};
}

/// Workers that gather from one tree at once, where workers are more than trees. The more there are
/// the more often they meet.
int gatherers_of_tree(const EvaluatorTraits& traits, int rows, int workers) noexcept {
  if (traits.device_batches == 0 && !traits.calling_thread) {
    return std::min(workers, std::max(2, workers / 4));
  }
  return std::min(workers, rows < kRowsForTwoGatherers ? 1 : 2);
}

/// Leaves with which a batch goes. Where workers evaluate, small batches for all of them are faster
/// than full ones for a few.
int leaves_of_batch(const EvaluatorTraits& traits, const SearchConfig& config, int rows,
                    int searches, int workers) noexcept {
  const bool workers_evaluate =
      traits.device_batches == 0 && !traits.calling_thread && !traits.immediate;
  if (!workers_evaluate || config.symmetry == SymmetryMode::fill) return rows;
  const std::int64_t leaves = std::int64_t{max_in_flight(config)} * searches;
  return static_cast<int>(std::clamp<std::int64_t>(leaves / workers, 1, rows));
}

}  // namespace

Pipeline::Pipeline(BoundEvaluator& evaluator, int batch_rows, std::shared_ptr<ChunkPool> pool)
    : evaluator_(evaluator),
      traits_(evaluator.traits()),
      batch_rows_(batch_rows),
      ahead_(ahead_of(traits_)),
      pool_(std::move(pool)) {
  workers_.push_back(std::make_unique<Worker>());
  // The first slot is made now: a device prepares for a batch's sizes when its memory is made.
  slots_begun_ = 1;
  Slot* slot = make_slot();
  free_.push_front(*slot);
  slot_bytes_ = slot->batch->bytes;
}

Pipeline::~Pipeline() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  start_.notify_all();
  served_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  for (std::thread& thread : device_threads_) thread.join();
}

RunEnd Pipeline::run(std::span<TreeSearch* const> searches, const RunOptions& options, Host& host) {
  const bool single_worker = options.foreign || (traits_.immediate && searches.size() == 1);
  const int workers = single_worker ? 1 : options.workers;
  start_threads(workers);
  for (int i = 0; i < workers; ++i) {
    prepare_worker(*workers_[static_cast<std::size_t>(i)], *searches.front());
  }
  begin_run(searches, options, host, workers);
  if (workers > 1) start_.notify_all();
  if (options.succession != nullptr) {  // some may have nothing to do, and then nobody comes by
    for (int i = 0; i < num_places_; ++i) tell_of(places_[static_cast<std::size_t>(i)]);
  }
  work(*workers_[0], true);
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return working_ == 0; });
  running_ = false;
  places_.reset();
  num_places_ = 0;
  queue_.clear();
  host_ = nullptr;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  return end_;
}

/// Slots with which nobody waits for one.
int Pipeline::wanted_slots(const SearchConfig& config, int searches) const noexcept {
  if (config.deterministic) return round_slots_ * std::min(searches, kMostRounds);
  if (traits_.device_batches > 0 || traits_.calling_thread) {
    const int evaluating = traits_.calling_thread ? 1 : traits_.device_batches + 1;
    return evaluating + ahead_.ready + 2 * ahead_.gatherers + 1;
  }
  return 2 * num_workers(config);
}

void Pipeline::prepare(const SearchConfig& config, std::size_t searches) {
  constexpr std::uint64_t kLeastTree = 2 * kChunkBytes;
  pool_->reserve(0);
  const auto limit = std::uint64_t{pool_->limit_chunks()} * kChunkBytes;
  if (limit < slot_bytes_ + kLeastTree) {
    throw ConfigError("memory_limit: expected room for a tree and a batch of " +
                      std::to_string(batch_rows_) + " rows, which takes " +
                      std::to_string(slot_bytes_) + " bytes; found " + std::to_string(limit) +
                      " bytes for both: raise memory_limit, or lower batch_size");
  }
  const std::uint64_t share =
      std::max(limit / 4, slot_bytes_) / std::max<std::uint64_t>(slot_bytes_, 1);
  const int fitting = static_cast<int>(std::min<std::uint64_t>(share, kMostSlots));
  const int leaves = config.symmetry == SymmetryMode::average ? 1 : batch_rows_;
  round_slots_ = std::min((max_in_flight(config) + leaves - 1) / leaves, fitting);
  const int count = static_cast<int>(std::min<std::size_t>(searches, kMostRounds));
  most_slots_ = std::clamp(wanted_slots(config, count), 1, fitting);
  if (slots_begun_ > most_slots_) {  // all of them are free between runs
    slots_.resize(static_cast<std::size_t>(most_slots_));
    slots_begun_ = most_slots_;
    free_ = {};
    for (const auto& slot : slots_) free_.push_front(*slot);
    batch_bytes_.store(slot_bytes_ * slots_.size(), std::memory_order_relaxed);
  }
  pool_->reserve(slot_bytes_ * static_cast<std::uint64_t>(most_slots_));
}

void Pipeline::begin_run(std::span<TreeSearch* const> searches, const RunOptions& options,
                         Host& host, int workers) {
  const std::lock_guard lock(mutex_);
  places_ = std::make_unique<Place[]>(searches.size());
  num_places_ = unfinished_ = static_cast<int>(searches.size());
  options_ = options;
  plan_turns(searches[0]->config(), num_places_, workers);
  for (std::size_t i = 0; i < searches.size(); ++i) {
    places_[i].search = searches[i];
    queue_.push(places_[i], Load::idle);
  }
  host_ = &host;
  host_stops_ = false;
  ending_.store(false, std::memory_order_relaxed);
  closing_searches_.store(false, std::memory_order_relaxed);
  end_ = RunEnd::completed;
  error_ = nullptr;
  last_poll_ = Clock::now();
  gathering_ = completing_ = evaluating_ = 0;
  active_ = working_ = workers - 1;
  ++run_number_;
  running_ = true;
}

/// Who gathers how much from which search.
void Pipeline::plan_turns(const SearchConfig& config, int searches, int workers) {
  many_ = searches >= 2 * batch_rows_;
  const bool worker_for_each = searches >= workers;
  const bool by_one = worker_for_each || config.deterministic;
  most_gatherers_ = by_one ? 1 : gatherers_of_tree(traits_, batch_rows_, workers);
  // With an evaluator that never leaves anything open, a tree passes from worker to worker whole.
  const bool handed_over = traits_.immediate && most_gatherers_ == 1;
  sharing_ = workers == 1 || handed_over ? Sharing::exclusive : Sharing::shared;
  // A tree that passes through a core's cache turn by turn costs half as much again. Under a
  // deadline all trees are to get their share.
  finishes_trees_ = handed_over && !options_.deadline;
  // What was evaluated in other calls, or by other workers just before, may not decide which rows
  // share a batch: the last bits of an output can depend on that.
  use_cache_ = !config.deterministic && config.cache_entries > 0;
  batch_leaves_ = leaves_of_batch(traits_, config, batch_rows_, searches, workers);
  turn_leaves_ = std::max(1, batch_leaves_ / searches);
  visits_ = traits_.immediate || options_.foreign
      ? 1
      : std::min(kMostVisits, batch_leaves_ / turn_leaves_);
}

void Pipeline::release_memory() {
  for (const auto& worker : workers_) worker->allocator = Allocator();
}

void Pipeline::start_threads(int workers) {
  // workers_[i + 1] is used by threads_[i], which may be the one that cannot be had.
  while (static_cast<int>(threads_.size()) < workers - 1) {
    const std::size_t index = threads_.size() + 1;
    if (workers_.size() <= index) workers_.push_back(std::make_unique<Worker>());
    threads_.emplace_back([this, index] { worker_thread(index); });
  }
  // One more than it serves at once: the next batch is handed over before the device is done.
  const int servers = traits_.device_batches > 0 ? traits_.device_batches + 1 : 0;
  while (static_cast<int>(device_threads_.size()) < servers) {
    device_threads_.emplace_back([this] { device_thread(); });
  }
}

void Pipeline::worker_thread(std::size_t index) {
  std::uint64_t last_run = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] {
      return closing_ ||
          (running_ && run_number_ != last_run && static_cast<int>(index) <= active_);
    });
    if (closing_) return;
    last_run = run_number_;
    Worker& worker = *workers_[index];
    lock.unlock();
    work(worker, false);
    lock.lock();
    --working_;
    ended_.notify_all();
  }
}

void Pipeline::device_thread() {
  std::unique_lock lock(mutex_);
  for (;;) {
    served_.wait(lock, [&] { return closing_ || !ready_.empty(); });
    if (closing_) return;
    Slot* slot = ready_.pop_front();
    ++evaluating_;
    wake_gatherer();  // one batch less waits
    lock.unlock();
    evaluate(*slot);
    lock.lock();
    --evaluating_;
    evaluated_.push_back(*slot);
    wake_one();  // one slot, one worker
  }
}

/// Before anything of a run has begun: positions change under a succession.
void Pipeline::prepare_worker(Worker& worker, const TreeSearch& first) {
  worker.place = nullptr;
  if (!worker.walker) worker.walker = make_walker(first.root().position());
  worker.selector.configure(first.config());
  if (worker.allocator.arena() != first.tree().shared_arena()) {
    worker.allocator = Allocator(first.tree().shared_arena());
  }
}

void Pipeline::work(Worker& worker, bool caller) {
  for (;;) {
    std::uint64_t seen = 0;
    {
      // Under the mutex nobody enters a search: what over() reads piece by piece is one state.
      const std::lock_guard lock(mutex_);
      if (over()) break;
      seen = events_;
    }
    bool busy = true;
    try {
      if (caller) poll();
      busy = step(worker, caller);
    } catch (...) {
      fail(std::current_exception());
    }
    if (!busy) wait(seen, caller);
  }
  signal();
}

/// Ends the run once every root is evaluated: a result without a move would be of no use.
bool Pipeline::end_early(RunEnd end) {
  const std::lock_guard lock(mutex_);
  closing_searches_.store(true, std::memory_order_relaxed);
  bool ready = true;
  for (int i = 0; i < num_places_; ++i) {
    const Place& place = places_[static_cast<std::size_t>(i)];
    if (place.search == nullptr || place.held) continue;  // whoever holds it closes what follows
    if (place.search->root_ready()) place.search->close();
    ready = ready && (place.search->root_ready() || place.search->closed());
  }
  if (end_ == RunEnd::completed) end_ = end;
  if (ready) ending_.store(true, std::memory_order_relaxed);
  return ready;
}

void Pipeline::poll() {
  if (ending_.load(std::memory_order_relaxed)) return;
  const bool stop = host_stops_ || options_.stop->load(std::memory_order_relaxed);
  if (stop && end_early(RunEnd::stopped)) return;
  const Clock::time_point now = Clock::now();
  if (options_.deadline && now >= *options_.deadline && end_early(RunEnd::deadline)) return;
  if (now - last_poll_ < kPollEvery) return;
  last_poll_ = now;
  if (!host_->poll()) host_stops_ = true;
}

void Pipeline::wait(std::uint64_t seen, bool caller) {
  const Clock::time_point begun = Clock::now();
  std::unique_lock lock(mutex_);
  const auto news = [&] { return events_ != seen; };
  if (caller) {
    auto until = begun + kPollEvery;
    if (options_.deadline) until = std::min(until, *options_.deadline);
    caller_sleeps_ = true;
    called_.wait_until(lock, until, news);
    caller_sleeps_ = false;
  } else {
    ++sleepers_;
    changed_.wait(lock, news);
    --sleepers_;
  }
  lock.unlock();
  const auto waited = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begun);
  waited_ns_.fetch_add(static_cast<std::uint64_t>(waited.count()), std::memory_order_relaxed);
}

}  // namespace pyengine
