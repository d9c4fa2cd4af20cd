/// A lease: one worker has the part of a tree below a node for itself, for some simulations.
///
///   root ── a ── b ── top ──┐    root, a, b and top: as many leaves in flight as the lease has
///      ╲          ╲         │    simulations; other walks see virtual visits, and go elsewhere
///       c ...      d ...    └─   below top: this worker alone, without a lock prefix
///
/// Where a leaf is answered in some microseconds or less, workers that meet at every simulation
/// cost each other as much as they bring: each cache line that two of them write is handed from
/// core to core. With leases they meet once for many simulations.
///
/// Invariant: a node is leased only while nobody else walks below it. A worker first marks the
/// path from the root and then looks whether a node on it is leased; who leases a node first locks
/// it and then looks whether somebody else has marked it. Both are sequentially consistent: of two
/// workers that want the same part one at least sees the other, and gives way.
///
/// What is not exact: the visits of a lease come to its top together, where the rule might have
/// spread some of them. So a lease has a fraction of the visits that its top has already.
#pragma once

#include <cstdint>

#include "search/tree/path.h"

namespace pyengine {

/// Most simulations of a lease: more save little, and keep others waiting.
inline constexpr std::uint32_t kMostOfLease = 512;

/// How a tree is divided at its present size.
struct LeaseTerms {
  bool whole = false;        ///< the tree is too young to be divided: one worker leases the root
  std::uint32_t fewest = 1;  ///< simulations of a lease
  std::uint32_t most = 1;
  std::uint32_t worthwhile = 1;  ///< simulations that are worth the way to them
  std::uint32_t largest = 1;     ///< visits of a top that leave enough to the other workers
};
/// `visits` of the root, `workers` that search the tree, `worthwhile` as in LeaseTerms.
[[nodiscard]] LeaseTerms lease_terms(std::uint32_t visits, int workers,
                                     std::uint32_t worthwhile) noexcept;

/// Simulations of a lease of a node with so many visits.
[[nodiscard]] std::uint32_t lease_simulations(std::uint32_t visits,
                                              const LeaseTerms& terms) noexcept;

/// Whether the way to a part of the tree goes on from a node to its child, which is the top
/// otherwise. `shared`: others are below the node.
[[nodiscard]] bool leads_on(std::uint32_t visits, bool shared, std::uint32_t child_visits,
                            const LeaseTerms& terms) noexcept;

/// Leases that a tree of so many visits may have at once.
[[nodiscard]] std::uint32_t most_leases(std::uint32_t visits) noexcept;

/// Workers that are worth waking for a tree that is to have so many visits, of those that there
/// are. A small tree is one's, as with one thread.
[[nodiscard]] int workers_for(std::uint64_t visits, int workers) noexcept;

[[nodiscard]] inline bool is_leased(const Node& node) noexcept {
  return node.locked.load(std::memory_order_seq_cst);
}

/// The lease of the last node of a path, while it is in scope.
class Lease {
 public:
  /// Takes it, if nobody else is there. `path`: from the root, and unchanged until the end.
  /// `drawn`: see Walk.
  Lease(const Path& path, std::uint32_t simulations, std::uint32_t drawn) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  /// Counts the visits of the top since then on the path above it.
  ~Lease();
  [[nodiscard]] bool taken() const noexcept { return taken_; }

 private:
  void unmark(std::size_t nodes) const noexcept;

  const Path& path_;
  std::uint32_t marks_;  ///< none where the root is leased: its rule is to see what there is
  std::uint32_t drawn_;
  bool taken_ = false;
  std::uint32_t visits_ = 0;    ///< of the top when it was leased
  std::int64_t value_sum_ = 0;  ///< likewise
};

}  // namespace pyengine
