#include "search/run/lease.h"

#include <algorithm>

namespace pyengine {
namespace {

/// Visits of a top per simulation of its lease.
constexpr std::uint32_t kVisitsPerSimulation = 16;
/// A tree allows one more lease per this many visits: waking a worker costs as much as several
/// hundred simulations.
constexpr std::uint32_t kVisitsPerLease = 2048;
/// Below this size the second worker starts too late to help.
constexpr std::uint64_t kLeastToDivide = 4 * std::uint64_t{kVisitsPerLease};

}  // namespace

LeaseTerms lease_terms(std::uint32_t visits, int workers, std::uint32_t worthwhile) noexcept {
  if (visits < kVisitsPerLease) {
    const std::uint32_t simulations = std::min(kVisitsPerLease - visits, kMostOfLease);
    return {true, simulations, simulations, worthwhile, visits};
  }
  const auto count = static_cast<std::uint32_t>(std::max(1, workers));
  const std::uint32_t most = visits / (4 * count * kVisitsPerSimulation);
  return {false, 1, std::clamp(most, 1U, kMostOfLease), worthwhile, visits / (2 * count)};
}

std::uint32_t lease_simulations(std::uint32_t visits, const LeaseTerms& terms) noexcept {
  return std::clamp(visits / kVisitsPerSimulation, terms.fewest, terms.most);
}

bool leads_on(std::uint32_t visits, bool shared, std::uint32_t child_visits,
              const LeaseTerms& terms) noexcept {
  if (terms.whole) return false;
  const std::uint32_t simulations = child_visits / kVisitsPerSimulation;
  if (simulations >= terms.most) return true;
  return (shared || visits > terms.largest) && simulations >= terms.worthwhile;
}

std::uint32_t most_leases(std::uint32_t visits) noexcept { return 1 + visits / kVisitsPerLease; }

int workers_for(std::uint64_t visits, int workers) noexcept {
  if (visits < kLeastToDivide) return 1;
  const std::uint64_t most = 1 + visits / kVisitsPerLease;
  return most < static_cast<std::uint64_t>(workers) ? static_cast<int>(most) : workers;
}

Lease::Lease(const Path& path, std::uint32_t simulations, VisitValue visit) noexcept
    : path_(path), marks_(path.size() == 1 ? 0 : simulations), visit_(visit) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    path[i]->in_flight.fetch_add(marks_, std::memory_order_seq_cst);
    if (i + 1 == path.size() ? path[i]->locked.exchange(true, std::memory_order_seq_cst)
                             : is_leased(*path[i])) {
      unmark(i + 1);
      return;
    }
  }
  Node& top = *path.back();
  if (top.in_flight.load(std::memory_order_seq_cst) != marks_) {
    top.locked.store(false, std::memory_order_release);
    unmark(path.size());
    return;
  }
  taken_ = true;
  visits_ = top.visits.load(std::memory_order_relaxed);
  value_sum_ = top.value_sum.load(std::memory_order_relaxed);
}

Lease::~Lease() {
  if (!taken_) return;
  Node& top = *path_.back();
  const std::uint32_t visits = top.visits.load(std::memory_order_relaxed) - visits_;
  const std::int64_t value = top.value_sum.load(std::memory_order_relaxed) - value_sum_;
  const std::int64_t for_first = top.chooser == 0 ? value : -value;
  const std::int64_t draws = visits * to_fixed(visit_.draw);
  for (std::size_t i = 0; i + 1 < path_.size(); ++i) {
    Node& node = *path_[i];
    const std::int64_t sum = i < visit_.drawn ? draws : for_first;
    node.value_sum.fetch_add(node.chooser == 0 ? sum : -sum, std::memory_order_relaxed);
    node.visits.fetch_add(visits, std::memory_order_relaxed);
  }
  top.locked.store(false, std::memory_order_release);
  unmark(path_.size());
}

/// Release: a thread that sees a node without other marks also sees the writes below it.
void Lease::unmark(std::size_t nodes) const noexcept {
  for (std::size_t i = nodes; i-- > 0;) {
    path_[i]->in_flight.fetch_sub(marks_, std::memory_order_release);
  }
}

}  // namespace pyengine
