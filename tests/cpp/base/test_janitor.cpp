#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/janitor.h"

namespace pyengine {
namespace {

TEST_CASE("waiting for background work can be cancelled") {
  std::atomic<bool> ends{false};
  run_in_background([&] {
    while (!ends) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  int calls = 0;
  wait_for_background([&] { return ++calls < 3; });
  CHECK(calls == 3);
  ends = true;
  wait_for_background([] { return true; });
  int more = 0;
  wait_for_background([&] { return ++more < 3; });
  CHECK(more == 0);
}

}  // namespace
}  // namespace pyengine
