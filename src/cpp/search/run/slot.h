/// A batch on its way through a run, and lists of batches that never allocate.
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

/// A leaf of a batch and its place in the tree.
struct Flight {
  Place* place = nullptr;  ///< the place of its search
  Path path;
  bool marked = false;      ///< in a graph: the path carries the mark of this leaf
  bool is_root = false;     ///< the evaluation of the root, which is not a simulation
  std::uint32_t drawn = 0;  ///< see Walk
};

/// A batch with the tree positions of its leaves.
struct Slot {
  std::unique_ptr<EvalBatch> batch;
  std::vector<Flight> flights;     ///< [batch.capacity]; the first batch.num_leaves are in use
  Place* gathering_for = nullptr;  ///< the search that is adding leaves
  Place* round = nullptr;          ///< deterministic: completed when the whole round is evaluated
  Slot* next_of_round = nullptr;
  bool blank = false;      ///< there was no time to evaluate it
  bool cancelled = false;  ///< its leaves are taken back instead of being backed up
  Slot* next = nullptr;    ///< in the list that holds the slot
};

/// A list of slots. Insertion cannot fail, so that a run without memory can still end.
class SlotList {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] int size() const noexcept { return size_; }
  /// Insertions and removals since construction.
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
  /// Number of leaves in the fullest slot; 0 if the list is empty.
  [[nodiscard]] int most_leaves() const noexcept {
    int most = 0;
    for (const Slot* slot = first_; slot != nullptr; slot = slot->next) {
      most = std::max(most, slot->batch->num_leaves);
    }
    return most;
  }
  /// Returns nullptr if the list is empty.
  Slot* pop_front() noexcept {
    Slot* slot = first_;
    if (slot != nullptr) unlink(nullptr, *slot);
    return slot;
  }
  /// Returns the slot with the most leaves: each worker may have left a partial one.
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
