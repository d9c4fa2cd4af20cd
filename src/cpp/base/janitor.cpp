#include "base/janitor.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "base/process.h"

namespace pyengine {
namespace {

class Janitor {
 public:
  Janitor() : thread_([this] { work(); }) {}
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;
  ~Janitor() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void add(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      ++added_;
    }
    changed_.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    const std::uint64_t goal = added_;
    changed_.wait(lock, [&] { return done_ >= goal; });
  }
  void wait(const std::function<bool()>& goes_on) {
    constexpr std::chrono::milliseconds kAskEvery(2);
    std::unique_lock lock(mutex_);
    const std::uint64_t goal = added_;
    while (!changed_.wait_for(lock, kAskEvery, [&] { return done_ >= goal; })) {
      lock.unlock();
      if (!goes_on()) return;
      lock.lock();
    }
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return closing_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      task = nullptr;  // frees the resources of the task before it counts as done
      lock.lock();
      ++done_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::uint64_t added_ = 0;
  std::uint64_t done_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

/// Runs pending tasks at exit.
Janitor& janitor(Background where) {
  static OfProcess<Janitor> memory;
  static OfProcess<Janitor> devices;
  return (where == Background::memory ? memory : devices).get();
}

}  // namespace

void run_in_background(std::function<void()> task, Background where) {
  janitor(where).add(std::move(task));
}

void wait_for_background(Background where) { janitor(where).wait(); }
void wait_for_background(const std::function<bool()>& goes_on) {
  janitor(Background::memory).wait(goes_on);
}

}  // namespace pyengine
