/// The work between two passes, without the mutex: gather, evaluate, complete, hand over.
#include <algorithm>
#include <utility>

#include "search/run/pipeline.h"
#include "search/run/task.h"

namespace pyengine {
namespace {

/// Simulations without a row in one turn; small enough to react to a stop quickly.
constexpr std::uint64_t kTurnSimulations = 256;
constexpr std::uint64_t kForeignTurnSimulations = 8;
/// Completed leaves of a batch after which other workers may gather again.
constexpr std::size_t kLeavesPerReview = 64;

/// Gives placeholder answers to leaves that there is no time left to evaluate. Roots need them to
/// have moves.
void leave_blank(EvalBatch& batch) noexcept {
  for (int i = 0; i < batch.num_leaves; ++i) {
    EvalLeaf& leaf = batch.leaves[static_cast<std::size_t>(i)];
    leaf.equal_priors = true;
    leaf.value = 0.0F;
    leaf.unfinished = true;
  }
}

}  // namespace

void Pipeline::perform(Hand& hand, Task& task) noexcept {
  switch (task.kind) {
    case Task::Kind::gather:
      gather(hand, task);
      break;
    case Task::Kind::round:
      gather_round(hand, task);
      break;
    case Task::Kind::fill:
      fill(*task.slot);
      break;
    case Task::Kind::evaluate:
      evaluate(*task.slot, hand.goes_on);
      complete(hand, task);
      break;
    case Task::Kind::complete:
      complete(hand, task);
      break;
    case Task::Kind::cancel:
      task.slot->cancelled = true;
      complete(hand, task);
      break;
    case Task::Kind::hand_over:
      hand_over(task);
      break;
    case Task::Kind::none:
    case Task::Kind::leave:
    case Task::Kind::end:
      break;
  }
}

// --- gather

/// One turn from each of the task's searches.
void Pipeline::gather(Hand& hand, Task& task) noexcept {
  try {
    if (task.slot == nullptr) task.slot = make_slot();
    for (Place* place : task.turn()) {
      gather_turn(hand, *place, task);
      if (task.slot == nullptr) return;  // the run has none left until other workers release theirs
    }
    if (task.full) fill(*task.slot);
  } catch (...) {
    fail_unless_interrupted();
  }
}

/// Continues with another slot if this one has no room for a leaf of the search.
void Pipeline::gather_turn(Hand& hand, Place& place, Task& task) {
  const TreeSearch& search = *place.search;
  while (full(*task.slot, search)) {
    Slot* const closed = std::exchange(task.slot, nullptr);
    fill(*closed);
    task.added = true;
    task.slot = exchange(closed);
    if (task.slot == nullptr) return;
  }
  const int before = task.slot->batch->num_leaves;
  Turn turn = turn_of(hand, plan_.turn_leaves,
                      options_.foreign ? kForeignTurnSimulations : kTurnSimulations);
  turn.joint_walks = plan_.joint_walks;
  gather_into(hand, place, *task.slot, turn);
  task.added = task.added || task.slot->batch->num_leaves != before;
  task.full = full(*task.slot, search);
}

/// One worker gathers a whole round. Any free worker evaluates its batches, and they are completed
/// together, in order, so that nothing depends on the number of threads.
void Pipeline::gather_round(Hand& hand, Task& task) noexcept {
  Place& place = *task.places[0];
  const TreeSearch& search = *place.search;
  const Turn turn = turn_of(hand, batch_rows_, kTurnSimulations);
  Slot** end = &place.round;
  for (bool more = true; more && task.slots.size() < slots_.planned().per_round;) {
    try {
      task.slot = nullptr;
      task.slot = exchange(nullptr);
      if (task.slot == nullptr) break;
      more = gather_into(hand, place, *task.slot, turn) && !search.fits(*task.slot);
    } catch (...) {
      fail_unless_interrupted();
      if (task.slot == nullptr) break;
      more = false;
    }
    if (task.slot->batch->num_leaves == 0) break;  // returned unused
    Slot& slot = *std::exchange(task.slot, nullptr);
    fill(slot);
    slot.round = &place;
    *end = &slot;
    end = &slot.next_of_round;
    task.slots.push_back(slot);
  }
  *end = nullptr;
  place.round_unevaluated.store(task.slots.size(), std::memory_order_release);
}

Turn Pipeline::turn_of(const Hand& hand, int leaves, std::uint64_t simulations) const noexcept {
  Turn turn;
  turn.leaves = leaves;
  turn.simulations = simulations;
  turn.stop = &ending_;
  turn.goes_on = &hand.goes_on;
  turn.guards_calls = options_.foreign;
  return turn;
}

bool Pipeline::gather_into(Hand& hand, Place& place, Slot& slot, const Turn& turn) {
  slot.gathering_for = &place;
  return plan_.sharing == Sharing::shared
      ? place.search->gather<Sharing::shared>(hand.worker, slot, turn)
      : place.search->gather<Sharing::exclusive>(hand.worker, slot, turn);
}

bool Pipeline::full(const Slot& slot, const TreeSearch& search) const noexcept {
  const int leaves = slot.batch->num_leaves;
  return leaves != 0 && (leaves >= plan_.batch_leaves || !search.fits(slot));
}

/// SymmetryMode::fill: uses spare rows for further symmetries before a batch is evaluated.
void Pipeline::fill(Slot& slot) noexcept {
  if (!plan_.fills || filler_ == nullptr) return;
  try {
    filler_->fill(*slot.batch);
  } catch (...) {
    fail(std::current_exception());
    slot.cancelled = true;
  }
}

/// Exchanges a full slot, if any, for one to gather into; nullptr if the run has no more.
Slot* Pipeline::exchange(Slot* full) {
  {
    const Pass pass = team_.pass();
    if (full != nullptr) slots_.make_ready(*full);
    Slot* slot = slots_.take();
    const bool to_make = slot == nullptr && slots_.begin_making();
    if (full != nullptr) wake_for_rest();
    if (!to_make) return slot;
  }
  return make_slot();
}

/// slots_ already counts it.
Slot* Pipeline::make_slot() {
  try {
    auto slot = std::make_unique<Slot>();
    slot->batch = evaluator_.make_batch(batch_rows_);
    slot->flights.resize(slot->batch->leaves.size());
    slot->batch->use_cache = plan_.use_cache;
    slot->batch->repeatable = plan_.rounds;
    const Pass pass = team_.pass();
    batch_bytes_.fetch_add(slot->batch->bytes, std::memory_order_relaxed);
    return slots_.add(std::move(slot));
  } catch (...) {
    const Pass pass = team_.pass();
    slots_.making_failed();
    throw;
  }
}

// --- evaluate and complete

void Pipeline::evaluate(Slot& slot, const std::function<bool()>& goes_on) noexcept {
  if (slot.cancelled) return;
  slot.blank = evaluated_.exchange(true, std::memory_order_relaxed) &&
      hurrying_.load(std::memory_order_relaxed);
  if (slot.blank) return;
  slot.batch->goes_on = &goes_on;
  const auto leaves = static_cast<std::size_t>(slot.batch->num_leaves);
  for (std::size_t i = 0; i < leaves; ++i) {
    const auto rows = static_cast<std::uint64_t>(slot.batch->leaves[i].rows);
    slot.flights[i].place->search->tally.evaluations.fetch_add(rows, std::memory_order_relaxed);
  }
  try {
    evaluator_.evaluate(*slot.batch);
  } catch (...) {
    fail(std::current_exception());
    slot.cancelled = true;
  }
}

/// Completes the leaves of a slot; for the last slot of a round, those of the whole round in order.
void Pipeline::complete(Hand& hand, Task& task) noexcept {
  Slot& slot = *task.slot;
  try {
    slot.batch->goes_on = &hand.goes_on;
    if (slot.blank) {
      leave_blank(*slot.batch);
    } else if (!slot.cancelled) {
      evaluator_.decode(*slot.batch);
    }
  } catch (...) {
    fail(std::current_exception());
    slot.cancelled = true;
  }
  Place* const place = slot.round;
  if (place == nullptr) {
    complete_leaves(hand, slot);
    task.slots.push_back(slot);
    return;
  }
  if (place->round_unevaluated.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // After the last leaf another worker may begin the next round.
  Slot* const first = std::exchange(place->round, nullptr);
  bool cut_short = false;
  for (Slot* member = first; member != nullptr; member = member->next_of_round) {
    member->cancelled = member->cancelled || cut_short;
    complete_leaves(hand, *member);
    cut_short = member->cancelled;
    task.slots.push_back(*member);
  }
}

/// If several workers gather from one tree, they need not wait for the rest of a large batch. The
/// current leaf is still in flight, so the search is not finished.
void Pipeline::review_early(Hand& hand, Place& place) {
  if (plan_.most_gatherers == 1) return;
  const Pass pass = team_.pass();
  hold_if(searches_.review(place), hand, place);
  wake_for_rest();
}

/// Backs up each leaf, or takes it back if it is unfinished, the slot is cancelled or an earlier
/// leaf failed. An unfinished root is good enough for a result.
void Pipeline::complete_leaves(Hand& hand, Slot& slot) noexcept {
  const auto leaves = static_cast<std::size_t>(slot.batch->num_leaves);
  std::size_t done = 0;
  const auto with_sharing = [&](auto&& verb) {
    plan_.sharing == Sharing::shared ? verb.template operator()<Sharing::shared>()
                                     : verb.template operator()<Sharing::exclusive>();
  };
  try {
    with_sharing([&]<Sharing S>() {
      for (; done < leaves && !slot.cancelled; ++done) {
        Flight& flight = slot.flights[done];
        if (done != 0 && done % kLeavesPerReview == 0) review_early(hand, *flight.place);
        const EvalLeaf& leaf = slot.batch->leaves[done];
        if (leaf.unfinished && !flight.is_root) {
          flight.place->search->cancel<S>(flight);
          slot.cancelled = plan_.rounds;  // the completed leaves are the first ones of a round
        } else {
          flight.place->search->complete<S>(hand.worker, flight, leaf);
        }
      }
    });
  } catch (...) {
    fail(std::current_exception());
  }
  with_sharing([&]<Sharing S>() {
    for (; done < leaves; ++done) slot.flights[done].place->search->cancel<S>(slot.flights[done]);
  });
}

// --- hand over

void Pipeline::hand_over(Task& task) noexcept {
  TreeSearch& search = *task.places[0]->search;
  try {
    task.follows = options_.succession->ended(search) && searches_.hands_over();
    if (task.follows) options_.succession->restart(search);
  } catch (...) {
    fail(std::current_exception());
    task.failed = true;  // the search may no longer exist
  }
}

}  // namespace pyengine
