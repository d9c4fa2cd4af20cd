#include "eval/network/cache.h"

#include <algorithm>
#include <cstring>

#include "base/wide.h"

namespace pyengine {

EvalCache::EvalCache(std::uint64_t entries, std::uint64_t bytes, std::size_t row_size)
    : row_size_(row_size) {
  const std::uint64_t overhead = sizeof(EvalCache) + kLocks * sizeof(Lock);
  const std::uint64_t set_bytes = kWays * (sizeof(Entry) + row_size * sizeof(float));
  if (bytes <= overhead) return;
  const std::uint64_t sets = std::min(entries / kWays, (bytes - overhead) / set_bytes);
  if (sets == 0) return;
  const auto count = static_cast<std::size_t>(sets * kWays);
  // calloc returns pages that the system zeroes when they are first touched.
  entries_.reset(static_cast<Entry*>(std::calloc(count, sizeof(Entry))));
  rows_.reset(static_cast<float*>(std::calloc(count, row_size * sizeof(float))));
  if (entries_ == nullptr || rows_ == nullptr) return;  // out of memory: search without a cache
  locks_ = std::make_unique<Lock[]>(kLocks);
  sets_ = sets;
  bytes_ = overhead + sets * set_bytes;
}

std::size_t EvalCache::set_of(const CacheKey& key) const noexcept {
  return static_cast<std::size_t>(multiply_wide(key[0], sets_).high * kWays);
}

bool EvalCache::find(const CacheKey& key, float* row) noexcept {
  if (sets_ == 0) return false;
  const std::size_t first = set_of(key);
  Lock& lock = lock_of(first);
  const std::uint32_t generation = generation_.load(std::memory_order_relaxed);
  const std::lock_guard guard(lock.mutex);
  for (std::size_t i = first; i < first + kWays; ++i) {
    Entry& entry = entries_[i];
    if (entry.generation != generation || entry.key != key) {
      continue;
    }
    entry.used = ++lock.tick;
    std::memcpy(row, row_of(entry), row_size_ * sizeof(float));
    lock.hits.store(lock.hits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return true;
  }
  return false;
}

void EvalCache::store(const CacheKey& key, const float* row) noexcept {
  if (sets_ == 0) return;
  const std::size_t first = set_of(key);
  Lock& lock = lock_of(first);
  const std::uint32_t generation = generation_.load(std::memory_order_relaxed);
  const std::lock_guard guard(lock.mutex);
  std::size_t victim = first;
  std::uint32_t oldest = 0;
  for (std::size_t i = first; i < first + kWays; ++i) {
    const Entry& entry = entries_[i];
    if (entry.generation != generation) {
      victim = i;
      oldest = ~std::uint32_t{0};
      continue;
    }
    if (entry.key == key) return;
    const std::uint32_t age = lock.tick - entry.used;
    if (oldest != ~std::uint32_t{0} && age >= oldest) {
      victim = i;
      oldest = age;
    }
  }
  Entry& entry = entries_[victim];
  if (entry.row == 0) entry.row = 1 + rows_given_.fetch_add(1, std::memory_order_relaxed);
  entry = {key, generation, ++lock.tick, entry.row, 0};
  std::memcpy(row_of(entry), row, row_size_ * sizeof(float));
}

std::uint64_t EvalCache::hits() const noexcept {
  std::uint64_t total = 0;
  if (locks_ == nullptr) return 0;
  for (std::size_t i = 0; i < kLocks; ++i) total += locks_[i].hits.load(std::memory_order_relaxed);
  return total;
}

}  // namespace pyengine
