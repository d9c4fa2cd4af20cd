/// Tracks where each batch of a run is in its cycle and how far gathering may run ahead.
///
///   free ─take()─▶ gathering ─make_ready()─▶ ready ─serve()─▶ evaluating ─served()─▶ evaluated
///    ▲               │    ▲                                       │                      │
///    │        keep() ▼    │ take()                                │ (no device)    claim()
///    │              partial                                       ▼                      ▼
///    └───────────────────────────release()──────────────────── completing ◀──────────────┘
///
/// Invariant: every slot is in one list, is held by one worker, or waits in Place::round for the
/// rest of its round. Three counters cover the slots held by workers: turns of gathering, batches
/// inside evaluate() (without a device, until they are completed), and batches of a device that are
/// being completed.
///
/// Nothing here locks, allocates or evaluates; the owner's mutex guards everything.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "search/run/plan.h"
#include "search/run/slot.h"

namespace pyengine {

class Slots {
 public:
  explicit Slots(const EvaluatorTraits& traits) noexcept
      : runs_on_(traits.runs_on), ahead_(ahead_of(traits.runs_on)) {}

  /// Called before a run, when all slots are free: drops those beyond the plan.
  void plan(const SlotPlan& plan) noexcept;
  /// `many`: see TurnPlan.
  void begin(bool use_cache, bool repeatable, bool many) noexcept {
    use_cache_ = use_cache;
    repeatable_ = repeatable;
    many_ = many;
  }
  [[nodiscard]] const SlotPlan& planned() const noexcept { return plan_; }
  /// Number of existing slots.
  [[nodiscard]] std::size_t count() const noexcept { return slots_.size(); }

  // --- gathering
  /// Whether a worker may begin to gather from a search with this load.
  [[nodiscard]] bool may_gather(Load load) const noexcept;
  /// Whether a slot is available; a round takes several.
  [[nodiscard]] bool has_slots_to_gather(bool round) const noexcept {
    return round ? unused() >= (gathering_ + 1) * plan_.per_round
                 : !partial_.empty() || unused() > 0;
  }
  /// Number of leaves in the slot that take() would return.
  [[nodiscard]] int leaves_to_add_to() const noexcept { return partial_.most_leaves(); }
  void begin_gathering() noexcept { ++gathering_; }
  void end_gathering() noexcept { --gathering_; }
  /// The fullest partial slot, else a free one; nullptr if there is none.
  [[nodiscard]] Slot* take() noexcept;
  /// Whether to create another slot: then call add() or making_failed().
  [[nodiscard]] bool begin_making() noexcept;
  Slot* add(std::unique_ptr<Slot> slot) { return slots_.emplace_back(std::move(slot)).get(); }
  void making_failed() noexcept { --begun_; }
  /// Keeps the slot for more leaves.
  void keep(Slot& slot) noexcept {
    (slot.batch->num_leaves == 0 ? free_ : partial_).push_front(slot);
  }
  /// Queues the slot for evaluation as it is.
  void make_ready(Slot& slot) noexcept { ready_.push_back(slot); }

  // --- partial slots
  /// The fullest partial slot if nothing can be added to it and waiting will not fill it; else
  /// nullptr.
  [[nodiscard]] Slot* take_stuck() noexcept {
    return will_grow() ? nullptr : partial_.pop_fullest();
  }
  /// The fullest partial slot if no batch is ready or in evaluation; else nullptr.
  [[nodiscard]] Slot* take_forgotten() noexcept {
    return evaluating_ != 0 || !ready_.empty() ? nullptr : partial_.pop_fullest();
  }
  /// A ready or partial slot, at the end of a run; nullptr if there is none.
  [[nodiscard]] Slot* take_cancelled() noexcept;

  // --- evaluating and completing
  [[nodiscard]] bool any_ready() const noexcept { return !ready_.empty(); }
  [[nodiscard]] bool any_evaluated() const noexcept { return !evaluated_.empty(); }
  [[nodiscard]] bool any_unevaluated() const noexcept {
    return !ready_.empty() || !partial_.empty();
  }
  /// The next batch to evaluate; nullptr if there is none.
  [[nodiscard]] Slot* serve() noexcept;
  /// A device has evaluated the slot; a worker must complete it.
  void served(Slot& slot) noexcept {
    --evaluating_;
    evaluated_.push_back(slot);
  }
  /// The next batch to complete; nullptr if there is none.
  [[nodiscard]] Slot* claim() noexcept;
  /// The worker has finished a batch that it evaluated or claimed.
  void end_evaluating() noexcept { --evaluating_; }
  void end_completing() noexcept { --completing_; }
  /// Frees a slot whose leaves are completed or taken back.
  void release(Slot& slot) noexcept;
  /// Called after a run: drops the positions that batches keep.
  void forget_positions() noexcept {
    for (const auto& slot : slots_) slot->batch->forget_positions();
  }

  /// Insertions into and removals from lists since construction.
  [[nodiscard]] std::uint64_t operations() const noexcept {
    return free_.operations() + partial_.operations() + ready_.operations() +
        evaluated_.operations();
  }

 private:
  /// Slots without leaves, including those that may still be created.
  [[nodiscard]] int unused() const noexcept { return free_.size() + plan_.most - begun_; }
  [[nodiscard]] bool will_grow() const noexcept;

  const RunsOn runs_on_;
  const Ahead ahead_;
  SlotPlan plan_;
  bool use_cache_ = false;
  bool repeatable_ = false;
  bool many_ = false;

  std::vector<std::unique_ptr<Slot>> slots_;
  int begun_ = 0;  ///< slots that exist or are being created
  SlotList free_;
  SlotList partial_;
  SlotList ready_;
  SlotList evaluated_;
  int gathering_ = 0;   ///< turns
  int evaluating_ = 0;  ///< batches; see above
  int completing_ = 0;  ///< batches evaluated by a device
};

}  // namespace pyengine
