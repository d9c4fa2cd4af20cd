/// The limits of one tree's search: its simulations, its leaves in flight and its collisions.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "search/config.h"
#include "search/tree/node.h"
#include "search/tree/sharing.h"

namespace pyengine {

/// One ticket per simulation of the budget. A worker reserves some before it walks.
class Tickets {
 public:
  explicit Tickets(std::uint64_t budget) noexcept : budget_(budget), last_(budget) {}

  [[nodiscard]] std::uint64_t budget() const noexcept { return budget_; }
  [[nodiscard]] bool any_left() const noexcept {
    return reserved_.load(std::memory_order_relaxed) < last_.load(std::memory_order_relaxed);
  }
  /// From now on, allows no more than `count` simulations in all; simulations that have begun are
  /// completed.
  void limit(std::uint64_t count) noexcept {
    last_.store(std::min(count, budget_), std::memory_order_relaxed);
  }
  /// Reserves up to `count` tickets; returns how many.
  std::uint64_t reserve(std::uint64_t count) noexcept;
  void give_back(std::uint64_t count) noexcept {
    reserved_.fetch_sub(count, std::memory_order_relaxed);
  }

 private:
  const std::uint64_t budget_;
  std::atomic<std::uint64_t> last_;         ///< the budget, or less if the search ends early
  std::atomic<std::uint64_t> reserved_{0};  ///< includes completed simulations
};

/// A worker takes a seat for each walk. A leaf that waits in a batch keeps its seat until it is
/// completed or cancelled, so the seats limit the leaves in flight. A worker that searches by
/// leases (lease.h) takes one seat.
///
/// The limit grows with the root's visits, because a young tree offers little choice.
class Seats {
 public:
  /// `budget`: of the search, in simulations.
  Seats(const SearchConfig& config, std::uint64_t budget) noexcept;

  /// Called before the search: `workers` workers will search by leases.
  void divide_among(int workers) noexcept { sharers_ = workers; }
  /// Workers that search by leases, or 1.
  [[nodiscard]] int sharers() const noexcept { return sharers_; }
  /// Whether the last leased part leaves enough for other workers.
  void set_dividable(bool dividable) noexcept {
    dividable_.store(dividable, std::memory_order_relaxed);
  }

  /// The number of seats if the root has `visits` visits.
  [[nodiscard]] std::uint32_t limit(std::uint32_t visits) const noexcept;
  /// The number of seats if the root has a plan, which allows `planned` leaves in flight.
  [[nodiscard]] std::uint32_t planned_limit(std::uint64_t planned) const noexcept {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(most_, planned));
  }

  [[nodiscard]] std::uint32_t taken() const noexcept {
    return taken_.load(std::memory_order_acquire);
  }
  /// Takes up to `count` of the free seats; returns how many.
  template <Sharing S>
  std::uint32_t take(std::uint32_t count, std::uint32_t limit) noexcept {
    std::uint32_t current = taken_.load(std::memory_order_relaxed);
    const auto free = [&] { return std::min(count, limit - std::min(current, limit)); };
    if constexpr (S == Sharing::exclusive) {
      if (free() != 0) taken_.store(current + free(), std::memory_order_relaxed);
    } else {
      while (free() != 0 &&
             !taken_.compare_exchange_weak(current, current + free(), std::memory_order_relaxed)) {
      }
    }
    return free();
  }
  /// The root's evaluation has a seat in any case.
  void take_for_root() noexcept { taken_.fetch_add(1, std::memory_order_relaxed); }
  void give_back(std::uint32_t count) noexcept {
    taken_.fetch_sub(count, std::memory_order_release);
  }
  /// Gives back the seat of a leaf in flight that was completed or cancelled.
  void land() noexcept {
    unblock();
    give_back(1);
  }

  /// Every way leads to a leaf in flight: walks must wait for one to land.
  void block() noexcept { blocked_.store(true, std::memory_order_relaxed); }
  void unblock() noexcept { blocked_.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool blocked() const noexcept { return blocked_.load(std::memory_order_relaxed); }

 private:
  std::uint32_t most_;                 ///< of a grown tree
  std::uint32_t first_ = 4;            ///< of a tree without visits
  std::uint32_t visits_per_seat_ = 4;  ///< visits of the root that add one
  int sharers_ = 1;
  std::atomic<std::uint32_t> taken_{0};
  std::atomic<bool> dividable_{false};
  std::atomic<bool> blocked_{false};
};

/// Collisions allowed in a turn that gathers `leaves` leaves, after which the batch is evaluated as
/// it is. `visits`: of the root.
[[nodiscard]] std::size_t most_collisions(const SearchConfig& config, std::uint64_t visits,
                                          int leaves) noexcept;

/// How many marks a collision adds to a leaf in flight: it doubles them, so that few walks collide
/// there, within limits that depend on the leaves allowed in flight.
[[nodiscard]] std::uint32_t times_to_mark(const SearchConfig& config, const Node& leaf) noexcept;

}  // namespace pyengine
