/// Where each batch of a run is in its cycle, and how far gathering may run ahead of evaluating.
///
///   free ─take()─▶ gathering ─make_ready()─▶ ready ─serve()─▶ evaluating ─served()─▶ evaluated
///    ▲               │    ▲                                       │                      │
///    │        keep() ▼    │ take()                                │ (no device)    claim()
///    │              partial                                       ▼                      ▼
///    └───────────────────────────release()──────────────────── completing ◀──────────────┘
///
/// Invariant: every slot is in one list, in one worker's hands, or waits in Place::round for the
/// rest of its round. Three counts tell what is in hands: turns of gathering, batches inside
/// evaluate() (until they are completed, where no device evaluates), and batches of a device being
/// completed.
///
/// Nothing here locks, allocates or evaluates: the owner's mutex guards all of it.
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
      : device_batches_(traits.device_batches),
        calling_thread_(traits.calling_thread),
        ahead_(ahead_of(traits)) {}

  /// Before a run, when all slots are free: drops those beyond the plan.
  void plan(const SlotPlan& plan) noexcept;
  /// `many`: see TurnPlan.
  void begin(bool use_cache, bool repeatable, bool many) noexcept {
    use_cache_ = use_cache;
    repeatable_ = repeatable;
    many_ = many;
  }
  [[nodiscard]] const SlotPlan& planned() const noexcept { return plan_; }
  /// Slots that there are.
  [[nodiscard]] std::size_t count() const noexcept { return slots_.size(); }

  // --- gathering
  /// Whether a worker may begin to gather from a search of this kind.
  [[nodiscard]] bool may_gather(Load load) const noexcept;
  /// Whether there is a slot for it; a round takes several.
  [[nodiscard]] bool has_slots_to_gather(bool round) const noexcept {
    return round ? unused() >= (gathering_ + 1) * plan_.per_round
                 : !partial_.empty() || unused() > 0;
  }
  /// Leaves of the slot that take() will give.
  [[nodiscard]] int leaves_to_add_to() const noexcept { return partial_.most_leaves(); }
  void begin_gathering() noexcept { ++gathering_; }
  void end_gathering() noexcept { --gathering_; }
  /// The fullest slot that waits for leaves, or a free one; nullptr where there is none.
  [[nodiscard]] Slot* take() noexcept;
  /// Whether another slot is to be made: then add() it, or say that it failed.
  [[nodiscard]] bool begin_making() noexcept;
  Slot* add(std::unique_ptr<Slot> slot) { return slots_.emplace_back(std::move(slot)).get(); }
  void making_failed() noexcept { --begun_; }
  /// It waits for more leaves.
  void keep(Slot& slot) noexcept {
    (slot.batch->num_leaves == 0 ? free_ : partial_).push_front(slot);
  }
  /// It is to be evaluated as it is.
  void make_ready(Slot& slot) noexcept { ready_.push_back(slot); }

  // --- partial slots
  /// The fullest one, where nothing can be added and no waiting will fill it; else nullptr.
  [[nodiscard]] Slot* take_stuck() noexcept {
    return will_grow() ? nullptr : partial_.pop_fullest();
  }
  /// The fullest one, where nothing is evaluated and nothing waits for it; else nullptr.
  [[nodiscard]] Slot* take_forgotten() noexcept {
    return evaluating_ != 0 || !ready_.empty() ? nullptr : partial_.pop_fullest();
  }
  /// One that is ready or partial, at the end of a run; nullptr where there is none.
  [[nodiscard]] Slot* take_cancelled() noexcept;

  // --- evaluating and completing
  [[nodiscard]] bool any_ready() const noexcept { return !ready_.empty(); }
  [[nodiscard]] bool any_evaluated() const noexcept { return !evaluated_.empty(); }
  [[nodiscard]] bool any_unevaluated() const noexcept {
    return !ready_.empty() || !partial_.empty();
  }
  /// The next batch to be evaluated; nullptr where there is none.
  [[nodiscard]] Slot* serve() noexcept;
  /// A device has evaluated it: a worker is to complete it.
  void served(Slot& slot) noexcept {
    --evaluating_;
    evaluated_.push_back(slot);
  }
  /// The next batch to be completed; nullptr where there is none.
  [[nodiscard]] Slot* claim() noexcept;
  /// The worker that has evaluated or claimed a batch is done with it.
  void end_evaluating() noexcept { --evaluating_; }
  void end_completing() noexcept { --completing_; }
  /// Its leaves are completed or taken back.
  void release(Slot& slot) noexcept;
  /// After a run: drops the positions that batches keep for their memory.
  void forget_positions() noexcept {
    for (const auto& slot : slots_) slot->batch->forget_positions();
  }

  /// Puts into lists and takes out of them, since this object was made.
  [[nodiscard]] std::uint64_t operations() const noexcept {
    return free_.operations() + partial_.operations() + ready_.operations() +
        evaluated_.operations();
  }

 private:
  /// Slots without leaves, those included that may still be made.
  [[nodiscard]] int unused() const noexcept { return free_.size() + plan_.most - begun_; }
  [[nodiscard]] bool will_grow() const noexcept;

  const int device_batches_;
  const bool calling_thread_;
  const Ahead ahead_;
  SlotPlan plan_;
  bool use_cache_ = false;
  bool repeatable_ = false;
  bool many_ = false;

  std::vector<std::unique_ptr<Slot>> slots_;
  int begun_ = 0;  ///< slots that there are or that are being made
  SlotList free_;
  SlotList partial_;
  SlotList ready_;
  SlotList evaluated_;
  int gathering_ = 0;   ///< turns
  int evaluating_ = 0;  ///< batches; see above
  int completing_ = 0;  ///< batches that a device has evaluated
};

}  // namespace pyengine
