/// One pass through the mutex: settles a worker's last task and chooses its next one.
#include <span>
#include <utility>

#include "search/run/pipeline.h"
#include "search/run/task.h"

namespace pyengine {

/// Settles the worker's last task and chooses the next one. Sleeps if there is none; the caller
/// then returns to poll its host.
void Pipeline::next(Hand& hand, Task& task) {
  Pass pass = team_.pass();
  settle(hand, task);
  // Some search may always have something to gather but never add a row; stuck batches would then
  // go unnoticed.
  if (Slot* const slot = hand.added_nothing ? slots_.take_forgotten() : nullptr) {
    if (send_partial(*slot, task)) {
      wake_for_rest();
      return;
    }
  }
  for (bool slept = false;; slept = true) {
    if (!hand.caller && hand.finished == nullptr && team_.lets_one_go()) {
      task.kind = Task::Kind::leave;
      break;
    }
    if (choose(hand, task)) break;
    if (searches_.all_finished()) {
      task.kind = Task::Kind::end;
      team_.wake_all();
      return;
    }
    if (slept && hand.caller) break;
    wake_for_rest();
    if (hand.caller) {
      team_.sleep_until(pass, watch_->next_look());
    } else {
      team_.sleep(pass);
    }
  }
  wake_for_rest();
}

/// Leaves an empty task.
void Pipeline::settle(Hand& hand, Task& task) noexcept {
  if (task.kind != Task::Kind::gather) hand.forget_visits();
  switch (task.kind) {
    case Task::Kind::gather:
      slots_.end_gathering();
      for (Place* place : task.turn()) hold_if(searches_.leave(*place), hand, *place);
      if (task.slot != nullptr) task.full ? slots_.make_ready(*task.slot) : slots_.keep(*task.slot);
      hand.count_visits(task, plan_.visits);
      break;
    case Task::Kind::round:
      slots_.end_gathering();
      hold_if(searches_.leave(*task.places[0]), hand, *task.places[0]);
      while (Slot* slot = task.slots.pop_front()) slots_.make_ready(*slot);
      if (task.slot != nullptr) slots_.keep(*task.slot);
      break;
    case Task::Kind::fill:
      slots_.make_ready(*task.slot);
      break;
    case Task::Kind::evaluate:
      slots_.end_evaluating();
      settle_leaves(hand, task);
      break;
    case Task::Kind::complete:
      slots_.end_completing();
      settle_leaves(hand, task);
      break;
    case Task::Kind::cancel:
      settle_leaves(hand, task);
      break;
    case Task::Kind::hand_over:
      if (task.failed) {
        searches_.abandon(*task.places[0]);
      } else {
        hold_if(searches_.replaced(*task.places[0], task.follows), hand, *task.places[0]);
      }
      break;
    case Task::Kind::none:
    case Task::Kind::leave:
    case Task::Kind::end:
      break;
  }
  task = {};
}

/// Called when the leaves of these slots are completed or taken back.
void Pipeline::settle_leaves(Hand& hand, Task& task) noexcept {
  while (Slot* slot = task.slots.pop_front()) {
    if (slot->round != nullptr) {
      hold_if(searches_.review(*slot->round), hand, *slot->round);
    } else {
      const auto leaves = static_cast<std::size_t>(slot->batch->num_leaves);
      for (std::size_t i = 0; i < leaves; ++i) {
        Place& place = *slot->flights[i].place;
        hold_if(searches_.review(place), hand, place);
      }
    }
    slots_.release(*slot);
  }
}

/// Adds the place of a finished search to those that the worker will hand over.
void Pipeline::hold_if(bool finished, Hand& hand, Place& place) noexcept {
  if (!finished) return;
  place.next_finished = hand.finished;
  hand.finished = &place;
}

bool Pipeline::choose(Hand& hand, Task& task) noexcept {
  if (Place* place = hand.finished) {
    hand.finished = place->next_finished;
    task.kind = Task::Kind::hand_over;
    task.places[0] = place;
    return true;
  }
  if (task.take(Task::Kind::complete, slots_.claim())) return true;
  if (ending_.load(std::memory_order_relaxed)) {
    return task.take(Task::Kind::cancel, slots_.take_cancelled());
  }
  for (;;) {
    if (evaluates(hand.caller) && task.take(Task::Kind::evaluate, slots_.serve())) return true;
    if (gathers(hand.caller) && choose_gather(hand, task)) return true;
    Slot* stuck = slots_.take_stuck();
    if (stuck == nullptr) return false;
    if (send_partial(*stuck, task)) return true;
  }
}

/// Chooses the searches of one turn and a slot for their leaves.
bool Pipeline::choose_gather(Hand& hand, Task& task) noexcept {
  const auto may_gather = [this](Load load) { return slots_.may_gather(load); };
  if (!may_gather(Load::idle) || !slots_.has_slots_to_gather(plan_.rounds)) return false;
  if (plan_.finishes_trees && hand.last != nullptr && searches_.enter_again(*hand.last)) {
    task.places[0] = hand.last;
    task.num_places = 1;
  } else {
    const int most = plan_.searches_for(slots_.leaves_to_add_to());
    const std::span turn = std::span(task.places).first(static_cast<std::size_t>(most));
    task.num_places = searches_.enter(turn, may_gather);
  }
  if (task.num_places == 0) return false;
  hand.last = task.turn().back();
  slots_.begin_gathering();
  task.kind = plan_.rounds ? Task::Kind::round : Task::Kind::gather;
  if (plan_.rounds) return true;  // takes slots as needed
  task.slot = slots_.take();
  if (task.slot == nullptr) static_cast<void>(slots_.begin_making());
  return true;
}

/// Sends a partial slot to evaluation. Returns whether the worker has to do something first.
bool Pipeline::send_partial(Slot& slot, Task& task) noexcept {
  if (plan_.fills) return task.take(Task::Kind::fill, &slot);
  slots_.make_ready(slot);
  return false;
}

/// Wakes one sleeper if there is work left.
void Pipeline::wake_for_rest() noexcept {
  if (slots_.any_ready() && team_.can_wake_server()) team_.wake_server();
  const bool for_workers = work_for(false);
  if (for_workers && team_.can_wake_worker()) {
    team_.wake_worker();
  } else if (team_.can_wake_caller() && work_for(true) && !(for_workers && team_.worker_wakes())) {
    team_.wake_caller();
  }
}

/// Whether the queues have work for the calling thread or for another worker.
bool Pipeline::work_for(bool caller) const noexcept {
  if (slots_.any_evaluated()) return true;
  if (ending_.load(std::memory_order_relaxed)) return slots_.any_unevaluated();
  if (evaluates(caller) && slots_.any_ready()) return true;
  if (!gathers(caller) || !slots_.has_slots_to_gather(plan_.rounds)) return false;
  const auto possible = [this](Load load) {
    return searches_.waits(load) && slots_.may_gather(load);
  };
  return possible(Load::idle) || possible(Load::busy);
}

bool Pipeline::evaluates(bool caller) const noexcept {
  return traits_.runs_on.workers() || (caller && traits_.runs_on.calling_thread());
}

bool Pipeline::gathers(bool caller) const noexcept { return caller || !options_.foreign; }

}  // namespace pyengine
