/// Parts of ONNX models that need no library.
#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <utility>
#include <vector>

#include "base/janitor.h"
#include "eval/ort/model.h"

using namespace pyengine;
using namespace pyengine::ort;

namespace {

std::atomic<int> g_closed{0};

/// Fake sessions that count how many are closed.
std::vector<Handle<OrtSession>> one_session() {
  static int session = 0;
  std::vector<Handle<OrtSession>> sessions;
  sessions.emplace_back(reinterpret_cast<OrtSession*>(&session),
                        Releaser<OrtSession>{[](OrtSession*) { ++g_closed; }});
  return sessions;
}

}  // namespace

TEST_SUITE("concurrent") {
  TEST_CASE("sessions of an idle device are closed immediately") {
    g_closed = 0;
    close_on_device(one_session());
    CHECK(g_closed == 1);
  }

  TEST_CASE("closing a device's sessions does not wait for a model that is being opened there") {
    g_closed = 0;
    {
      const std::lock_guard opening(device_lock());
      std::async(std::launch::async, [] { close_on_device(one_session()); }).get();
      run_in_background([] {});
      wait_for_background();  // waiting for memory does not wait for the device either
      CHECK(g_closed == 0);
    }
    wait_for_background(Background::devices);
    CHECK(g_closed == 1);
  }

  TEST_CASE("no thread has exclusive use of the device while a batch is on it") {
    const auto elsewhere = [](auto attempt) {
      return std::async(std::launch::async, attempt).get();
    };
    {
      const std::shared_lock batch(device_lock());
      CHECK(!elsewhere([] { return device_lock().try_lock(); }));
      elsewhere([] { const std::shared_lock another(device_lock()); });  // all locks are released
    }
    CHECK(device_lock().try_lock());
    device_lock().unlock();
  }
}
