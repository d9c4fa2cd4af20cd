/// The life cycle of batches, without an evaluator, searches and threads.
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "search/run/slots.h"

namespace pyengine {
namespace {

EvaluatorTraits device(int batches) { return {.runs_on = on_device(batches)}; }
EvaluatorTraits callable() { return {.runs_on = {EvalThread::calling}}; }

/// Slots whose batches have no memory.
struct Cycle {
  Slots slots;
  explicit Cycle(const EvaluatorTraits& traits, int most = 8, bool many = false) : slots(traits) {
    slots.plan({most, 2});
    slots.begin(true, false, many);
  }
  /// A slot held by a gathering worker.
  Slot& gathered(int leaves) {
    slots.begin_gathering();
    Slot* slot = slots.take();
    if (slot == nullptr) {
      REQUIRE(slots.begin_making());
      auto made = std::make_unique<Slot>();
      made->batch = std::make_unique<EvalBatch>();
      slot = slots.add(std::move(made));
    }
    slot->batch->num_leaves = leaves;
    return *slot;
  }
  void make_ready(int leaves) {
    slots.make_ready(gathered(leaves));
    slots.end_gathering();
  }
  void keep(int leaves) {
    slots.keep(gathered(leaves));
    slots.end_gathering();
  }
};

TEST_CASE("a batch is passed on and comes back empty") {
  Cycle cycle(device(1));
  cycle.make_ready(3);
  CHECK(cycle.slots.any_ready());
  Slot* slot = cycle.slots.serve();
  REQUIRE(slot != nullptr);
  CHECK(cycle.slots.serve() == nullptr);
  CHECK(cycle.slots.claim() == nullptr);
  cycle.slots.served(*slot);
  CHECK(cycle.slots.any_evaluated());
  CHECK(cycle.slots.claim() == slot);
  slot->cancelled = true;
  cycle.slots.release(*slot);
  cycle.slots.end_completing();
  CHECK(&cycle.gathered(0) == slot);
  CHECK(slot->batch->num_leaves == 0);
  CHECK_FALSE(slot->cancelled);
}

TEST_CASE("gathering continues with the fullest batch") {
  Cycle cycle(device(1));
  Slot& small = cycle.gathered(2);
  Slot& large = cycle.gathered(5);
  cycle.slots.keep(small);
  cycle.slots.keep(large);
  CHECK(cycle.slots.leaves_to_add_to() == 5);
  CHECK(cycle.slots.take() == &large);
  CHECK(cycle.slots.leaves_to_add_to() == 2);
  CHECK(cycle.slots.take() == &small);
  CHECK(cycle.slots.leaves_to_add_to() == 0);
}

TEST_CASE("no more slots are created than planned, and one that fails does not count") {
  Cycle cycle(device(1), 2);
  static_cast<void>(cycle.gathered(1));
  CHECK(cycle.slots.has_slots_to_gather(false));
  REQUIRE(cycle.slots.begin_making());
  CHECK_FALSE(cycle.slots.has_slots_to_gather(false));
  CHECK_FALSE(cycle.slots.begin_making());
  cycle.slots.making_failed();
  CHECK(cycle.slots.has_slots_to_gather(false));
}

TEST_CASE("a round begins once every round in progress has all its slots") {
  Cycle cycle(device(1), 4);  // two slots per round
  CHECK(cycle.slots.has_slots_to_gather(true));
  cycle.slots.begin_gathering();
  CHECK(cycle.slots.has_slots_to_gather(true));
  cycle.slots.begin_gathering();
  CHECK_FALSE(cycle.slots.has_slots_to_gather(true));
}

TEST_CASE("slots beyond the next run's plan are destroyed") {
  Cycle cycle(device(1));
  std::vector<Slot*> taken;
  for (int i = 0; i < 5; ++i) taken.push_back(&cycle.gathered(1));
  for (Slot* slot : taken) cycle.slots.release(*slot);
  cycle.slots.plan({2, 1});
  CHECK(cycle.slots.count() == 2);
  CHECK(cycle.slots.take() != nullptr);
  CHECK(cycle.slots.take() != nullptr);
  CHECK(cycle.slots.take() == nullptr);
  CHECK_FALSE(cycle.slots.begin_making());
}

TEST_CASE("nothing is gathered while as many batches wait as a device serves") {
  Cycle cycle(device(2));
  cycle.make_ready(1);
  CHECK(cycle.slots.may_gather(Load::idle));
  cycle.make_ready(1);
  CHECK_FALSE(cycle.slots.may_gather(Load::idle));
  static_cast<void>(cycle.slots.serve());
  CHECK(cycle.slots.may_gather(Load::idle));
}

TEST_CASE("with many searches, busy ones are deepened only if the device would run dry") {
  Cycle cycle(device(2), 8, true);
  cycle.make_ready(1);
  static_cast<void>(cycle.slots.serve());
  CHECK(cycle.slots.may_gather(Load::busy));
  cycle.make_ready(1);
  CHECK(cycle.slots.may_gather(Load::busy));
  cycle.keep(1);  // the idle searches may be in it
  CHECK_FALSE(cycle.slots.may_gather(Load::busy));
  CHECK(cycle.slots.may_gather(Load::idle));
}

TEST_CASE("a callable's batch waits for one gatherer and counts until it is completed") {
  Cycle cycle(callable());
  cycle.slots.begin_gathering();
  CHECK_FALSE(cycle.slots.may_gather(Load::idle));
  cycle.slots.end_gathering();
  cycle.make_ready(1);
  CHECK_FALSE(cycle.slots.may_gather(Load::idle));
  static_cast<void>(cycle.slots.serve());
  CHECK(cycle.slots.may_gather(Load::idle));
  CHECK(cycle.slots.may_gather(Load::busy));
  cycle.keep(1);
  CHECK(cycle.slots.take_stuck() == nullptr);  // evaluation will make searches idle
  cycle.slots.end_evaluating();
  CHECK(cycle.slots.take_stuck() != nullptr);
}

TEST_CASE("a partial batch is stuck if nobody fills it and the evaluator is idle") {
  Cycle cycle(device(2));
  cycle.keep(3);
  cycle.slots.begin_gathering();
  CHECK(cycle.slots.take_stuck() == nullptr);
  cycle.slots.end_gathering();
  Slot* stuck = cycle.slots.take_stuck();
  REQUIRE(stuck != nullptr);
  cycle.slots.make_ready(*stuck);
  cycle.keep(2);
  CHECK(cycle.slots.take_forgotten() == nullptr);
  CHECK(cycle.slots.take_stuck() != nullptr);  // the device serves two batches
}

TEST_CASE("at the end of a run, ready and partial batches are taken back") {
  Cycle cycle(device(1));
  cycle.make_ready(2);
  cycle.keep(1);
  CHECK(cycle.slots.any_unevaluated());
  CHECK(cycle.slots.take_cancelled() != nullptr);
  CHECK(cycle.slots.take_cancelled() != nullptr);
  CHECK(cycle.slots.take_cancelled() == nullptr);
  CHECK_FALSE(cycle.slots.any_unevaluated());
}

TEST_CASE("a list can be refilled after its last slot was removed in any way") {
  std::vector<Slot> slots(3);
  const std::vector<int> leaves{1, 5, 2};
  for (std::size_t i = 0; i < 3; ++i) {
    slots[i].batch = std::make_unique<EvalBatch>();
    slots[i].batch->num_leaves = leaves[i];
  }
  SlotList list;
  list.push_back(slots[0]);
  list.push_back(slots[1]);
  CHECK(list.pop_fullest() == &slots[1]);  // the last one
  list.push_back(slots[2]);
  list.push_front(slots[1]);
  CHECK(list.size() == 3);
  for (const std::size_t i : {1U, 0U, 2U}) CHECK(list.pop_front() == &slots[i]);
  CHECK(list.empty());
  list.push_back(slots[0]);
  CHECK(list.pop_fullest() == &slots[0]);
  CHECK(list.pop_fullest() == nullptr);
}

}  // namespace
}  // namespace pyengine
