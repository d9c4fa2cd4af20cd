#include "search/run/pipeline.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace pyengine {
namespace {

/// Simulations without a row in one turn: short enough to notice a stop at once.
constexpr std::uint64_t kTurnSimulations = 256;
constexpr std::uint64_t kForeignTurnSimulations = 8;

/// An evaluator may have failed between a leaf's rows.
void drop_rows_without_leaf(EvalBatch& batch) noexcept {
  std::erase_if(batch.rows, [&](EvalRow row) { return row.leaf >= batch.num_leaves; });
}

}  // namespace

bool Pipeline::step(Worker& worker, bool caller) {
  if (step_complete(worker)) return true;
  if (ending_.load(std::memory_order_relaxed)) {
    cancel_waiting(worker);
    return false;
  }
  if (step_evaluate(worker, caller)) return true;
  if (step_gather(worker, caller)) return true;
  return close_partial();
}

/// Whether this worker evaluates batches.
bool Pipeline::evaluates(bool caller) const noexcept {
  if (traits_.device_batches > 0) return false;
  return caller || !traits_.calling_thread;
}

bool Pipeline::step_evaluate(Worker& worker, bool caller) {
  if (!evaluates(caller)) return false;
  Slot* slot = nullptr;
  {
    const std::lock_guard lock(mutex_);
    slot = ready_.pop_front();
    if (slot == nullptr) return false;
    ++evaluating_;
    wake_gatherer();  // one batch less waits
  }
  evaluate(*slot);
  {
    const std::lock_guard lock(mutex_);
    --evaluating_;
    ++completing_;
  }
  complete(worker, *slot);
  const std::lock_guard lock(mutex_);
  --completing_;
  return true;
}

bool Pipeline::step_complete(Worker& worker) {
  if (traits_.device_batches == 0) return false;  // who evaluates completes
  Slot* slot = nullptr;
  {
    const std::lock_guard lock(mutex_);
    slot = evaluated_.pop_front();
    if (slot == nullptr) return false;
    ++completing_;
  }
  complete(worker, *slot);
  const std::lock_guard lock(mutex_);
  --completing_;
  return true;
}

bool Pipeline::step_gather(Worker& worker, bool caller) {
  if (options_.foreign && !caller) return false;
  Slot* slot = nullptr;
  Place* place = begin_gathering(worker, slot);
  if (place == nullptr) return false;
  if (!place->search->config().deterministic) {
    gather_turns(worker, slot);
    return true;
  }
  try {
    gather_round(worker, *place);
  } catch (...) {
    place->search->leave();
    put_back(nullptr);
    throw;
  }
  const bool finished = pass_on(worker, *place, nullptr);
  put_back(nullptr);
  if (finished) hand_over(*place);
  return true;
}

bool Pipeline::call_gather(Worker& worker, TreeSearch& search, Slot& slot, const Turn& turn) {
  return sharing_ == Sharing::shared ? search.gather<Sharing::shared>(worker, slot, turn)
                                     : search.gather<Sharing::exclusive>(worker, slot, turn);
}

bool Pipeline::full(const TreeSearch& search, const Slot& slot) const noexcept {
  const int leaves = slot.batch->num_leaves;
  return leaves != 0 && (leaves >= batch_leaves_ || !search.fits(slot));
}

/// Gathers a turn from the worker's search, and where turns are short from the next ones too.
void Pipeline::gather_turns(Worker& worker, Slot* slot) {
  Place* place = worker.place;
  Place* finished = nullptr;
  int leaves = 0;
  for (int visits = 1; place != nullptr; ++visits) {
    try {
      if (slot == nullptr) slot = make_slot();
      if (visits == 1) leaves = slot->batch->num_leaves;
      gather_turn(worker, *place->search, slot);
    } catch (...) {
      if (slot != nullptr) drop_rows_without_leaf(*slot->batch);
      place->search->leave();
      put_back(slot);
      throw;
    }
    const bool more = slot != nullptr && visits < visits_;
    Place* left = std::exchange(place, nullptr);
    if (pass_on(worker, *left, more ? &place : nullptr)) finished = left;
  }
  const bool idle = slot != nullptr && slot->batch->num_leaves == leaves;
  put_back(slot);
  if (finished != nullptr) hand_over(*finished);
  if (idle) close_forgotten();
}

/// Leaves no slot behind when it is full and closed.
void Pipeline::gather_turn(Worker& worker, TreeSearch& search, Slot*& slot) {
  while (slot->batch->num_leaves != 0 && !search.fits(*slot)) {
    close(*std::exchange(slot, nullptr));  // no room for all symmetries of this search's leaf
    slot = take_slot();
    if (slot == nullptr) return;
  }
  const Turn turn{turn_leaves_, options_.foreign ? kForeignTurnSimulations : kTurnSimulations,
                  &ending_};
  call_gather(worker, search, *slot, turn);
  if (full(search, *slot)) close(*std::exchange(slot, nullptr));
}

/// The batch is to be evaluated as it is.
void Pipeline::close(Slot& slot) noexcept {
  const TreeSearch& search = *slot.flights[0].place->search;
  if (search.config().symmetry == SymmetryMode::fill) {
    try {
      search.fill(slot);
    } catch (...) {
      fail(std::current_exception());
      slot.cancelled = true;
    }
  }
  const std::lock_guard lock(mutex_);
  ready_.push_back(slot);
  ++events_;
  if (traits_.device_batches > 0) {
    served_.notify_one();
  } else if (traits_.calling_thread) {
    if (caller_sleeps_) called_.notify_one();
  } else if (ready_.size() > 1) {  // the first one is for the worker that closes it
    wake_one();
  }
}

/// A whole round by one worker in one go; its batches are evaluated by whoever is free, and
/// completed together, in order, so that nothing depends on the number of threads.
void Pipeline::gather_round(Worker& worker, Place& place) {
  TreeSearch& search = *place.search;
  const Turn turn{batch_rows_, kTurnSimulations, &ending_};
  Slot** end = &place.round;
  int slots = 0;
  std::exception_ptr error;
  for (bool more = true; more && slots < round_slots_;) {
    Slot* slot = nullptr;
    try {
      slot = take_slot();
      if (slot == nullptr) break;
      more = call_gather(worker, search, *slot, turn) && !search.fits(*slot);
      if (search.config().symmetry == SymmetryMode::fill) search.fill(*slot);
    } catch (...) {
      error = std::current_exception();
      more = false;
      if (slot == nullptr) break;
      drop_rows_without_leaf(*slot->batch);
      slot->cancelled = true;
    }
    if (slot->batch->num_leaves == 0) {
      release(*slot);
      break;
    }
    slot->round = &place;
    *end = slot;
    end = &slot->next_of_round;
    ++slots;
  }
  *end = nullptr;
  if (slots != 0) {
    place.round_open.store(slots, std::memory_order_release);
    const std::lock_guard lock(mutex_);
    for (Slot* slot = place.round; slots != 0; slot = slot->next_of_round, --slots) {
      ready_.push_back(*slot);
    }
    if (traits_.calling_thread) {
      ++events_;
      called_.notify_one();
    } else {
      wake_all();
    }
  }
  served_.notify_all();
  if (error) std::rethrow_exception(error);
}

void Pipeline::evaluate(Slot& slot) noexcept {
  if (slot.cancelled) return;
  for (const EvalRow row : slot.batch->rows) {
    slot.flights[row.leaf].place->search->evaluations.fetch_add(1, std::memory_order_relaxed);
  }
  try {
    evaluator_.evaluate(*slot.batch);
  } catch (...) {
    fail(std::current_exception());
    slot.cancelled = true;
  }
}

void Pipeline::conclude(Slot& slot) noexcept {
  try {
    evaluator_.conclude(*slot.batch);
  } catch (...) {
    fail(std::current_exception());
    slot.cancelled = true;
  }
}

void Pipeline::complete(Worker& worker, Slot& slot) noexcept {
  if (!slot.cancelled) conclude(slot);
  if (Place* place = slot.round) {
    if (place->round_open.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      finish_round(worker, *place);
      tell_of(*place);
    }
    return;
  }
  complete_leaves(worker, slot);
  tell_of_leaves(slot);
  release(slot);
}

void Pipeline::finish_round(Worker& worker, Place& place) noexcept {
  // With the last leaf another worker may begin the next round here.
  Slot* const first = std::exchange(place.round, nullptr);
  for (Slot* slot = first; slot != nullptr; slot = slot->next_of_round) {
    complete_leaves(worker, *slot);
  }
  for (Slot* slot = first; slot != nullptr;) {
    release(*std::exchange(slot, slot->next_of_round));
  }
}

/// Each leaf is backed up or, when the slot is cancelled or a leaf before it failed, taken back.
void Pipeline::complete_leaves(Worker& worker, Slot& slot) noexcept {
  const auto leaves = static_cast<std::size_t>(slot.batch->num_leaves);
  std::size_t done = 0;
  const auto with_sharing = [&](auto&& verb) {
    sharing_ == Sharing::shared ? verb.template operator()<Sharing::shared>()
                                : verb.template operator()<Sharing::exclusive>();
  };
  try {
    with_sharing([&]<Sharing S>() {
      for (; done < leaves && !slot.cancelled; ++done) {
        Flight& flight = slot.flights[done];
        flight.place->search->complete<S>(worker, flight, slot.batch->leaves[done]);
      }
    });
  } catch (...) {
    fail(std::current_exception());
  }
  with_sharing([&]<Sharing S>() {
    for (; done < leaves; ++done) slot.flights[done].place->search->cancel<S>(slot.flights[done]);
  });
}

/// At the end of a run: leaves that nobody evaluates any more are taken back.
void Pipeline::cancel_waiting(Worker& worker) noexcept {
  SlotList waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting.append(ready_);
    waiting.append(partial_);
  }
  while (Slot* slot = waiting.pop_front()) {
    slot->cancelled = true;
    complete(worker, *slot);
  }
}

}  // namespace pyengine
