/// Lines of searches and of slots, without a search and without a network.
#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "search/run/search_queue.h"

namespace pyengine {
namespace {

TEST_CASE("searches are served in the order in which they were queued") {
  std::array<Place, 3> places;
  SearchQueue queue;
  CHECK_FALSE(queue.has(Load::idle));
  for (Place& place : places) queue.push(place, Load::idle);
  for (Place& place : places) {
    REQUIRE(queue.has(Load::idle));
    CHECK(queue.pop(Load::idle) == &place);
  }
  CHECK_FALSE(queue.has(Load::idle));
  CHECK(queue.pop(Load::idle) == nullptr);
}

TEST_CASE("a search stands in a line once, and in both lines at the same time") {
  std::array<Place, 2> places;
  SearchQueue queue;
  for (int times = 0; times < 3; ++times) {
    queue.push(places[0], Load::busy);
    queue.push(places[1], Load::busy);
    queue.push(places[0], Load::idle);
  }
  CHECK(queue.pop(Load::busy) == &places[0]);
  queue.push(places[0], Load::busy);  // behind the other one now
  CHECK(queue.pop(Load::busy) == &places[1]);
  CHECK(queue.pop(Load::busy) == &places[0]);
  CHECK_FALSE(queue.has(Load::busy));
  CHECK(queue.pop(Load::idle) == &places[0]);
  CHECK_FALSE(queue.has(Load::idle));
}

struct Slots {
  std::vector<Slot> all;
  explicit Slots(const std::vector<int>& leaves) : all(leaves.size()) {
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      all[i].batch = std::make_unique<EvalBatch>();
      all[i].batch->num_leaves = leaves[i];
    }
  }
};

TEST_CASE("slots leave a list from its front, or the fullest first") {
  Slots slots({3, 7, 7, 1});
  SlotList list;
  for (Slot& slot : slots.all) list.push_back(slot);
  CHECK(list.size() == 4);
  CHECK(list.pop_fullest() == &slots.all[1]);
  CHECK(list.pop_fullest() == &slots.all[2]);
  CHECK(list.pop_front() == &slots.all[0]);
  list.push_front(slots.all[0]);
  CHECK(list.pop_fullest() == &slots.all[0]);
  CHECK(list.pop_fullest() == &slots.all[3]);
  CHECK(list.pop_fullest() == nullptr);
  CHECK(list.pop_front() == nullptr);
  CHECK(list.empty());
  CHECK(list.size() == 0);
}

TEST_CASE("a list can be filled again after its last slot has left in any way") {
  Slots slots({1, 5, 2});
  SlotList list;
  SlotList other;
  list.push_back(slots.all[0]);
  list.push_back(slots.all[1]);
  CHECK(list.pop_fullest() == &slots.all[1]);  // the last one
  list.push_back(slots.all[2]);
  other.push_front(slots.all[1]);
  list.append(other);
  CHECK(other.empty());
  CHECK(list.size() == 3);
  for (const std::size_t i : {0U, 2U, 1U}) CHECK(list.pop_front() == &slots.all[i]);
}

}  // namespace
}  // namespace pyengine
