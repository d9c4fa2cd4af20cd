/// A thread's data for walking and changing trees, and the counters of a search.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "exact/alphabeta/solver.h"
#include "search/rules/select.h"
#include "search/run/walker.h"
#include "search/tree/tree.h"

namespace pyengine {

/// Counters of a running search. During a lease a worker has separate ones.
struct Tally {
  std::atomic<std::uint64_t> completed{0};    ///< simulations
  std::atomic<std::uint64_t> evaluations{0};  ///< rows evaluated
  std::atomic<std::uint64_t> numbers{0};      ///< next leaf number; names the leaf's random stream

  /// Starts the counters of a lease whose leaves are numbered from `number`.
  void restart(std::uint64_t number) noexcept {
    completed.store(0, std::memory_order_relaxed);
    evaluations.store(0, std::memory_order_relaxed);
    numbers.store(number, std::memory_order_relaxed);
  }
  void add(const Tally& lease) noexcept {
    completed.fetch_add(lease.completed.load(std::memory_order_relaxed), std::memory_order_relaxed);
    evaluations.fetch_add(lease.evaluations.load(std::memory_order_relaxed),
                          std::memory_order_relaxed);
  }
};

struct Worker {
  std::unique_ptr<Walker> walker;
  Selector selector;
  Allocator allocator;
  Path path;
  Path lease_path;                              ///< from the root to the top of the lease
  std::unique_ptr<AnyPosition> lease_position;  ///< position of the top
  Tally tally;                                  ///< counters of the lease
  std::uint32_t drawn = 0;                      ///< of the walk along `path`; see Walk
  bool marked = false;                          ///< `path` is already marked for its leaf
  std::unique_ptr<EndgameSolver> endings;       ///< nullptr unless the configuration enables it
};

}  // namespace pyengine
