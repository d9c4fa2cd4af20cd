#include "search/run/pipeline.h"

#include <utility>

#include "base/error.h"
#include "search/run/task.h"

namespace pyengine {

Pipeline::Pipeline(BoundEvaluator& evaluator, int batch_rows, std::shared_ptr<ChunkPool> pool)
    : evaluator_(evaluator),
      filler_(row_filler_of(evaluator)),
      traits_(evaluator.traits()),
      batch_rows_(batch_rows),
      pool_(std::move(pool)),
      team_([this](std::size_t index) { return work(index); }, [this] { feed_device(); }),
      slots_(traits_) {
  add_hand(true);
  // Create the first slot now: a device prepares for the batch size when its memory is allocated.
  static_cast<void>(slots_.begin_making());
  Slot* slot = make_slot();
  slot_bytes_ = slot->batch->bytes;
  slots_.keep(*slot);
}

Pipeline::~Pipeline() { team_.close(); }

void Pipeline::prepare(const SearchConfig& config, std::size_t searches) {
  pool_->reserve(0);
  const auto limit = std::uint64_t{pool_->limit_chunks()} * kChunkBytes;
  const SlotPlan plan = plan_slots(traits_, config, batch_rows_, searches, slot_bytes_, limit);
  {
    const Pass pass = team_.pass();
    slots_.plan(plan);
    batch_bytes_.store(slot_bytes_ * slots_.count(), std::memory_order_relaxed);
  }
  pool_->reserve(slot_bytes_ * static_cast<std::uint64_t>(plan.most));
}

RunEnd Pipeline::run(std::span<TreeSearch* const> searches, const RunOptions& options, Host& host) {
  const RunPlan planned = plan_run(searches, options);
  const int workers = planned.workers;
  hire(workers);
  for (int i = 0; i < workers; ++i) {
    hands_[static_cast<std::size_t>(i)]->prepare(*searches.front());
  }
  watch_.emplace(host, *options.stop, options.deadline);
  begin_run(searches, options, planned);
  work(0);
  team_.end_run();
  Pass pass = team_.pass();
  searches_.end();
  watch_.reset();
  const std::exception_ptr error = std::exchange(error_, nullptr);
  pass.unlock();
  for (int i = 0; i < workers; ++i) hands_[static_cast<std::size_t>(i)]->worker.walker->forget();
  if (options.foreign) slots_.forget_positions();
  if (error) std::rethrow_exception(error);
  return end_;
}

Pipeline::RunPlan Pipeline::plan_run(std::span<TreeSearch* const> searches,
                                     const RunOptions& options) {
  TreeSearch& first = *searches.front();
  RunSize size;
  size.batch_rows = batch_rows_;
  size.leaf_rows = first.rows_per_leaf(false);
  size.searches = static_cast<int>(searches.size());
  size.workers = options.workers;
  size.cores = usable_cores();
  size.foreign = options.foreign;
  size.deadline = options.deadline.has_value();
  size.graph = first.tree().is_graph();
  size.follows = options.succession != nullptr;
  size.visits = first.tree().root().visits.load(std::memory_order_relaxed) + first.budget();
  const bool divides = divides_tree(traits_, first.config(), size);
  size.workers = workers_of(traits_, first.config(), size);
  if (divides) first.divide_among(size.workers);
  return {size.workers, plan_turns(traits_, first.config(), size)};
}

void Pipeline::add_hand(bool caller) {
  auto hand = std::make_unique<Hand>();
  hand->caller = caller;
  hand->goes_on = not_hurrying_;
  if (caller) hand->goes_on = [this] { return goes_on_at_leaf(); };
  hands_.push_back(std::move(hand));
}

void Pipeline::hire(int workers) {
  while (static_cast<int>(hands_.size()) < workers) add_hand(false);
  // One more thread than the device serves at once, so that the next batch is ready in time.
  if (traits_.runs_on.device()) team_.open_servers(traits_.runs_on.device_batches + 1);
}

void Pipeline::begin_run(std::span<TreeSearch* const> searches, const RunOptions& options,
                         const RunPlan& planned) {
  const Pass pass = team_.pass();  // device threads may be about to sleep
  options_ = options;
  plan_ = planned.plan;
  slots_.begin(plan_.use_cache, plan_.rounds, plan_.many);
  for (std::atomic<bool>* flag : {&ending_, &hurrying_, &evaluated_}) {
    flag->store(false, std::memory_order_relaxed);
  }
  end_ = RunEnd::completed;
  error_ = nullptr;
  searches_.begin(searches, plan_.most_gatherers, options.succession != nullptr);
  for (Place& place : searches_.places()) {  // some may have no work to do
    hold_if(searches_.review(place), *hands_[0], place);
  }
  team_.begin_run(planned.workers - 1);
}

void Pipeline::release_memory() {
  for (const auto& hand : hands_) hand->worker.allocator = Allocator();
}

SchedulerCounters Pipeline::counters() {
  const Pass pass = team_.pass();
  return {team_.passes(), team_.wake_ups(), searches_.operations() + slots_.operations()};
}

/// Returns whether a helper left before the end of the run.
bool Pipeline::work(std::size_t index) {
  Hand& hand = *hands_[index];
  Task task;
  for (;;) {
    if (hand.caller) look_after_host(hand, task);
    next(hand, task);
    if (task.kind == Task::Kind::end || task.kind == Task::Kind::leave) {
      return task.kind == Task::Kind::leave;
    }
    perform(hand, task);
  }
}

void Pipeline::feed_device() {
  Pass pass = team_.pass();
  for (;;) {
    Slot* slot = slots_.serve();
    wake_for_rest();
    if (slot == nullptr) {
      if (team_.sleep_as_server(pass)) continue;
      return;
    }
    pass.unlock();
    evaluate(*slot, not_hurrying_);
    pass.lock();
    slots_.served(*slot);
  }
}

void Pipeline::look_after_host(Hand& hand, Task& task) {
  if (ending_.load(std::memory_order_relaxed)) return;
  if (const std::optional<RunEnd> due = watch_->due()) {
    const Pass pass = team_.pass();
    settle(hand, task);  // searches that have finished by now did not end early
    if (hand.finished != nullptr || searches_.all_finished()) return;
    end_early(*due);
  }
  if (!ending_.load(std::memory_order_relaxed)) poll_host();
}

/// look_after_host() for the calling thread in the middle of a long leaf.
bool Pipeline::goes_on_at_leaf() noexcept {
  if (hurrying_.load(std::memory_order_relaxed)) return false;
  if (const std::optional<RunEnd> due = watch_->due()) {
    const Pass pass = team_.pass();
    end_early(*due);
  } else {
    poll_host();
  }
  return !hurrying_.load(std::memory_order_relaxed);
}

/// The caller holds the mutex.
void Pipeline::end_early(RunEnd end) {
  if (end_ == RunEnd::completed) end_ = end;
  hurrying_.store(true, std::memory_order_relaxed);
  // Results are useless until every root has a move.
  if (!searches_.close_where_ready()) return;
  ending_.store(true, std::memory_order_relaxed);
  team_.wake_all();
}

void Pipeline::poll_host() noexcept {
  try {
    watch_->poll_host();
  } catch (...) {
    fail(std::current_exception());
  }
}

void Pipeline::fail(std::exception_ptr error) noexcept {
  const Pass pass = team_.pass();
  if (!error_) error_ = std::move(error);
  hurrying_.store(true, std::memory_order_relaxed);
  ending_.store(true, std::memory_order_relaxed);
  searches_.close_all();
  team_.wake_all();
}

/// Called in an exception handler. An interrupted leaf counts as never begun; the caller ends the
/// run.
void Pipeline::fail_unless_interrupted() noexcept {
  try {
    throw;
  } catch (const Interrupted&) {  // NOLINT(bugprone-empty-catch)
  } catch (...) {
    fail(std::current_exception());
  }
}

}  // namespace pyengine
