/// What a Pipeline keeps under its mutex: which search is gathered from next, what follows a
/// finished one, and where slots are.
#include <algorithm>
#include <utility>

#include "search/run/pipeline.h"

namespace pyengine {

// --- searches

/// The search may be gathered from, as far as its queue knows: under the mutex.
bool Pipeline::open(const Place& place) const noexcept {
  // The search of a held place may be in the making.
  return place.search != nullptr && !place.held && place.search->may_gather(most_gatherers_);
}

/// Puts a search that may be gathered from where the next worker finds it. Under the mutex.
void Pipeline::queue(Place& place) noexcept {
  if (open(place)) queue_.push(place, place.search->idle() ? Load::idle : Load::busy);
}

/// Whether a worker may begin to gather from a search of this kind while `others` gather. Under the
/// mutex.
bool Pipeline::may_gather(Load load, int others) const noexcept {
  if (others >= ahead_.gatherers || ready_.size() >= ahead_.ready) return false;
  if (load == Load::idle) return true;
  // What a callable has evaluated makes searches idle at once, and a device waits for nobody.
  const int completing = traits_.calling_thread ? completing_ : 0;
  const int waiting = evaluating_ + ready_.size() + completing + others;
  if (!many_) return waiting < ahead_.busy_few;
  // The idle searches of many may be in batches that wait to be filled.
  return waiting + (partial_.empty() ? 0 : 1) < ahead_.busy_many;
}

/// Somebody may begin to gather. Under the mutex.
void Pipeline::wake_gatherer() noexcept {
  const auto possible = [&](Load load) { return queue_.has(load) && may_gather(load, gathering_); };
  if (possible(Load::idle) || possible(Load::busy)) wake_one();
}

Place* Pipeline::enter(Worker& worker, Place& place) noexcept {
  place.search->enter();
  queue(place);  // several may gather from one tree
  return worker.place = &place;
}

/// Enters the search that waits longest, an idle one first, while `others` gather; nullptr when
/// there is none or nothing is to be gathered now. Under the mutex.
Place* Pipeline::enter_next(Worker& worker, int others) noexcept {
  if (!may_gather(Load::idle, others)) return nullptr;
  if (finishes_trees_ && worker.place != nullptr && open(*worker.place)) {
    return enter(worker, *worker.place);
  }
  while (Place* place = queue_.pop(Load::idle)) {
    if (!open(*place)) continue;  // whoever opens it queues it again
    if (place->search->idle()) return enter(worker, *place);
    queue_.push(*place, Load::busy);
  }
  if (!may_gather(Load::busy, others)) return nullptr;
  while (Place* place = queue_.pop(Load::busy)) {
    if (open(*place)) return enter(worker, *place);
  }
  return nullptr;
}

/// The search that is gathered from next, and the slot for its leaves: nullptr where one is to be
/// made, or for a round, which takes slots as it needs them. nullptr when there is nothing to do.
Place* Pipeline::begin_gathering(Worker& worker, Slot*& slot) noexcept {
  const std::lock_guard lock(mutex_);
  Place* place = enter_next(worker, gathering_);
  if (place == nullptr) return nullptr;
  const bool round = place->search->config().deterministic;
  if (!round) slot = idle_slot();
  const int needed = round ? (gathering_ + 1) * round_slots_ : 1;
  if (slot == nullptr && free_slots() < needed) {  // whoever releases one comes by
    place->search->leave();
    queue(*place);
    return nullptr;
  }
  if (slot == nullptr && !round) ++slots_begun_;
  ++gathering_;
  wake_gatherer();
  return place;
}

/// Leaves a search and, where one is wanted, enters the next: one pass through the mutex. Returns
/// whether the one left is finished and to be handed over; then there is no next.
bool Pipeline::pass_on(Worker& worker, Place& left, Place** next) noexcept {
  const std::lock_guard lock(mutex_);
  left.search->leave();
  const bool finished = look_after(left);
  if (next != nullptr && !finished) *next = enter_next(worker, gathering_ - 1);
  return finished;
}

/// Looks at one search, mostly: what other cores have just written is far away. What may follow a
/// finished search is awaited.
bool Pipeline::over() noexcept {
  const auto at = [&](int place) -> Place& { return places_[static_cast<std::size_t>(place)]; };
  if (ending_.load(std::memory_order_relaxed)) {
    for (int i = 0; i < unfinished_; ++i) {
      if (at(i).search != nullptr && !at(i).held) at(i).search->close();
    }
  }
  const bool awaits_report = hands_over();
  const auto done = [&](const Place& place) {
    if (place.search == nullptr) return true;
    return !place.held && place.search->finished() && (place.reported || !awaits_report);
  };
  while (unfinished_ != 0 && done(at(unfinished_ - 1))) --unfinished_;
  return unfinished_ == 0;
}

// --- what follows a finished search

/// Whether something may follow a search that is finished.
bool Pipeline::hands_over() const noexcept {
  return options_.succession != nullptr && !ending_.load(std::memory_order_relaxed) &&
      !closing_searches_.load(std::memory_order_relaxed);
}

/// Whether the search is finished and this worker is to hand it over; if it may be gathered from,
/// it is queued again. Under the mutex.
bool Pipeline::look_after(Place& place) noexcept {
  const bool finished = !place.held && !place.reported && hands_over() && place.search->finished();
  if (finished) place.held = place.reported = true;
  queue(place);
  return finished;
}

void Pipeline::tell_of(Place& place) noexcept {
  bool finished = false;
  {
    const std::lock_guard lock(mutex_);
    finished = look_after(place);
    wake_gatherer();
  }
  if (finished) hand_over(place);
}

void Pipeline::tell_of_leaves(const Slot& slot) noexcept {
  const auto leaves = static_cast<std::size_t>(slot.batch->num_leaves);
  std::size_t next = 0;
  const auto next_finished = [&]() -> Place* {
    const std::lock_guard lock(mutex_);
    while (next < leaves) {
      Place* place = slot.flights[next++].place;
      if (look_after(*place)) return place;
    }
    wake_gatherer();
    return nullptr;
  };
  while (Place* place = next_finished()) hand_over(*place);
}

/// Hands a held search to the succession, and lets the next one take its place; that one may have
/// nothing to do, where the solver knows its root already.
void Pipeline::hand_over(Place& place) noexcept {
  try {
    while (decide_what_follows(place)) {
    }
  } catch (...) {
    fail(std::current_exception());  // and go on: the slot in hand is to be given back
    const std::lock_guard lock(mutex_);
    place.search = nullptr;  // which may be gone, and another could not be made
  }
}

/// Whether what follows is finished already, and the place is held for it.
bool Pipeline::decide_what_follows(Place& place) {
  TreeSearch& search = *place.search;
  bool follows = options_.succession->ended(search) && hands_over();
  if (follows) options_.succession->restart(search);
  const std::lock_guard lock(mutex_);
  follows = follows && hands_over();
  if (!follows) search.close();  // its tree may have another root by now, and room for simulations
  place.held = follows && search.finished();
  place.reported = place.held || !follows;
  queue(place);
  wake_gatherer();
  return place.held;
}

// --- slots

/// A slot that waits for leaves; nullptr when there is none. Under the mutex.
Slot* Pipeline::idle_slot() noexcept {
  Slot* slot = partial_.pop_fullest();
  if (slot == nullptr) slot = free_.pop_front();
  if (slot != nullptr) slot->batch->use_cache = use_cache_;
  return slot;
}

/// Slots without leaves, those included that may still be made. Under the mutex.
int Pipeline::free_slots() const noexcept { return free_.size() + most_slots_ - slots_begun_; }

/// Another slot for a worker that gathers already; nullptr where the run has no more.
Slot* Pipeline::take_slot() {
  {
    const std::lock_guard lock(mutex_);
    if (Slot* slot = idle_slot()) return slot;
    if (free_slots() <= 0) return nullptr;
    ++slots_begun_;
  }
  return make_slot();
}

/// It is counted as begun already.
Slot* Pipeline::make_slot() {
  try {
    auto slot = std::make_unique<Slot>();
    slot->batch = evaluator_.make_batch(batch_rows_);
    slot->flights.resize(slot->batch->leaves.size());
    slot->batch->use_cache = use_cache_;
    const std::lock_guard lock(mutex_);
    slots_.push_back(std::move(slot));
    batch_bytes_.fetch_add(slots_.back()->batch->bytes, std::memory_order_relaxed);
    return slots_.back().get();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    --slots_begun_;
    throw;
  }
}

/// A worker has gathered, into this slot or (null) into some that it has closed.
void Pipeline::put_back(Slot* slot) noexcept {
  const std::lock_guard lock(mutex_);
  --gathering_;
  if (slot != nullptr) (slot->batch->num_leaves == 0 ? free_ : partial_).push_front(*slot);
  wake_gatherer();  // who was turned away
}

void Pipeline::release(Slot& slot) noexcept {
  slot.batch->num_leaves = 0;
  slot.batch->rows.clear();
  slot.round = nullptr;
  slot.cancelled = false;
  const std::lock_guard lock(mutex_);
  free_.push_front(slot);
  wake_gatherer();
}

/// Nothing can be added to the partial batches: they go as they are, unless waiting will fill them.
bool Pipeline::close_partial() {
  Slot* slot = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (partial_.empty() || will_grow()) return false;
    slot = partial_.pop_fullest();
  }
  close(*slot);
  return true;
}

/// A search may always be open and never need a row, so that nobody comes to close_partial().
void Pipeline::close_forgotten() {
  Slot* slot = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (partial_.empty() || evaluating_ != 0 || !ready_.empty()) return;
    slot = partial_.pop_fullest();
  }
  close(*slot);
}

/// Whether more leaves for the partial batches are on their way and the evaluator has enough to do
/// until then. Whoever brings the last of them will ask again. Under the mutex.
bool Pipeline::will_grow() const noexcept {
  const int waiting = evaluating_ + ready_.size();
  if (traits_.device_batches == 0) {
    return traits_.calling_thread && (waiting != 0 || gathering_ != 0);
  }
  if (waiting >= traits_.device_batches) return true;
  // Gathering takes microseconds, completing a batch about as long as a device's smallest one.
  return gathering_ != 0 || (waiting != 0 && completing_ != 0);
}

// --- news

void Pipeline::fail(std::exception_ptr error) noexcept {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  ending_.store(true, std::memory_order_relaxed);
  wake_all();
}

void Pipeline::signal() noexcept {
  const std::lock_guard lock(mutex_);
  wake_all();
}

/// Something can be done. Under the mutex.
void Pipeline::wake_one() noexcept {
  ++events_;
  if (sleepers_ != 0) {
    changed_.notify_one();
  } else if (caller_sleeps_) {
    called_.notify_one();
  }
}

/// Under the mutex.
void Pipeline::wake_all() noexcept {
  ++events_;
  changed_.notify_all();
  called_.notify_all();
}

}  // namespace pyengine
