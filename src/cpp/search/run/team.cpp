#include "search/run/team.h"

namespace pyengine {

void Team::hire(int helpers, const std::function<void(std::size_t)>& work) {
  while (static_cast<int>(helpers_.size()) < helpers) {
    const std::size_t index = helpers_.size() + 1;
    helpers_.emplace_back([this, index, work] { help(index, work); });
  }
}

void Team::hire_servers(int servers, const std::function<void()>& serve) {
  while (static_cast<int>(server_threads_.size()) < servers) server_threads_.emplace_back(serve);
}

void Team::help(std::size_t index, const std::function<void(std::size_t)>& work) {
  std::uint64_t last = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    started_.wait(lock,
                  [&] { return closing_ || (run_ != last && static_cast<int>(index) <= active_); });
    if (closing_) return;
    last = run_;
    lock.unlock();
    work(index);
    lock.lock();
    --working_;
    ended_.notify_one();
  }
}

void Team::begin_run(int helpers) {
  active_ = working_ = helpers;
  ++run_;
  waking_ = caller_waking_ = false;
  calls_.helpers = helpers != 0;
}

void Team::end_run(Pass& pass) {
  wait(pass, ended_, [&] { return working_ == 0; });
  active_ = 0;  // a helper that is hired later is not to take part in a run that has ended
}

void Team::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  started_.notify_all();
  servers_.notify_all();
  for (std::thread& thread : helpers_) thread.join();
  for (std::thread& thread : server_threads_) thread.join();
  helpers_.clear();
  server_threads_.clear();
}

void Team::call(const Calls& due) noexcept {
  if (due.worker && !due.all) workers_.notify_one();
  if (due.caller || due.all) caller_.notify_one();
  if (due.server) servers_.notify_one();
  if (due.all) workers_.notify_all();
  if (due.helpers) started_.notify_all();
}

template <class Woken>
void Team::wait(Pass& pass, std::condition_variable& condition, const Woken& woken) {
  call(std::exchange(calls_, {}));
  condition.wait(pass.lock_, woken);
}

void Team::sleep(Pass& pass) {
  const Clock::time_point begun = Clock::now();
  const std::uint64_t seen = calls_for_all_;
  ++asleep_;
  wait(pass, workers_, [&] { return waking_ || calls_for_all_ != seen; });
  --asleep_;
  waking_ = false;
  ++passes_;
  count_sleep(begun);
}

void Team::sleep_until(Pass& pass, Clock::time_point until) {
  const Clock::time_point begun = Clock::now();
  const std::uint64_t seen = calls_for_all_;
  caller_asleep_ = true;
  call(std::exchange(calls_, {}));
  caller_.wait_until(pass.lock_, until, [&] { return caller_waking_ || calls_for_all_ != seen; });
  caller_asleep_ = caller_waking_ = false;
  ++passes_;
  count_sleep(begun);
}

void Team::sleep_as_server(Pass& pass) {
  ++servers_asleep_;
  wait(pass, servers_, [&] { return server_waking_ || closing_; });
  --servers_asleep_;
  server_waking_ = false;
  ++passes_;
}

void Team::wake_worker() noexcept {
  waking_ = true;
  ++wake_ups_;
  calls_.worker = true;
}

void Team::wake_caller() noexcept {
  caller_waking_ = true;
  ++wake_ups_;
  calls_.caller = true;
}

void Team::wake_server() noexcept {
  server_waking_ = true;
  ++wake_ups_;
  calls_.server = true;
}

void Team::wake_all() noexcept {
  ++calls_for_all_;
  wake_ups_ += static_cast<std::uint64_t>(asleep_) + (caller_asleep_ ? 1 : 0);
  calls_.all = true;
}

void Team::count_sleep(Clock::time_point begun) noexcept {
  const auto slept = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begun);
  slept_ns_.fetch_add(static_cast<std::uint64_t>(slept.count()), std::memory_order_relaxed);
}

}  // namespace pyengine
