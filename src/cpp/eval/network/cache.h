/// A cache of raw network outputs, keyed by the content of the planes. Priors are computed after
/// the lookup, because equal planes may have different legal moves (superko).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>

namespace pyengine {

using CacheKey = std::array<std::uint64_t, 2>;  ///< a 128-bit hash

/// A set-associative table of fixed size: 128-bit key -> row of floats (policy, then value). Safe
/// to use from any thread: a few hundred locks guard the sets. The least recently used entry of a
/// full set is replaced.
class EvalCache {
 public:
  /// At most `entries` rows of `row_size` floats within `bytes` of memory, including this object.
  /// The table may be empty. Memory is touched only when it is filled.
  EvalCache(std::uint64_t entries, std::uint64_t bytes, std::size_t row_size);

  /// Copies the cached row to `row` and returns true, or returns false.
  bool find(const CacheKey& key, float* row) noexcept;
  /// Stores a copy of `row`.
  void store(const CacheKey& key, const float* row) noexcept;
  /// Drops all entries in constant time.
  void clear() noexcept { generation_.fetch_add(1, std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t capacity() const noexcept { return sets_ * kWays; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t hits() const noexcept;

 private:
  static constexpr std::uint64_t kWays = 4;
  static constexpr std::size_t kLocks = 256;

  /// Accessed under the lock of its set. All zero = empty.
  struct Entry {
    CacheKey key;
    std::uint32_t generation;  ///< valid if equal to the table's generation
    std::uint32_t used;        ///< tick of the lock at the last use
    std::uint32_t row;     ///< 1 + its index in `rows_`, assigned at the first use; 0 = none yet
    std::uint32_t unused;  ///< pads a set to two cache lines
  };
  static_assert(sizeof(Entry) == 32);
  struct alignas(64) Lock {
    std::mutex mutex;
    std::uint32_t tick = 0;              ///< guarded by mutex
    std::atomic<std::uint64_t> hits{0};  ///< written under mutex, relaxed; read at any time
  };
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  template <class T>
  using Zeroed = std::unique_ptr<T[], Free>;

  /// Index of the set's first entry.
  [[nodiscard]] std::size_t set_of(const CacheKey& key) const noexcept;
  [[nodiscard]] Lock& lock_of(std::size_t first) noexcept {
    return locks_[(first / kWays) % kLocks];
  }

  [[nodiscard]] float* row_of(const Entry& entry) noexcept {
    return &rows_[(entry.row - 1) * row_size_];
  }

  std::size_t row_size_;
  std::uint64_t sets_ = 0;
  std::uint64_t bytes_ = 0;
  std::atomic<std::uint32_t> generation_{1};
  Zeroed<Entry> entries_;  ///< [sets_ * kWays]
  /// [sets_ * kWays][row_size_]: assigned in order, so that a young cache touches few pages.
  Zeroed<float> rows_;
  std::atomic<std::uint32_t> rows_given_{0};
  std::unique_ptr<Lock[]> locks_;
};

}  // namespace pyengine
