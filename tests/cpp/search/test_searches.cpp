/// Which search is gathered from next, without trees, batches and threads.
#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "search/run/searches.h"

namespace pyengine {
namespace {

/// A search whose state is set by the test.
struct FakeSearch {
  int missing = 1000;  ///< simulations
  int in_flight = 0;   ///< leaves
  bool has_root = true;
  bool is_closed = false;

  [[nodiscard]] bool may_gather() const noexcept { return !is_closed && missing > 0; }
  [[nodiscard]] bool idle() const noexcept { return in_flight == 0; }
  [[nodiscard]] bool finished() const noexcept {
    return in_flight == 0 && (is_closed || missing == 0);
  }
  [[nodiscard]] bool root_ready() const noexcept { return has_root; }
  [[nodiscard]] bool closed() const noexcept { return is_closed; }
  void close() noexcept { is_closed = true; }
};
static_assert(Schedulable<FakeSearch>);

using Searches = SearchesOf<FakeSearch>;

constexpr auto kAlways = [](Load) { return true; };
constexpr auto kIdleOnly = [](Load load) { return load == Load::idle; };

/// A run over searches that the test modifies.
struct Run {
  std::vector<FakeSearch> fakes;
  Searches searches;

  explicit Run(std::size_t count, int most_gatherers = 1, bool hands_over = false) : fakes(count) {
    std::vector<FakeSearch*> pointers;
    for (FakeSearch& fake : fakes) pointers.push_back(&fake);
    searches.begin(pointers, most_gatherers, hands_over);
  }
  Searches::Place& place(std::size_t index) { return searches.places()[index]; }
  /// Numbers of the searches in one turn.
  std::vector<std::ptrdiff_t> enter(std::size_t most, const auto& may_gather) {
    std::vector<Searches::Place*> turn(most);
    turn.resize(searches.enter(turn, may_gather));
    std::vector<std::ptrdiff_t> numbers;
    for (const Searches::Place* entered : turn) numbers.push_back(entered->search - fakes.data());
    return numbers;
  }
};
using SearchNumbers = std::vector<std::ptrdiff_t>;

TEST_CASE("the longest-waiting search is entered first, and a turn enters each once") {
  Run run(4);
  CHECK(run.enter(3, kAlways) == SearchNumbers{0, 1, 2});
  CHECK_FALSE(run.searches.leave(run.place(1)));
  CHECK(run.enter(9, kAlways) == SearchNumbers{3, 1});
  CHECK(run.enter(9, kAlways).empty());
}

TEST_CASE("idle searches go before busy ones, which are deepened only if allowed") {
  Run run(3);
  CHECK(run.enter(1, kAlways) == SearchNumbers{0});
  run.fakes[0].in_flight = 1;
  CHECK_FALSE(run.searches.leave(run.place(0)));
  CHECK(run.enter(9, kIdleOnly) == SearchNumbers{1, 2});
  CHECK(run.searches.waits(Load::busy));
  CHECK(run.enter(9, kIdleOnly).empty());
  CHECK(run.enter(9, kAlways) == SearchNumbers{0});
}

TEST_CASE("a search that became idle in the busy queue is treated as idle") {
  Run run(1);
  run.fakes[0].in_flight = 1;
  CHECK(run.enter(1, kIdleOnly).empty());  // the idle queue was out of date
  CHECK(run.searches.waits(Load::busy));
  run.fakes[0].in_flight = 0;
  CHECK_FALSE(run.searches.review(run.place(0)));
  CHECK(run.enter(1, kIdleOnly) == SearchNumbers{0});
}

TEST_CASE("the allowed number of workers gather from one search") {
  Run run(1, 2);
  CHECK(run.enter(1, kAlways) == SearchNumbers{0});
  CHECK(run.enter(1, kAlways) == SearchNumbers{0});
  CHECK(run.enter(1, kAlways).empty());
  CHECK_FALSE(run.searches.leave(run.place(0)));
  CHECK(run.enter(1, kAlways) == SearchNumbers{0});
}

TEST_CASE("a search without simulations to start is in no queue until it is reviewed") {
  Run run(1);
  run.fakes[0].missing = 0;
  run.fakes[0].in_flight = 1;
  CHECK(run.enter(1, kAlways).empty());
  CHECK_FALSE(run.searches.waits(Load::idle));
  CHECK_FALSE(run.searches.waits(Load::busy));
  run.fakes[0].missing = 1;  // a leaf was undone
  run.fakes[0].in_flight = 0;
  CHECK_FALSE(run.searches.review(run.place(0)));
  CHECK(run.enter(1, kAlways) == SearchNumbers{0});
}

TEST_CASE("a finished search is held by one worker, and its successor takes its place") {
  Run run(2, 1, true);
  run.fakes[0].missing = 0;
  CHECK(run.searches.review(run.place(0)));
  CHECK_FALSE(run.searches.review(run.place(0)));  // another worker holds it
  CHECK_FALSE(run.searches.all_finished());
  run.fakes[0] = {};  // the next search
  CHECK_FALSE(run.searches.review(run.place(0)));
  CHECK(run.enter(9, kAlways) == SearchNumbers{1});  // nobody enters a held place
  CHECK_FALSE(run.searches.replaced(run.place(0), true));
  CHECK(run.enter(9, kAlways) == SearchNumbers{0});
}

TEST_CASE("a successor may be finished already, and is held again") {
  Run run(1, 1, true);
  run.fakes[0].missing = 0;
  CHECK(run.searches.review(run.place(0)));
  CHECK(run.searches.replaced(run.place(0), true));
  CHECK_FALSE(run.searches.all_finished());
  CHECK_FALSE(run.searches.replaced(run.place(0), false));
  CHECK(run.fakes[0].is_closed);
  CHECK(run.searches.all_finished());
}

TEST_CASE("a run is over when every search is finished and handed over, or could not be created") {
  Run run(3, 1, true);
  for (FakeSearch& fake : run.fakes) fake.missing = 0;
  CHECK_FALSE(run.searches.all_finished());
  for (std::size_t i = 0; i < 3; ++i) REQUIRE(run.searches.review(run.place(i)));
  CHECK_FALSE(run.searches.replaced(run.place(0), false));
  CHECK_FALSE(run.searches.replaced(run.place(2), false));
  CHECK_FALSE(run.searches.all_finished());
  run.searches.abandon(run.place(1));
  CHECK(run.searches.all_finished());
}

TEST_CASE("a search that a worker is gathering from is not finished") {
  Run run(1);
  CHECK(run.enter(1, kAlways) == SearchNumbers{0});
  run.fakes[0].missing = 0;
  CHECK_FALSE(run.searches.all_finished());
  CHECK_FALSE(run.searches.leave(run.place(0)));
  CHECK(run.searches.all_finished());
}

TEST_CASE("a run that ends early continues until each root is expanded, and starts no successor") {
  Run run(2, 1, true);
  run.fakes[1].has_root = false;
  CHECK_FALSE(run.searches.close_where_ready());
  CHECK(run.fakes[0].is_closed);
  CHECK_FALSE(run.fakes[1].is_closed);
  CHECK_FALSE(run.searches.hands_over());
  run.fakes[1].has_root = true;
  CHECK(run.searches.close_where_ready());
  CHECK(run.searches.all_finished());
}

TEST_CASE("whoever holds a search when the run ends closes it") {
  Run run(1, 1, true);
  run.fakes[0].missing = 0;
  REQUIRE(run.searches.review(run.place(0)));
  run.searches.close_all();
  CHECK_FALSE(run.fakes[0].is_closed);  // nobody else uses it
  CHECK_FALSE(run.searches.all_finished());
  run.fakes[0].missing = 10;
  CHECK_FALSE(run.searches.replaced(run.place(0), true));
  CHECK(run.fakes[0].is_closed);
  CHECK(run.searches.all_finished());
}

}  // namespace
}  // namespace pyengine
