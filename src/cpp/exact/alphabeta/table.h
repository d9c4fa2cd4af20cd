/// The transposition table: results shared by several threads, with bounded memory and without a
/// lock.
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
  std::uint8_t depth = 0;  ///< plies searched; kWholeGame = to the end of the game
  Action action = kNoAction;
};

/// Entries are in buckets of one cache line. An entry is two words: the data, and the key xor the
/// data, so an entry whose words were written by two threads does not match any key [Hyatt and
/// Mann, "A lockless transposition table implementation for parallel search", 2002].
class Table {
 public:
  /// Throws ConfigError if `bytes` cannot hold a bucket, and std::bad_alloc.
  explicit Table(std::uint64_t bytes);
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() { free_memory(); }

  [[nodiscard]] std::optional<Found> find(std::uint64_t key) const noexcept;
  /// Replaces the entry of the key, else the entry of the oldest search with the least effort.
  /// `nodes`: cost of the search below.
  void store(std::uint64_t key, const Found& found, std::uint64_t nodes) noexcept;
  /// Prefetches the bucket of a key.
  void prefetch(std::uint64_t key) const noexcept { pyengine::prefetch(&bucket(key)); }

  /// Reports `stores` more stores of this search and enlarges the used part if it has become too
  /// small. Called by one thread, while others may search. `look` is called about every
  /// millisecond; if it throws, the table may lose entries.
  void expect(std::uint64_t stores, const std::function<void()>& look);
  /// Starts a new search: entries of earlier searches may be replaced by anything and do not count
  /// for growth.
  void begin_search() noexcept {
    generation_ = (generation_ + 1) & 0xFFU;
    expected_ = 0;
  }
  /// Clears the table in time independent of its used size.
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
  unsigned generation_ = 0;  ///< given to new entries; changes only while no search runs
};

}  // namespace pyengine::alphabeta
