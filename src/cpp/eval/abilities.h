/// Optional abilities of a bound evaluator. An evaluator that has one derives from its class,
/// besides BoundEvaluator; an evaluator that wraps another passes on the abilities of the other. A
/// lookup is a dynamic_cast: it belongs where a search is set up or a user asks, not where a leaf
/// is evaluated.
#pragma once

#include <cstdint>

#include "eval/evaluator.h"

namespace pyengine {

/// Counters of an evaluator since construction. Can be read at any time from any thread.
struct EvaluatorStats {
  std::uint64_t rows = 0;  ///< evaluated, without padding and cache hits
  std::uint64_t batches = 0;
  std::uint64_t padding = 0;  ///< rows computed only to reach a supported batch size
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_bytes = 0;
};

class RowFiller {
 public:
  /// Uses spare rows for further symmetries of the waiting leaves. Called once, after the last
  /// request. Throws like BoundEvaluator::evaluate().
  virtual void fill(EvalBatch& batch) = 0;

 protected:
  ~RowFiller() = default;
};

class WorkCounter {
 public:
  [[nodiscard]] virtual EvaluatorStats stats() const noexcept = 0;

 protected:
  ~WorkCounter() = default;
};

class CacheHolder {
 public:
  /// Drops cached answers within a millisecond.
  virtual void clear_cache() noexcept = 0;

 protected:
  ~CacheHolder() = default;
};

/// nullptr if it cannot fill rows.
[[nodiscard]] inline RowFiller* row_filler_of(BoundEvaluator& evaluator) noexcept {
  return dynamic_cast<RowFiller*>(&evaluator);
}

/// Zeros if it does not count.
[[nodiscard]] inline EvaluatorStats stats_of(const BoundEvaluator& evaluator) noexcept {
  const auto* counter = dynamic_cast<const WorkCounter*>(&evaluator);
  return counter == nullptr ? EvaluatorStats{} : counter->stats();
}

/// Does nothing without a cache.
inline void clear_cache_of(BoundEvaluator& evaluator) noexcept {
  if (auto* holder = dynamic_cast<CacheHolder*>(&evaluator)) holder->clear_cache();
}

}  // namespace pyengine
