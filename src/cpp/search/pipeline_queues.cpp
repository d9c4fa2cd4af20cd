/// What a Pipeline keeps under its mutex: which search is gathered from next, and where slots are.
#include <algorithm>
#include <utility>

#include "search/pipeline.h"

namespace pyengine {
namespace {

/// Workers that gather for a device at once. They outrun it, and the more batches are begun at a
/// time the emptier they go: with 16 on a modelled device 131,000 rows/s, with 1 to 4 some 230,000.
constexpr int kMostGathering = 4;

/// Takes the slot with most leaves out: each worker may have left one behind.
Slot* take_fullest(std::vector<Slot*>& slots) {
  const auto found = std::max_element(slots.begin(), slots.end(), [](const Slot* a, const Slot* b) {
    return a->batch->num_leaves < b->batch->num_leaves;
  });
  Slot* slot = *found;
  *found = slots.back();
  slots.pop_back();
  return slot;
}

}  // namespace

// --- searches

/// The search may be gathered from, as far as its queue knows: under the mutex.
bool Pipeline::open(const TreeSearch& search) const noexcept {
  return !search.held && search.may_gather(most_gatherers_);  // a held one's tree may be changing
}

/// Puts a search that may be gathered from where the next worker finds it. Whether it was not
/// there. Under the mutex.
bool Pipeline::queue(TreeSearch& search) {
  if (search.queued || !open(search)) return false;
  search.queued = true;
  open_.push_back(&search);
  return true;
}

/// Something can be done. Under the mutex.
void Pipeline::wake_one() {
  ++events_;
  if (sleepers_ != 0) changed_.notify_one();
}

/// Enters the search that waits longest, if there is one. Under the mutex.
TreeSearch* Pipeline::enter_next(Worker& worker) {
  const auto enter = [&](TreeSearch* search) {
    search->enter();
    return worker.last = search;
  };
  if (finishes_trees_ && worker.last != nullptr && open(*worker.last)) return enter(worker.last);
  while (!open_.empty()) {
    TreeSearch* search = open_.front();
    open_.pop_front();
    search->queued = false;
    if (!open(*search)) continue;  // whoever opens it queues it again
    enter(search);
    queue(*search);  // several may gather from one tree; who sleeps is woken after this turn
    return search;
  }
  return nullptr;
}

TreeSearch* Pipeline::next_search(Worker& worker) {
  const std::lock_guard lock(mutex_);
  if (traits_.device_batches > 0 && gathering_ >= kMostGathering) return nullptr;
  TreeSearch* search = enter_next(worker);
  if (search != nullptr) ++gathering_;
  return search;
}

/// Leaves a search and, where one is wanted, enters the next: one pass through the mutex. Returns
/// whether the one left is finished and to be handed over; then there is no next.
bool Pipeline::pass_on(Worker& worker, TreeSearch& left, TreeSearch** next) {
  const std::lock_guard lock(mutex_);
  left.leave();
  const bool finished = look_after(left);
  if (next != nullptr && !finished) *next = enter_next(worker);
  return finished;
}

/// Looks at one search, mostly: what other cores have just written is far away. What may follow a
/// finished search is awaited.
bool Pipeline::over() noexcept {
  const bool ending = ending_.load(std::memory_order_relaxed);
  if (ending) {
    for (TreeSearch* search : unfinished_) search->close();
  }
  const bool awaits_report = hands_over();
  const auto done = [&](const TreeSearch& search) {
    return search.finished() && !search.held && (search.reported || !awaits_report);
  };
  while (!unfinished_.empty() && done(*unfinished_.back())) unfinished_.pop_back();
  return unfinished_.empty();
}

// --- slots

Slot* Pipeline::take_slot() {
  Slot* slot = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!partial_.empty()) {
      slot = take_fullest(partial_);
    } else if (!free_.empty()) {
      slot = free_.back();
      free_.pop_back();
    }
  }
  if (slot == nullptr) slot = make_slot();
  slot->batch->use_cache = use_cache_;
  return slot;
}

/// A worker has gathered, into this slot or (null) into some that it has closed.
void Pipeline::put_back(Slot* slot) {
  const std::lock_guard lock(mutex_);
  --gathering_;
  if (slot != nullptr) (slot->batch->num_leaves == 0 ? free_ : partial_).push_back(slot);
  if (!open_.empty() && sleepers_ != 0) wake_one();  // who was turned away
}

Slot* Pipeline::make_slot() {
  auto slot = std::make_unique<Slot>();
  slot->batch = evaluator_.make_batch(batch_rows_);
  slot->flights.resize(slot->batch->leaves.size());
  const std::lock_guard lock(mutex_);
  slots_.push_back(std::move(slot));
  return slots_.back().get();
}

void Pipeline::release(Slot& slot) {
  slot.batch->num_leaves = 0;
  slot.batch->rows.clear();
  slot.round = nullptr;
  slot.cancelled = false;
  const std::lock_guard lock(mutex_);
  free_.push_back(&slot);
  if (!open_.empty() && sleepers_ != 0) wake_one();
}

/// Nothing can be added to the partial batches: they go as they are, unless waiting will fill them.
bool Pipeline::close_partial() {
  Slot* slot = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (partial_.empty() || will_grow()) return false;
    slot = take_fullest(partial_);
  }
  close(*slot);
  return true;
}

/// A search may always be open and never need a row, so that nobody comes to close_partial().
void Pipeline::close_forgotten() {
  Slot* slot = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (partial_.empty() || judging_ != 0 || !ready_.empty()) return;
    slot = take_fullest(partial_);
  }
  close(*slot);
}

/// Whether more leaves for the partial batches are on their way and a device has enough to do until
/// then. Whoever brings the last of them will ask again. Under the mutex.
bool Pipeline::will_grow() const noexcept {
  const int waiting = judging_ + static_cast<int>(ready_.size());
  if (traits_.device_batches == 0) return traits_.calling_thread && waiting != 0;
  if (waiting >= traits_.device_batches) return true;
  // Gathering takes microseconds, completing a batch about as long as a device's smallest one.
  return gathering_ != 0 || (waiting != 0 && completing_ != 0);
}

// --- news

void Pipeline::fail(std::exception_ptr error) noexcept {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  ending_.store(true, std::memory_order_relaxed);
  ++events_;
  changed_.notify_all();
}

void Pipeline::signal() noexcept {
  const std::lock_guard lock(mutex_);
  ++events_;
  changed_.notify_all();
}

}  // namespace pyengine
