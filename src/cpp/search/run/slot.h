/// A batch on its way through a run, and lists of such batches that never allocate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "eval/evaluator.h"
#include "search/run/place.h"
#include "search/run/walker.h"

namespace pyengine {

class TreeSearch;
using Place = PlaceOf<TreeSearch>;

/// Where a leaf of a batch stands.
struct Flight {
  Place* place = nullptr;  ///< of its search
  Path path;
  bool is_root = false;     ///< the root's own evaluation: no simulation
  std::uint32_t drawn = 0;  ///< see Walk
};

/// A batch with the whereabouts of its leaves.
struct Slot {
  std::unique_ptr<EvalBatch> batch;
  std::vector<Flight> flights;     ///< [batch.capacity]; those of batch.num_leaves are in use
  Place* gathering_for = nullptr;  ///< of the search that adds leaves now
  Place* round = nullptr;          ///< deterministic: completed when its whole round is evaluated
  Slot* next_of_round = nullptr;
  bool blank = false;      ///< there was no time to evaluate it
  bool cancelled = false;  ///< its leaves are taken back instead of being backed up
  Slot* next = nullptr;    ///< in the one list that holds the slot
};

/// Slots in a line. Putting one in cannot fail, so that a run without memory can still end.
class SlotList {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] int size() const noexcept { return size_; }
  /// Slots put in and taken out since the list was made.
  [[nodiscard]] std::uint64_t operations() const noexcept { return operations_; }
  void push_back(Slot& slot) noexcept {
    slot.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &slot;
    last_ = &slot;
    ++size_;
    ++operations_;
  }
  void push_front(Slot& slot) noexcept {
    slot.next = first_;
    first_ = &slot;
    if (last_ == nullptr) last_ = &slot;
    ++size_;
    ++operations_;
  }
  /// Of the slot with most leaves; 0 where there is none.
  [[nodiscard]] int most_leaves() const noexcept {
    int most = 0;
    for (const Slot* slot = first_; slot != nullptr; slot = slot->next) {
      most = std::max(most, slot->batch->num_leaves);
    }
    return most;
  }
  /// nullptr when there is none.
  Slot* pop_front() noexcept {
    Slot* slot = first_;
    if (slot != nullptr) unlink(nullptr, *slot);
    return slot;
  }
  /// The slot with most leaves: each worker may have left one behind.
  Slot* pop_fullest() noexcept {
    Slot* fullest = first_;
    Slot* before = nullptr;
    for (Slot* slot = first_; slot != nullptr && slot->next != nullptr; slot = slot->next) {
      if (slot->next->batch->num_leaves <= fullest->batch->num_leaves) continue;
      before = slot;
      fullest = slot->next;
    }
    if (fullest != nullptr) unlink(before, *fullest);
    return fullest;
  }
  void clear() noexcept {
    first_ = last_ = nullptr;
    size_ = 0;
  }

 private:
  void unlink(Slot* before, Slot& slot) noexcept {
    (before == nullptr ? first_ : before->next) = slot.next;
    if (last_ == &slot) last_ = before;
    slot.next = nullptr;
    --size_;
    ++operations_;
  }

  Slot* first_ = nullptr;
  Slot* last_ = nullptr;
  int size_ = 0;
  std::uint64_t operations_ = 0;
};

}  // namespace pyengine
