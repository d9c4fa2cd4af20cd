/// A lease gives one worker exclusive use of the subtree of a node for some simulations.
///
///   root ── a ── b ── top ──┐    root, a, b and top: as many leaves in flight as the lease has
///      ╲          ╲         │    simulations; other walks see virtual visits and go elsewhere
///       c ...      d ...    └─   below top: this worker alone, without a lock prefix
///
/// If a leaf is evaluated within a few microseconds, workers that synchronize at every simulation
/// cost as much as they contribute: each cache line that two of them write moves from core to core.
/// With leases they synchronize once per many simulations.
///
/// Invariant: a node is leased only while no other worker walks below it. A walk first marks the
/// path from the root and then checks whether a node on it is leased; a lease first locks its node
/// and then checks whether another worker has marked it. Both operations are sequentially
/// consistent, so at least one of two workers that want the same part sees the other and gives way.
///
/// Leases are an approximation: their visits all go through the top, although the rule might have
/// spread some of them. So a lease only gets a fraction of the visits that its top already has.
#pragma once

#include <cstdint>

#include "search/tree/backup.h"

namespace pyengine {

/// Maximum simulations of a lease: larger leases save little and make others wait.
inline constexpr std::uint32_t kMostOfLease = 512;

/// How a tree of the current size is divided.
struct LeaseTerms {
  bool whole = false;        ///< the tree is too small to divide: one worker leases the root
  std::uint32_t fewest = 1;  ///< minimum simulations of a lease
  std::uint32_t most = 1;
  std::uint32_t worthwhile = 1;  ///< simulations that justify the cost of the walk to the top
  std::uint32_t largest = 1;  ///< maximum visits of a top, so that enough is left for other workers
};
/// `visits`: of the root. `workers`: number of workers that search the tree.
[[nodiscard]] LeaseTerms lease_terms(std::uint32_t visits, int workers,
                                     std::uint32_t worthwhile) noexcept;

/// Simulations of a lease at a node with this many visits.
[[nodiscard]] std::uint32_t lease_simulations(std::uint32_t visits,
                                              const LeaseTerms& terms) noexcept;

/// Whether the way to a part continues from a node to its child; otherwise the node is the top.
/// `shared`: other workers are below the node.
[[nodiscard]] bool leads_on(std::uint32_t visits, bool shared, std::uint32_t child_visits,
                            const LeaseTerms& terms) noexcept;

/// Maximum simultaneous leases in a tree with this many visits.
[[nodiscard]] std::uint32_t most_leases(std::uint32_t visits) noexcept;

/// Number of workers worth waking, out of `workers`, for a tree that will have this many visits. A
/// small tree is searched by one worker, with the same result as with one thread.
[[nodiscard]] int workers_for(std::uint64_t visits, int workers) noexcept;

[[nodiscard]] inline bool is_leased(const Node& node) noexcept {
  return node.locked.load(std::memory_order_seq_cst);
}

/// Leases the last node of a path while in scope.
class Lease {
 public:
  /// Acquires the lease unless another worker is there. `path` starts at the root and must not
  /// change during the lease. `visit`: draws on the path; its `value` is ignored.
  Lease(const Path& path, std::uint32_t simulations, VisitValue visit) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  /// Adds the visits that the top received to the path above it.
  ~Lease();
  [[nodiscard]] bool taken() const noexcept { return taken_; }

 private:
  void unmark(std::size_t nodes) const noexcept;

  const Path& path_;
  std::uint32_t marks_;  ///< 0 if the root is leased: its rule must see the true counts
  VisitValue visit_;
  bool taken_ = false;
  std::uint32_t visits_ = 0;    ///< visits of the top when it was leased
  std::int64_t value_sum_ = 0;  ///< value sum of the top when it was leased
};

}  // namespace pyengine
