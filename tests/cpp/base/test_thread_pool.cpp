/// The thread pool: joining and leaving crews, and the number of threads.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/thread_pool.h"

namespace pyengine {
namespace {

using namespace std::chrono_literals;

template <class Condition>
bool comes_true(const Condition& condition) {
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (!condition() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(50us);
  return condition();
}

/// A crew whose members work until the test ends it, or until another crew needs them.
struct Busy {
  std::atomic<bool> over{false};
  std::atomic<int> here{0};
  Crew crew{[this](std::size_t) {
              ++here;
              bool leaves = false;
              while (!over && !leaves) {
                std::this_thread::sleep_for(20us);
                leaves = crew.lets_one_go();
              }
              --here;
              return leaves;
            },
            Crew::Need::optional};

  explicit Busy(int members) { crew.open(members); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() {
    over = true;
    crew.close();
  }
};

constexpr int kMany = 1024;

/// The size of a single crew that takes all threads available to optional crews.
int most_members() {
  Busy all(kMany);
  int before = -1;
  while (all.here != before) {
    before = all.here;
    std::this_thread::sleep_for(20ms);
  }
  return before;
}

TEST_SUITE("concurrent") {
  TEST_CASE("members have distinct places, and close() waits for all of them") {
    std::vector<std::atomic<int>> times(5);
    for (int opening = 0; opening < 50; ++opening) {
      std::atomic<bool> over{false};
      std::atomic<int> together{0};
      std::vector<std::atomic<int>> inside(times.size());
      Crew crew(
          [&](std::size_t place) {
            CHECK(++inside[place] == 1);
            ++times[place];
            ++together;
            while (!over) std::this_thread::yield();
            --inside[place];
            return false;
          },
          Crew::Need::optional);
      crew.open(5);
      CHECK(comes_true([&] { return together == 5; }));
      over = true;
      crew.close();
      for (const auto& place : inside) CHECK(place == 0);
    }
    for (const auto& place : times) CHECK(place == 50);
  }

  TEST_CASE("consecutive crews reuse the same threads") {
    most_members();
    const int before = pool_threads();
    for (int i = 0; i < 300; ++i) {
      Busy crew(7);
      if (i % 50 == 0) CHECK(comes_true([&] { return crew.here == 7; }));
    }
    CHECK(pool_threads() == before);
  }

  TEST_CASE("closing a crew does not wait for threads that never joined") {
    const int most = most_members();
    Busy all(kMany);
    REQUIRE(comes_true([&] { return all.here >= most; }));
    Crew none([](std::size_t) { return false; }, Crew::Need::optional);
    none.open(1);
    none.close();
  }

  TEST_CASE("if all threads are busy, crews end up with equal shares") {
    const int most = most_members();
    std::vector<std::unique_ptr<Busy>> crews;
    for (int i = 0; i < 4; ++i) crews.push_back(std::make_unique<Busy>(kMany));
    const auto equal = [&] {
      int least = kMany;
      int largest = 0;
      for (const auto& crew : crews) {
        least = std::min<int>(least, crew->here);
        largest = std::max<int>(largest, crew->here);
      }
      return largest - least <= 1 && least >= most / 4 - 1;
    };
    CHECK(comes_true(equal));
    crews.resize(2);  // the remaining crews get the threads of the others
    CHECK(comes_true([&] { return crews[0]->here >= most / 2 - 1; }));
    CHECK(comes_true([&] { return crews[1]->here >= most / 2 - 1; }));
  }

  TEST_CASE("essential members join immediately although other crews hold all threads") {
    most_members();
    std::atomic<bool> over{false};
    const auto stubborn = [&](std::size_t) {
      while (!over) std::this_thread::sleep_for(50us);
      return false;
    };
    Crew selfish(stubborn, Crew::Need::optional);
    selfish.open(kMany);
    std::atomic<int> came{0};
    Crew essential(
        [&](std::size_t) {
          ++came;
          return stubborn(0);
        },
        Crew::Need::essential);
    essential.open(3);
    CHECK(comes_true([&] { return came == 3; }));
    over = true;
    essential.close();
    selfish.close();
  }

  TEST_CASE("a crew that is opened while its last member leaves is joined again") {
    std::atomic<int> calls{0};
    Crew crew(
        [&](std::size_t) {
          ++calls;
          return false;  // closes the crew unless it was opened in the meantime
        },
        Crew::Need::essential);
    for (int opening = 0; opening < 500; ++opening) {
      const int before = calls;
      crew.open(1);
      CHECK(comes_true([&] { return calls > before; }));
    }
  }
}

}  // namespace
}  // namespace pyengine
