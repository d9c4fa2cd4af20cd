/// Conditions that end a run before its budget is used up.
#include <doctest/doctest.h>

#include <stdexcept>
#include <thread>

#include "search/run/watch.h"

namespace pyengine {
namespace {

struct AnsweringHost final : Host {
  bool goes_on = true;
  bool throws = false;
  int polls = 0;
  bool poll() override {
    ++polls;
    if (throws) throw std::runtime_error("no");
    return goes_on;
  }
};

void let_a_poll_come_due() { std::this_thread::sleep_for(std::chrono::milliseconds(6)); }

TEST_CASE("a run continues until its deadline unless it is stopped") {
  AnsweringHost host;
  std::atomic<bool> stop{false};
  const Watch open(host, stop, std::nullopt);
  CHECK_FALSE(open.due().has_value());
  const Watch late(host, stop, Clock::now());
  CHECK(late.due() == RunEnd::deadline);
  CHECK(late.next_look() <= Clock::now());
  stop = true;
  CHECK(late.due() == RunEnd::stopped);
  CHECK(open.due() == RunEnd::stopped);
}

TEST_CASE("a host that returns false stops the run, and is polled at most every 5 ms") {
  AnsweringHost host;
  const std::atomic<bool> stop{false};
  Watch watch(host, stop, std::nullopt);
  host.goes_on = false;
  let_a_poll_come_due();
  watch.poll_host();
  watch.poll_host();
  CHECK(host.polls == 1);
  CHECK(watch.due() == RunEnd::stopped);
}

TEST_CASE("exceptions of a host propagate") {
  AnsweringHost host;
  const std::atomic<bool> stop{false};
  Watch watch(host, stop, std::nullopt);
  host.throws = true;
  let_a_poll_come_due();
  CHECK_THROWS_AS(watch.poll_host(), std::runtime_error);
}

}  // namespace
}  // namespace pyengine
