#include "search/run/team.h"

namespace pyengine {
namespace {

/// Time after the last run before servers return to the pool; longer than the gap between searches.
constexpr std::chrono::milliseconds kServersStay{200};

}  // namespace

Team::Team(std::function<bool(std::size_t)> work, std::function<void()> serve)
    : helpers_([work = std::move(work)](std::size_t place) { return work(place + 1); },
               Crew::Need::optional),
      servers_(
          [serve = std::move(serve)](std::size_t /*place*/) {
            serve();
            return false;
          },
          Crew::Need::essential) {}

void Team::begin_run(int helpers) {
  running_ = true;
  waking_ = caller_waking_ = false;
  if (helpers > 0) helpers_.open(helpers);
}

void Team::end_run() {
  helpers_.close();
  const std::lock_guard lock(mutex_);
  running_ = false;
}

void Team::close() {
  helpers_.close();
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  server_called_.notify_all();
  servers_.close();
}

void Team::call(const Calls& due) noexcept {
  if (due.worker && !due.all) worker_called_.notify_one();
  if (due.caller || due.all) caller_called_.notify_one();
  if (due.server) server_called_.notify_one();
  if (due.all) worker_called_.notify_all();
}

void Team::sleep(Pass& pass) {
  const Clock::time_point start_time = Clock::now();
  const std::uint64_t seen = calls_for_all_;
  ++asleep_;
  call(std::exchange(calls_, {}));
  worker_called_.wait(pass.lock_, [&] { return waking_ || calls_for_all_ != seen; });
  --asleep_;
  waking_ = false;
  ++passes_;
  count_sleep(start_time);
}

void Team::sleep_until(Pass& pass, Clock::time_point until) {
  const Clock::time_point start_time = Clock::now();
  const std::uint64_t seen = calls_for_all_;
  caller_asleep_ = true;
  call(std::exchange(calls_, {}));
  caller_called_.wait_until(pass.lock_, until,
                            [&] { return caller_waking_ || calls_for_all_ != seen; });
  caller_asleep_ = caller_waking_ = false;
  ++passes_;
  count_sleep(start_time);
}

bool Team::sleep_as_server(Pass& pass) {
  ++servers_asleep_;
  call(std::exchange(calls_, {}));
  const auto woken = [&] { return server_waking_ || closing_; };
  bool waits = true;
  while (waits) {
    waits = !server_called_.wait_for(pass.lock_, kServersStay, woken) && running_;
  }
  const bool stays = server_waking_ && !closing_;
  --servers_asleep_;
  server_waking_ = false;
  ++passes_;
  return stays;
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

void Team::count_sleep(Clock::time_point start_time) noexcept {
  const auto slept =
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_time);
  slept_ns_.fetch_add(static_cast<std::uint64_t>(slept.count()), std::memory_order_relaxed);
}

}  // namespace pyengine
