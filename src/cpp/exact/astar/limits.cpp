#include "exact/astar/limits.h"

#include <utility>

namespace pyengine::astar {
namespace {

constexpr std::chrono::milliseconds kPollEvery{20};

}  // namespace

const char* to_string(StopReason reason) noexcept {
  switch (reason) {
    case StopReason::found:
      return "found";
    case StopReason::exhausted:
      return "exhausted";
    case StopReason::seconds:
      return "seconds";
    case StopReason::memory:
      return "memory";
    case StopReason::stopped:
      break;
  }
  return "stopped";
}

Limits::Limits(std::uint64_t memory_bytes, std::optional<double> seconds, Poll poll,
               std::uint32_t ticks)
    : memory_(memory_bytes), ticks_(ticks), poll_(std::move(poll)) {
  constexpr double kYear = 3.2e7;  // the clock cannot represent a later deadline, so there is none
  if (seconds && *seconds < kYear) {
    deadline_ = begun_ +
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
  }
}

void Limits::check(const Counts& counts) {
  check_time();
  const auto now = Clock::now();
  if (!poll_ || now - last_poll_ < kPollEvery) return;
  last_poll_ = now;
  if (!poll_(counts)) throw Stopped(StopReason::stopped);
}

void Limits::check_time() const {
  if (deadline_ && Clock::now() >= *deadline_) throw Stopped(StopReason::seconds);
}

Limits Limits::emptied() const {
  Limits rest = *this;
  rest.held_ = 0;
  return rest;
}

double Limits::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - begun_).count();
}

}  // namespace pyengine::astar
