#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/error.h"
#include "base/janitor.h"
#include "exact/alphabeta/table.h"

namespace pyengine::alphabeta {
namespace {

constexpr std::uint64_t kFirstBuckets = std::uint64_t{1} << 13;  ///< 512 KiB
constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr std::uint64_t kFreedAtOnce = std::uint64_t{32} << 20;  ///< bytes

}  // namespace

Table::Table(std::uint64_t bytes) : buckets_(bytes / sizeof(Bucket)) {
  if (buckets_ == 0) {
    throw ConfigError("table: expected at least " + std::to_string(sizeof(Bucket)) +
                      " bytes, got " + std::to_string(bytes));
  }
  allocate();
}

/// Leaves the table unchanged if there is no memory.
void Table::allocate() {
  // calloc() returns zero pages, which cost nothing until they are written. With large pages a new
  // search does not fault at every entry.
  const std::size_t alignment = bytes() >= 2 * kLargePage ? kLargePage : sizeof(Bucket);
  std::size_t room = bytes() + alignment;
  void* memory = std::calloc(room, 1);
  if (memory == nullptr) throw std::bad_alloc();
  free_memory();
  void* place = memory_ = memory;
  first_ = static_cast<Bucket*>(std::align(alignment, bytes(), place, room));
  used_.store(std::min(buckets_, kFirstBuckets), std::memory_order_relaxed);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (alignment == kLargePage) madvise(first_, bytes(), MADV_HUGEPAGE);
#endif
}

/// The system takes about 0.1 ms to reclaim a MiB of written memory.
void Table::free_memory() noexcept {
  void* memory = std::exchange(memory_, nullptr);
  if (memory == nullptr) return;
  if (bytes_in_use() <= kFreedAtOnce) {
    std::free(memory);
    return;
  }
  try {
    run_in_background([memory] { std::free(memory); });
  } catch (...) {
    std::free(memory);
  }
}

void Table::clear() {
  expected_ = 0;
  allocate();
}

}  // namespace pyengine::alphabeta
