#include "search/run/limits.h"

#include "search/run/lease.h"

namespace pyengine {
namespace {

/// If this many leaves may be in flight, a young tree starves the device. Long searches, whose
/// first visits hardly matter, then start with a fraction of the leaves and add one per visit.
constexpr std::uint32_t kManyInFlight = 512;
constexpr std::uint32_t kFirstShare = 16;
constexpr std::uint32_t kLongSearch = 64;  ///< simulations per leaf in flight

}  // namespace

std::uint64_t Tickets::reserve(std::uint64_t count) noexcept {
  const std::uint64_t last = last_.load(std::memory_order_relaxed);
  std::uint64_t current = reserved_.load(std::memory_order_relaxed);
  std::uint64_t got = 0;
  do {
    got = std::min(count, last - std::min(current, last));
  } while (got != 0 &&
           !reserved_.compare_exchange_weak(current, current + got, std::memory_order_relaxed));
  return got;
}

Seats::Seats(const SearchConfig& config, std::uint64_t budget) noexcept
    : most_(static_cast<std::uint32_t>(max_in_flight(config))) {
  const bool is_long = config.simulations && budget >= std::uint64_t{kLongSearch} * most_;
  if (is_long && most_ >= kManyInFlight) {
    first_ = most_ / kFirstShare;
    visits_per_seat_ = 1;
  }
}

std::uint32_t Seats::limit(std::uint32_t visits) const noexcept {
  if (sharers_ > 1) {
    const bool one = !dividable_.load(std::memory_order_relaxed);
    return one ? 1 : std::min(static_cast<std::uint32_t>(sharers_), most_leases(visits));
  }
  return std::min(most_, first_ + visits / visits_per_seat_);
}

/// Each collision makes the search look elsewhere than it wants to. Gomoku 8x8, 800 simulations, 16
/// in flight: the mean loss of value against the serial search is 0.010 with 32 per turn and 0.001
/// with 4 or 5. Connect Four, 10,000 simulations, 64 in flight: the loss with 4 to 16 per turn is
/// half of that with 16 to 66. With hundreds of leaves, full batches matter more, so the limit
/// grows with the square of the leaves.
std::size_t most_collisions(const SearchConfig& config, std::uint64_t visits, int leaves) noexcept {
  constexpr std::uint64_t kVisitsToDouble = 3200;
  const auto growing = [visits](std::uint64_t first) {
    return first * (kVisitsToDouble + visits) / kVisitsToDouble;
  };
  const auto flights = static_cast<std::uint64_t>(max_in_flight(config));
  const std::uint64_t few =
      std::min<std::uint64_t>(growing(std::clamp<std::uint64_t>(flights / 4, 4, 8)), 16);
  const std::uint64_t many = growing(flights * flights / 4096);
  return static_cast<std::size_t>(
      std::min(std::max(few, many), 4 * static_cast<std::uint64_t>(std::max(1, leaves))));
}

std::uint32_t times_to_mark(const SearchConfig& config, const Node& leaf) noexcept {
  const auto most = static_cast<std::uint32_t>(std::max(1, max_in_flight(config) / 16));
  return std::clamp(leaf.in_flight.load(std::memory_order_relaxed), 1U, most);
}

}  // namespace pyengine
