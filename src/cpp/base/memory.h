/// Large blocks of memory: a pool of chunks with a hard cap, and arenas of indexed blocks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace pyengine {

/// Alignment that prevents false sharing.
inline constexpr std::size_t kCacheLine = 64;

inline constexpr std::size_t kChunkBytes = std::size_t{1} << 21;  ///< one huge page

/// Hands out chunks of kChunkBytes, aligned to their size, and caches returned ones. Chunks in use
/// plus cached chunks never exceed the cap. Thread-safe.
class ChunkPool {
 public:
  explicit ChunkPool(std::uint64_t limit_bytes) { set_limit(limit_bytes); }
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;
  ~ChunkPool();

  /// Applies to future chunks: chunks in use stay, cached chunks above the limit are freed.
  void set_limit(std::uint64_t bytes) noexcept;
  /// Returns nullptr at the cap.
  [[nodiscard]] std::byte* take();
  /// Cannot fail: take() reserves space in the cache for every chunk.
  void give_back(std::span<std::byte* const> chunks) noexcept;
  /// The first chunk uses small pages, so that an idle engine occupies only the memory that it has
  /// touched. This moves it to a huge page; a second chunk does so too.
  void note_use(const std::byte* chunk) noexcept;
  /// Reserves part of the cap for other memory, replacing the previous reservation.
  void reserve(std::uint64_t bytes) noexcept;
  /// The cap without the reservation.
  [[nodiscard]] std::size_t limit_chunks() const noexcept {
    return limit_.load(std::memory_order_relaxed);
  }
  /// Chunks that take() can still return.
  [[nodiscard]] std::size_t available() const;
  /// Number of requests that failed at the cap.
  [[nodiscard]] std::uint64_t refusals() const noexcept {
    return refusals_.load(std::memory_order_relaxed);
  }
  void count_refusal() noexcept { refusals_.fetch_add(1, std::memory_order_relaxed); }
  /// Bytes of the chunks obtained from the system.
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return allocated_.load(std::memory_order_relaxed) * kChunkBytes;
  }

 private:
  void update_limit() noexcept;
  void trim() noexcept;
  void choose_pages(std::byte* chunk) noexcept;
  void leave_small_pages() noexcept;
  [[nodiscard]] bool reserve_place() noexcept;

  std::atomic<std::size_t> limit_{0};  ///< chunks; written under the mutex
  mutable std::mutex mutex_;
  std::uint64_t limit_bytes_ = 0;
  std::uint64_t reserved_ = 0;  ///< bytes of the limit
  std::vector<std::byte*> free_;
  std::byte* first_ = nullptr;  ///< the chunk with small pages
  std::atomic<std::uint64_t> allocated_{0};
  std::atomic<std::uint64_t> charged_{0};  ///< bytes; written under the mutex
  std::atomic<std::uint64_t> refusals_{0};
};

/// Cuts chunks of a pool into pieces of equal size for arenas with a fixed share each, so that an
/// arena's supply does not depend on the timing of the others. Thread-safe; the destructor returns
/// the memory to the pool.
class PiecePool {
 public:
  /// A piece must fit the largest block of an arena: 1 <= units <= Arena::kMaxUnits.
  PiecePool(std::shared_ptr<ChunkPool> pool, std::uint32_t units);
  PiecePool(const PiecePool&) = delete;
  PiecePool& operator=(const PiecePool&) = delete;
  ~PiecePool();

  /// Returns nullptr if the pool is exhausted.
  [[nodiscard]] std::byte* take();
  [[nodiscard]] std::uint32_t units() const noexcept { return units_; }
  [[nodiscard]] std::size_t bytes() const noexcept;  ///< size of a piece
  /// Number of pieces in the remaining chunks of the pool.
  [[nodiscard]] std::size_t available() const;
  [[nodiscard]] const std::shared_ptr<ChunkPool>& pool() const noexcept { return pool_; }

 private:
  const std::shared_ptr<ChunkPool> pool_;
  const std::uint32_t units_;
  std::mutex mutex_;
  std::vector<std::byte*> chunks_;
  std::size_t left_ = 0;  ///< pieces left in the newest chunk
};

/// Index of a block in an Arena; 0 = none.
using BlockIndex = std::uint32_t;
inline constexpr std::size_t kUnitBytes = 8;  ///< size and alignment unit of blocks

/// Blocks of memory that never move, with 32-bit indices in units of 8 bytes. Blocks are allocated
/// and freed through an Allocator per thread. The destructor returns all memory to the pool.
class Arena {
 public:
  static constexpr int kMaxUnits = 1 << 15;  ///< largest block: 256 KiB

  explicit Arena(std::shared_ptr<ChunkPool> pool);
  /// With a fixed share of `most` pieces.
  Arena(std::shared_ptr<PiecePool> pieces, std::size_t most);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// The memory of a block. Thread-safe if the index was read with acquire.
  [[nodiscard]] std::byte* at(BlockIndex index) const noexcept {
    return chunks_[index >> kUnitBits] + (index & kUnitMask) * kUnitBytes;
  }
  template <class T>
  [[nodiscard]] T* at(BlockIndex index) const noexcept {
    return reinterpret_cast<T*>(at(index));
  }
  /// Same as at(), with a hint: `memory` is the address of `near`. If both blocks are in the same
  /// chunk, which is likely, the address needs no load.
  template <class T>
  [[nodiscard]] T* at_near(BlockIndex index, BlockIndex near, void* memory) const noexcept {
    if (index >> kUnitBits != near >> kUnitBits) [[unlikely]] {
      return at<T>(index);
    }
    const auto units = static_cast<std::ptrdiff_t>(index) - static_cast<std::ptrdiff_t>(near);
    return reinterpret_cast<T*>(static_cast<std::byte*>(memory) +
                                units * static_cast<std::ptrdiff_t>(kUnitBytes));
  }
  /// Set when the blocks are no longer needed, so that sorting of free blocks may stop.
  std::atomic<bool> abandoned{false};

 private:
  friend class Allocator;
  static constexpr int kUnitBits = 18;  ///< log2 of the units in a chunk
  static constexpr std::uint32_t kUnitMask = (1U << kUnitBits) - 1;
  static_assert((std::size_t{1} << kUnitBits) * kUnitBytes == kChunkBytes);

  struct Span {
    BlockIndex begin = 0;
    BlockIndex end = 0;
  };
  /// A chunk of the pool or a piece of the share; nullptr at the cap.
  [[nodiscard]] std::byte* take_chunk();
  /// A span of at least `units`, preferably `wanted`; empty at the cap.
  Span take_span(std::uint32_t units, std::uint32_t wanted);
  /// Returns the rest of a thread's span for reuse. If the system is out of memory, the rest is
  /// lost until the arena is destroyed.
  void give_span(Span rest) noexcept;
  /// Free blocks of one size, linked through their first word.
  struct List {
    BlockIndex head = 0;
    BlockIndex tail = 0;
  };
  /// A complete list returned by another thread; empty if there is none of this size.
  List take_free(int units);
  /// A free block of at least `units`, as a span; empty if there is none.
  Span take_larger(int units);
  void give_free(int units, List list) noexcept;  ///< see give_span()

  /// Limit of 32-bit indices: 32 GiB, regardless of the cap.
  static constexpr std::size_t kMostChunks = std::size_t{1} << (32 - kUnitBits);

  std::shared_ptr<ChunkPool> pool_;
  std::shared_ptr<PiecePool> pieces_;  ///< source of chunks_ for an arena with a share
  std::size_t most_chunks_ = kMostChunks;
  std::uint32_t chunk_units_ =
      kUnitMask;  ///< excludes the last unit, so that the end of a span cannot overflow
  std::mutex mutex_;
  std::unique_ptr<std::byte*[]> chunks_;  ///< fixed size, so that readers need no lock
  std::uint32_t num_chunks_ = 0;
  Span open_;                            ///< rest of the newest chunk
  std::vector<Span> rests_;              ///< returned rests of spans
  std::vector<std::vector<List>> free_;  ///< [units]: returned lists
  std::size_t largest_free_ = 0;         ///< no list exceeds this size
  std::atomic<bool> has_free_{false};    ///< a hint that avoids the lock in the common case
};

/// The allocator of one thread: reuses freed blocks, then cuts blocks from its own span.
class Allocator {
 public:
  Allocator() = default;
  explicit Allocator(std::shared_ptr<Arena> arena) : arena_(std::move(arena)) {}
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;
  Allocator(Allocator&& other) noexcept { *this = std::move(other); }
  /// Returns the remaining memory of this allocator to its arena.
  Allocator& operator=(Allocator&& other) noexcept {
    flush();
    arena_ = std::exchange(other.arena_, nullptr);
    span_ = std::exchange(other.span_, {});
    free_ = std::exchange(other.free_, {});
    return *this;
  }
  ~Allocator() { flush(); }

  [[nodiscard]] const std::shared_ptr<Arena>& arena() const noexcept { return arena_; }
  /// Returns 0 at the memory cap. 1 <= units <= Arena::kMaxUnits.
  [[nodiscard, gnu::always_inline]] BlockIndex take(int units) noexcept {
    const auto size = static_cast<std::uint32_t>(units);
    if (BlockIndex index = reuse(units)) return index;
    if (span_.end - span_.begin < size && !refill(size)) return 0;
    const BlockIndex index = span_.begin;
    span_.begin += size;
    return index;
  }
  /// Makes a block available for reuse. If the system is out of memory, the block is lost until the
  /// arena is destroyed.
  void give(BlockIndex index, int units) noexcept;
  /// Returns all free memory of this allocator to the arena, for other threads.
  void flush() noexcept;

 private:
  [[gnu::always_inline]] BlockIndex reuse(int units) noexcept {
    const auto size = static_cast<std::size_t>(units);
    if (size < free_.size() && free_[size].head != 0) return pop(units);
    if (!arena_->has_free_.load(std::memory_order_relaxed)) return 0;
    return reuse_from_arena(units);
  }
  BlockIndex pop(int units) noexcept;
  BlockIndex reuse_from_arena(int units) noexcept;
  bool refill(std::uint32_t units) noexcept;
  void give_span() noexcept;

  std::shared_ptr<Arena> arena_;
  Arena::Span span_;
  std::vector<Arena::List> free_;  ///< [units]
};

}  // namespace pyengine
