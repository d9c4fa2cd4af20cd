#include "search/run/decision.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/deadline.h"

namespace pyengine {
namespace {

/// With a budget in seconds, simulations left = rate since the root was ready * seconds left *
/// kMargin, because the rate may rise: caches fill, and the walks of a decided game get shorter.
/// The rate of a shorter time or of fewer simulations is not trusted.
constexpr double kMargin = 1.5;
constexpr double kLeastShare = 0.1;  ///< of the time between the root's evaluation and the deadline
constexpr std::uint64_t kLeastSimulations = 100;
constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

[[nodiscard]] double seconds_between(Clock::time_point from, Clock::time_point to) noexcept {
  return std::chrono::duration<double>(to - from).count();
}

[[nodiscard]] bool visits_decide(const SearchConfig& config) noexcept {
  return config.stop_when_decided && config.algorithm != Algorithm::gumbel &&
      config.choose == MoveChoice::visits && config.temperature == 0.0;
}

}  // namespace

Decision::Decision(const SearchConfig& config)
    : by_visits_(visits_decide(config)), solver_(config.solver) {
  if (by_visits_) deadline_ = deadline_after(Clock::now(), config.seconds);
}

void Decision::begin() noexcept {
  if (by_visits_) begun_ = Clock::now();
}

std::uint64_t Decision::most_left(std::uint64_t completed) const noexcept {
  const Clock::time_point now = Clock::now();
  const double past = seconds_between(begun_, now);
  const double left = seconds_between(now, *deadline_);
  if (left <= 0.0) return kUnknown;  // the run ends by itself
  if (completed < kLeastSimulations || past < kLeastShare * (past + left)) return kUnknown;
  const double most = kMargin * static_cast<double>(completed) / past * left;
  return most < 1e18 ? static_cast<std::uint64_t>(most) + 1 : kUnknown;
}

std::uint64_t Decision::simulations_until(const Tree& tree, std::uint64_t completed,
                                          std::uint64_t budget) const noexcept {
  std::uint64_t left = budget - std::min(completed, budget);
  if (deadline_) left = std::min(left, most_left(completed));
  const Node& root = tree.root();
  const int count = root.num_children.load(std::memory_order_acquire);
  int moves = root.num_edges - count;
  std::uint32_t most = 0;
  std::uint32_t second = 0;
  for_each_child(tree.arena(), root, count, [&](const Node& child) {
    const bool lost = child.proof.load(std::memory_order_relaxed) == loss_of(root.mover);
    if (solver_ && lost) return;
    ++moves;
    const std::uint32_t visits = child.visits.load(std::memory_order_relaxed);
    second = std::max(second, std::min(most, visits));
    most = std::max(most, visits);
  });
  if (moves == 1) return most == 0 ? 1 : 0;
  const std::uint64_t lead = most - second;
  return lead > left ? 0 : (left - lead) / 2 + 1;  // each simulation adds one and takes one away
}

}  // namespace pyengine
