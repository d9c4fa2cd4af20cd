#include "search/pipeline.h"

#include <algorithm>
#include <utility>

namespace pyengine {
namespace {

/// Simulations without a row in one turn: short enough to notice a stop at once.
constexpr std::uint64_t kTurnSimulations = 256;
constexpr std::uint64_t kForeignTurnSimulations = 8;
/// Searches visited with one slot: each slot taken and put back is two passes through the mutex.
constexpr int kMostVisits = 8;

}  // namespace

Pipeline::Pipeline(BoundEvaluator& evaluator, int batch_rows)
    : evaluator_(evaluator), traits_(evaluator.traits()), batch_rows_(batch_rows) {
  workers_.push_back(std::make_unique<Worker>());
  // A device prepares for a batch's sizes when it is made: now, not on a search's time.
  if (traits_.device_batches > 0) free_.push_back(make_slot());
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
  {
    const std::lock_guard lock(mutex_);
    searches_.assign(searches.begin(), searches.end());
    unfinished_ = searches_;
    open_.assign(searches.begin(), searches.end());
    for (TreeSearch* search : searches) search->queued = true;
    options_ = options;
    host_ = &host;
    host_stops_ = false;
    ending_.store(false, std::memory_order_relaxed);
    closing_searches_.store(false, std::memory_order_relaxed);
    end_ = RunEnd::completed;
    error_ = nullptr;
    const bool many = static_cast<int>(searches.size()) >= workers;
    most_gatherers_ = many || searches[0]->config().deterministic ? 1 : workers;
    // With an evaluator that never leaves anything open, a tree passes from worker to worker whole.
    const bool handed_over = traits_.immediate && most_gatherers_ == 1;
    sharing_ = workers == 1 || handed_over ? Sharing::exclusive : Sharing::shared;
    // A tree that passes through a core's cache turn by turn costs half as much again. Under a
    // deadline all trees are to get their share.
    finishes_trees_ = handed_over && !options.deadline;
    // What was judged in other calls, or by other workers just before, may not decide which rows
    // share a batch: the last bits of an output can depend on that.
    const SearchConfig& config = searches[0]->config();
    use_cache_ = !config.deterministic && config.cache_entries > 0;
    turn_leaves_ = std::max(1, batch_rows_ / static_cast<int>(searches.size()));
    visits_ = traits_.immediate || options.foreign
        ? 1
        : std::min(kMostVisits, batch_rows_ / turn_leaves_);
    last_poll_ = Clock::now();
    gathering_ = completing_ = 0;
    active_ = working_ = workers - 1;
    ++run_number_;
    running_ = true;
  }
  if (workers > 1) start_.notify_all();
  if (options.succession != nullptr) {  // some may have nothing to do, and then nobody comes by
    for (TreeSearch* search : searches) tell_of(*search);
  }
  work(*workers_[0], true);
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return working_ == 0; });
  running_ = false;
  searches_.clear();
  open_.clear();
  host_ = nullptr;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  return end_;
}

bool Pipeline::step(Worker& worker, bool caller) {
  if (step_complete(worker)) return true;
  if (ending_.load(std::memory_order_relaxed)) {
    cancel_waiting(worker);
    return false;
  }
  if (step_judge(worker, caller)) return true;
  if (step_gather(worker, caller)) return true;
  return close_partial();
}

// --- stages

bool Pipeline::may_judge(bool caller) const noexcept {
  if (traits_.device_batches > 0) return false;
  return caller || !traits_.calling_thread;
}

bool Pipeline::step_judge(Worker& worker, bool caller) {
  if (!may_judge(caller)) return false;
  Slot* slot = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (ready_.empty()) return false;
    slot = ready_.front();
    ready_.pop_front();
    ++judging_;
  }
  judge(*slot);
  {
    const std::lock_guard lock(mutex_);
    --judging_;
  }
  complete(worker, *slot);
  return true;
}

bool Pipeline::step_complete(Worker& worker) {
  Slot* slot = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (judged_.empty()) return false;
    slot = judged_.front();
    judged_.pop_front();
    ++completing_;
  }
  complete(worker, *slot);
  const std::lock_guard lock(mutex_);
  --completing_;
  return true;
}

bool Pipeline::step_gather(Worker& worker, bool caller) {
  if (options_.foreign && !caller) return false;
  TreeSearch* search = next_search(worker);
  if (search == nullptr) return false;
  if (!search->config().deterministic) {
    gather_turns(worker, *search);
    return true;
  }
  try {
    gather_round(worker, *search);
  } catch (...) {
    search->leave();
    put_back(nullptr);
    throw;
  }
  const bool finished = pass_on(worker, *search, nullptr);
  put_back(nullptr);
  if (finished) succeed(*search);
  return true;
}

/// Whether the search is finished and this worker is to hand it over; if it may be gathered from,
/// it is queued again. Under the mutex.
bool Pipeline::look_after(TreeSearch& search) {
  const bool finished = hands_over() && !search.reported && search.finished();
  search.reported = search.reported || finished;
  search.held = search.held || finished;
  if (queue(search)) wake_one();
  return finished;
}

void Pipeline::tell_of(TreeSearch& search) {
  bool finished = false;
  {
    const std::lock_guard lock(mutex_);
    finished = look_after(search);
  }
  if (finished) succeed(search);
}

/// Whether something may follow a search that is finished.
bool Pipeline::hands_over() const noexcept {
  return options_.succession != nullptr && !ending_.load(std::memory_order_relaxed) &&
      !closing_searches_.load(std::memory_order_relaxed);
}

/// Hands a finished search to the succession, and lets the next one take its place; that one may
/// have nothing to do, where the solver knows its root already.
void Pipeline::succeed(TreeSearch& search) {
  const auto decide = [&] {
    bool goes_on = options_.succession->ended(search);
    const std::lock_guard lock(mutex_);
    goes_on = goes_on && hands_over();
    if (goes_on) {
      const bool queued = search.queued;  // of the place, not of the search in it
      options_.succession->restart(search);
      search.queued = queued;
    } else {
      search.close();  // its tree may have another root by now, and room for simulations
    }
    search.held = goes_on && search.finished();
    search.reported = search.held || !goes_on;
    if (queue(search)) wake_one();
    return search.held;
  };
  try {
    while (decide()) {
    }
  } catch (...) {
    fail(std::current_exception());  // and go on: the slot in hand is to be given back
    const std::lock_guard lock(mutex_);
    search.held = false;
  }
}

void Pipeline::release_memory() {
  for (const auto& worker : workers_) worker->allocator = Allocator();
}

bool Pipeline::call_gather(Worker& worker, TreeSearch& search, Slot& slot, const Turn& turn) {
  return sharing_ == Sharing::shared ? search.gather<Sharing::shared>(worker, slot, turn)
                                     : search.gather<Sharing::exclusive>(worker, slot, turn);
}

/// Gathers a turn from this search, and where turns are short from the next ones too.
void Pipeline::gather_turns(Worker& worker, TreeSearch& first) {
  Slot* slot = nullptr;
  int leaves = 0;
  TreeSearch* search = &first;
  TreeSearch* finished = nullptr;
  for (int visits = 1; search != nullptr; ++visits) {
    try {
      if (visits == 1) {
        slot = take_slot();
        leaves = slot->batch->num_leaves;
      }
      gather_turn(worker, *search, slot);
    } catch (...) {
      if (slot != nullptr) {  // an evaluator may have failed between a leaf's rows
        std::erase_if(slot->batch->rows,
                      [&](EvalRow row) { return row.leaf >= slot->batch->num_leaves; });
      }
      search->leave();
      put_back(slot);
      throw;
    }
    const bool more = slot != nullptr && visits < visits_;
    TreeSearch* left = std::exchange(search, nullptr);
    if (pass_on(worker, *left, more ? &search : nullptr)) finished = left;
  }
  const bool idle = slot != nullptr && slot->batch->num_leaves == leaves;
  put_back(slot);
  if (finished != nullptr) succeed(*finished);
  if (idle) close_forgotten();
}

/// Leaves no slot behind when it is full and closed.
void Pipeline::gather_turn(Worker& worker, TreeSearch& search, Slot*& slot) {
  while (slot->batch->num_leaves != 0 && !search.fits(*slot)) {
    close(*std::exchange(slot, nullptr));  // no room for all symmetries of this search's leaf
    slot = take_slot();
  }
  const Turn turn{turn_leaves_, options_.foreign ? kForeignTurnSimulations : kTurnSimulations,
                  &ending_};
  call_gather(worker, search, *slot, turn);
  const bool full = slot->batch->num_leaves != 0 && !search.fits(*slot);
  if (full) close(*std::exchange(slot, nullptr));
}

/// The batch is to be judged as it is.
void Pipeline::close(Slot& slot) {
  const TreeSearch& search = *slot.flights[0].search;
  if (search.config().symmetry == SymmetryMode::fill) search.fill(slot);
  {
    const std::lock_guard lock(mutex_);
    ready_.push_back(&slot);
    ++events_;
  }
  traits_.device_batches > 0 ? served_.notify_one() : changed_.notify_all();
}

/// A whole round by one worker in one go; its batches are judged by whoever is free, and completed
/// together, in order, so that nothing depends on the number of threads.
void Pipeline::gather_round(Worker& worker, TreeSearch& search) {
  const Turn turn{batch_rows_, kTurnSimulations, &ending_};
  std::vector<Slot*> round;
  std::exception_ptr error;
  for (bool more = true; more && !error;) {
    Slot* slot = nullptr;
    try {
      slot = take_slot();
      more = call_gather(worker, search, *slot, turn);
    } catch (...) {
      error = std::current_exception();
      if (slot == nullptr) break;
    }
    if (slot->batch->num_leaves == 0) {
      release(*slot);
      break;
    }
    more = more && !search.fits(*slot);
    if (search.config().symmetry == SymmetryMode::fill) search.fill(*slot);
    slot->round = &search;
    round.push_back(slot);
  }
  if (!round.empty()) {
    search.round = round;
    search.round_open.store(static_cast<int>(round.size()), std::memory_order_release);
    const std::lock_guard lock(mutex_);
    ready_.insert(ready_.end(), round.begin(), round.end());
    ++events_;
  }
  served_.notify_all();
  changed_.notify_all();
  if (error) std::rethrow_exception(error);
}

void Pipeline::judge(Slot& slot) {
  for (int i = 0; i < slot.batch->num_leaves; ++i) {
    const auto place = static_cast<std::size_t>(i);
    slot.flights[place].search->evaluations.fetch_add(
        static_cast<std::uint64_t>(slot.batch->leaves[place].pending_rows),
        std::memory_order_relaxed);
  }
  try {
    evaluator_.evaluate(*slot.batch);
  } catch (...) {
    fail(std::current_exception());
    slot.cancelled = true;
  }
}

void Pipeline::conclude(Slot& slot) {
  try {
    evaluator_.conclude(*slot.batch);
  } catch (...) {
    fail(std::current_exception());
    slot.cancelled = true;
  }
}

void Pipeline::complete(Worker& worker, Slot& slot) {
  if (!slot.cancelled) conclude(slot);
  if (TreeSearch* search = slot.round) {
    if (search->round_open.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      finish_round(worker, *search);
      tell_of(*search);
    }
    return;
  }
  complete_leaves(worker, slot);
  tell_of_leaves(slot);
  release(slot);
}

void Pipeline::tell_of_leaves(const Slot& slot) {
  const auto leaves = static_cast<std::size_t>(slot.batch->num_leaves);
  std::size_t next = 0;
  const auto next_finished = [&]() -> TreeSearch* {
    const std::lock_guard lock(mutex_);
    while (next < leaves) {
      TreeSearch* search = slot.flights[next++].search;
      if (look_after(*search)) return search;
    }
    return nullptr;
  };
  while (TreeSearch* search = next_finished()) succeed(*search);
}

void Pipeline::finish_round(Worker& worker, TreeSearch& search) {
  const std::vector<Slot*> round = std::exchange(search.round, {});
  for (Slot* slot : round) complete_leaves(worker, *slot);
  for (Slot* slot : round) release(*slot);
}

void Pipeline::complete_leaves(Worker& worker, Slot& slot) {
  if (slot.cancelled) return cancel(slot);
  for (int i = 0; i < slot.batch->num_leaves; ++i) {
    const auto place = static_cast<std::size_t>(i);
    Flight& flight = slot.flights[place];
    if (sharing_ == Sharing::shared) {
      flight.search->complete<Sharing::shared>(worker, flight, slot.batch->leaves[place]);
    } else {
      flight.search->complete<Sharing::exclusive>(worker, flight, slot.batch->leaves[place]);
    }
  }
}

void Pipeline::cancel(Slot& slot) noexcept {
  for (int i = 0; i < slot.batch->num_leaves; ++i) {
    Flight& flight = slot.flights[static_cast<std::size_t>(i)];
    if (sharing_ == Sharing::shared) {
      flight.search->cancel<Sharing::shared>(flight);
    } else {
      flight.search->cancel<Sharing::exclusive>(flight);
    }
  }
}

/// At the end of a run: leaves that nobody judges any more are taken back.
void Pipeline::cancel_waiting(Worker& worker) {
  std::vector<Slot*> waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting.assign(ready_.begin(), ready_.end());
    waiting.insert(waiting.end(), partial_.begin(), partial_.end());
    ready_.clear();
    partial_.clear();
  }
  for (Slot* slot : waiting) {
    slot->cancelled = true;
    complete(worker, *slot);
  }
}

}  // namespace pyengine
