#include "search/run/slots.h"

namespace pyengine {

void Slots::plan(const SlotPlan& plan) noexcept {
  plan_ = plan;
  if (begun_ <= plan.most) return;
  slots_.resize(static_cast<std::size_t>(plan.most));
  begun_ = plan.most;
  free_.clear();
  for (const auto& slot : slots_) free_.push_front(*slot);
}

bool Slots::may_gather(Load load) const noexcept {
  if (gathering_ >= ahead_.gatherers || ready_.size() >= ahead_.ready) return false;
  if (load == Load::idle) return true;
  // A device does not wait for workers, so batches being completed do not count. A batch of a
  // callable makes searches idle all at once; it counts as being evaluated until it is completed.
  const int waiting = evaluating_ + ready_.size() + gathering_;
  if (!many_) return waiting < ahead_.busy_few;
  // With many searches, the idle ones may be in batches that are still being filled.
  return waiting + (partial_.empty() ? 0 : 1) < ahead_.busy_many;
}

Slot* Slots::take() noexcept {
  Slot* slot = partial_.pop_fullest();
  if (slot == nullptr) slot = free_.pop_front();
  if (slot == nullptr) return nullptr;
  slot->batch->use_cache = use_cache_;
  slot->batch->repeatable = repeatable_;
  return slot;
}

bool Slots::begin_making() noexcept {
  if (begun_ >= plan_.most) return false;
  ++begun_;
  return true;
}

Slot* Slots::take_cancelled() noexcept {
  Slot* slot = ready_.pop_front();
  return slot != nullptr ? slot : partial_.pop_front();
}

Slot* Slots::serve() noexcept {
  Slot* slot = ready_.pop_front();
  if (slot != nullptr) ++evaluating_;
  return slot;
}

Slot* Slots::claim() noexcept {
  Slot* slot = evaluated_.pop_front();
  if (slot != nullptr) ++completing_;
  return slot;
}

void Slots::release(Slot& slot) noexcept {
  slot.batch->clear();
  slot.round = nullptr;
  slot.cancelled = slot.blank = false;
  free_.push_front(slot);
}

/// Whether more leaves for the partial batches are on their way while the evaluator stays busy. The
/// worker that brings the last of them checks again.
bool Slots::will_grow() const noexcept {
  const int waiting = evaluating_ + ready_.size();
  if (runs_on_.workers()) return false;
  if (runs_on_.calling_thread()) return waiting != 0 || gathering_ != 0;
  if (waiting >= runs_on_.device_batches) return true;
  // Gathering takes microseconds, and completing a batch about as long as the device's smallest
  // batch.
  return gathering_ != 0 || (waiting != 0 && completing_ != 0);
}

}  // namespace pyengine
