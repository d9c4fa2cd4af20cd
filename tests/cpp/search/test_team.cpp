/// Scheduling of workers without searches and batches: workers take numbers from a heap.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "search/run/team.h"

namespace pyengine {
namespace {

using namespace std::chrono_literals;

/// Workers take numbers until none are left; each number may add others.
struct Heap {
  Team team{[this](std::size_t) { return work(false); }, [] {}};
  int left = 0;     ///< not yet taken; guarded by the team's mutex
  int working = 0;  ///< being processed
  int late = 0;     ///< added by finished numbers
  std::atomic<int> taken{0};

  bool work(bool caller) {
    Team::Pass pass = team.pass();
    for (;;) {
      if (left == 0 && late == 0 && working == 0) {
        team.wake_all();
        return false;
      }
      if (left == 0) {
        caller ? team.sleep_until(pass, Clock::now() + 5ms) : team.sleep(pass);
        continue;
      }
      --left;
      ++working;
      wake_for_rest();
      pass.unlock();
      ++taken;
      std::this_thread::sleep_for(20us);
      pass.lock();
      --working;
      if (late > 0) {
        late -= 1;
        left += 1;
      }
    }
  }
  void wake_for_rest() {
    if (left == 0) return;
    if (team.can_wake_worker()) {
      team.wake_worker();
    } else if (team.can_wake_caller()) {
      team.wake_caller();
    }
  }
  void run(int helpers, int numbers, int more) {
    {
      const Team::Pass pass = team.pass();
      left = numbers;
      late = more;
      team.begin_run(helpers);
    }
    work(true);
    team.end_run();
  }
};

TEST_SUITE("concurrent") {
  TEST_CASE("no work is missed, run after run, by any number of workers") {
    for (const int helpers : {0, 1, 3, 15}) {
      CAPTURE(helpers);
      Heap heap;
      for (int run = 0; run < 20; ++run) {
        heap.taken = 0;
        heap.run(helpers, 3, 40);
        CHECK(heap.taken == 43);
      }
    }
  }

  TEST_CASE("one sleeper at a time is woken, however often new work is announced") {
    std::atomic<int> awake{0};
    bool over = false;
    Team* running = nullptr;
    const auto work = [&](std::size_t) {
      Team::Pass pass = running->pass();
      while (!over) {
        running->sleep(pass);
        ++awake;
      }
      return false;
    };
    Team team(work, [] {});
    running = &team;
    Team::Pass pass = team.pass();
    team.begin_run(4);
    while (!team.can_wake_worker()) {
      pass.unlock();
      std::this_thread::yield();
      pass.lock();
    }
    int woken = 0;
    for (int times = 0; times < 10; ++times) {
      if (!team.can_wake_worker()) continue;
      team.wake_worker();
      ++woken;
    }
    CHECK(woken == 1);
    CHECK(team.worker_wakes());
    over = true;
    team.wake_all();
    pass.unlock();
    team.end_run();
    CHECK(awake <= 4);
  }

  TEST_CASE("servers are woken for available work, even after they have returned to the pool") {
    std::atomic<int> served{0};
    std::atomic<int> serving{0};
    int waiting = 0;
    Team* serves = nullptr;
    const auto serve = [&] {
      ++serving;
      Team::Pass pass = serves->pass();
      for (;;) {
        if (waiting == 0) {
          if (serves->sleep_as_server(pass)) continue;
          --serving;
          return;
        }
        --waiting;
        ++served;
        if (waiting != 0 && serves->can_wake_server()) serves->wake_server();
      }
    };
    Team team([](std::size_t) { return false; }, serve);
    serves = &team;
    for (int run = 1; run <= 2; ++run) {
      team.open_servers(2);
      {
        const Team::Pass pass = team.pass();
        team.begin_run(0);
      }
      for (int batch = 0; batch < 50; ++batch) {
        const Team::Pass pass = team.pass();
        waiting += 2;
        if (team.can_wake_server()) team.wake_server();
      }
      while (served < 100 * run) std::this_thread::yield();
      team.end_run();
      while (serving != 0) std::this_thread::sleep_for(1ms);
    }
    team.open_servers(2);
    team.close();  // while they are on their way, or asleep
    CHECK(serving == 0);
    CHECK(served == 200);
  }
}

}  // namespace
}  // namespace pyengine
