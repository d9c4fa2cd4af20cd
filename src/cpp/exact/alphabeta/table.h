/// The transposition table: what searches of several threads have found, in a bounded memory and
/// without a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/prefetch.h"
#include "base/types.h"
#include "base/wide.h"
#include "games/common/hashing.h"

namespace pyengine::alphabeta {

/// On which side of `score` the value lies.
enum class Bound : std::uint8_t { none, lower, upper, exact };

struct Found {
  int score = 0;
  Bound bound = Bound::none;
  std::uint8_t depth = 0;  ///< plies that were searched; kWholeGame = to every end
  Action action = kNoAction;
};

/// Entries lie in buckets of a cache line. An entry is two words: what was found, and the key xor
/// what was found, so that an entry whose words two threads have written is taken for another key's
/// [Hyatt and Mann, "A lockless transposition table implementation for parallel search", 2002].
class Table {
 public:
  /// Throws ConfigError when `bytes` hold no bucket, and std::bad_alloc.
  explicit Table(std::uint64_t bytes);
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() { free_memory(); }

  [[nodiscard]] std::optional<Found> find(std::uint64_t key) const noexcept;
  /// Replaces the entry of the key, else the one of the oldest search with the least effort.
  /// `nodes`: what the search below has cost.
  void store(std::uint64_t key, const Found& found, std::uint64_t nodes) noexcept;
  /// Brings the bucket of a key near.
  void prefetch(std::uint64_t key) const noexcept { pyengine::prefetch(&bucket(key)); }

  /// This search has stored `stores` times more: makes room where what is in use has become too
  /// small for it. One thread calls it, while others may search. `look` is called about every
  /// millisecond; the table may lose entries where it throws.
  void expect(std::uint64_t stores, const std::function<void()>& look);
  /// A new search begins: entries of those before may be replaced by anything, and ask for no room.
  void begin_search() noexcept {
    generation_ = (generation_ + 1) & 0xFFU;
    expected_ = 0;
  }
  /// Forgets everything in a time that does not depend on what is in use.
  void clear();
  [[nodiscard]] std::uint64_t bytes() const noexcept { return buckets_ * sizeof(Bucket); }
  [[nodiscard]] std::uint64_t bytes_in_use() const noexcept {
    return used_.load(std::memory_order_relaxed) * sizeof(Bucket);
  }

 private:
  struct Entry {
    std::atomic<std::uint64_t> check;  ///< key ^ data
    std::atomic<std::uint64_t> data;   ///< 0 = empty
  };
  static constexpr int kWays = 4;
  struct alignas(64) Bucket {
    Entry entries[kWays];
  };
  static_assert(sizeof(Bucket) == 64);

  [[nodiscard]] Bucket& bucket(std::uint64_t key) const noexcept {
    return first_[multiply_wide(mix64(key), used_.load(std::memory_order_relaxed)).high];
  }

  void allocate();
  void free_memory() noexcept;
  void grow(const std::function<void()>& look);

  std::uint64_t buckets_;
  /// Buckets in use: a small search stays in the processor's cache and needs few pages.
  std::atomic<std::uint64_t> used_;
  std::uint64_t expected_ = 0;  ///< stores of this search
  void* memory_ = nullptr;      ///< zero pages of the system until they are written
  Bucket* first_ = nullptr;
  unsigned generation_ = 0;  ///< of entries; only while no search runs
};

}  // namespace pyengine::alphabeta
