/// Who works and who sleeps, without searches and batches: workers take numbers from a heap.
#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <vector>

#include "search/run/team.h"

namespace pyengine {
namespace {

using namespace std::chrono_literals;

/// Workers take numbers until there are none; each number may bring others.
struct Heap {
  Team team;
  int left = 0;     ///< to be taken, under the team's mutex
  int working = 0;  ///< on a number
  int late = 0;     ///< that finished numbers bring
  std::atomic<int> taken{0};

  void work(bool caller) {
    Team::Pass pass = team.pass();
    for (;;) {
      if (left == 0 && late == 0 && working == 0) {
        team.wake_all();
        return;
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
    team.hire(helpers, [this](std::size_t) { work(false); });
    {
      const Team::Pass pass = team.pass();
      left = numbers;
      late = more;
      team.begin_run(helpers);
    }
    work(true);
    Team::Pass pass = team.pass();
    team.end_run(pass);
  }
};

TEST_SUITE("concurrent") {
  TEST_CASE("no work is overlooked, run after run, by any number of workers") {
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

  TEST_CASE("fewer helpers than there are may take part in a run") {
    Team team;
    std::atomic<int> seen{0};
    const auto work = [&](std::size_t index) { seen += static_cast<int>(index); };
    team.hire(3, work);
    for (const int helpers : {3, 1, 0, 2}) {
      seen = 0;
      Team::Pass pass = team.pass();
      team.begin_run(helpers);
      team.end_run(pass);
      CHECK(seen == helpers * (helpers + 1) / 2);
    }
  }

  TEST_CASE("one sleeper at a time is woken, however often somebody says that there is work") {
    Team team;
    std::atomic<int> awake{0};
    bool over = false;
    team.hire(4, [&](std::size_t) {
      Team::Pass pass = team.pass();
      while (!over) {
        team.sleep(pass);
        ++awake;
      }
    });
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
    team.end_run(pass);
    CHECK(awake <= 4);
  }

  TEST_CASE("servers are woken for what is there and end with the team") {
    std::atomic<int> served{0};
    Team team;
    int waiting = 0;
    team.hire_servers(2, [&] {
      Team::Pass pass = team.pass();
      while (!team.closing()) {
        if (waiting == 0) {
          team.sleep_as_server(pass);
          continue;
        }
        --waiting;
        ++served;
        if (waiting != 0 && team.can_wake_server()) team.wake_server();
      }
    });
    for (int batch = 0; batch < 50; ++batch) {
      const Team::Pass pass = team.pass();
      waiting += 2;
      if (team.can_wake_server()) team.wake_server();
    }
    while (served < 100) std::this_thread::yield();
    team.close();
    CHECK(served == 100);
  }
}

}  // namespace
}  // namespace pyengine
