/// Large blocks of memory: a pool of chunks under a hard cap, and an arena of numbered blocks on
/// it.
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

/// Apart by this much, what two cores write does not disturb them.
inline constexpr std::size_t kCacheLine = 64;

inline constexpr std::size_t kChunkBytes = std::size_t{1} << 21;  ///< one huge page

/// Hands out chunks of kChunkBytes, aligned to their size, and keeps those that come back.
/// The cap is exact: chunks held by anybody plus chunks kept never exceed it. Thread-safe.
class ChunkPool {
 public:
  explicit ChunkPool(std::uint64_t limit_bytes) { set_limit(limit_bytes); }
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;
  ~ChunkPool();

  /// For chunks taken from now on; what is held already stays, what is kept beyond it goes.
  void set_limit(std::uint64_t bytes) noexcept;
  /// nullptr at the cap.
  [[nodiscard]] std::byte* take();
  /// Cannot fail: every chunk that was taken has a place among those that are kept.
  void give_back(std::span<std::byte* const> chunks) noexcept;
  /// The first chunk that was taken is in small pages, so that an engine at rest holds what it has
  /// used; from now on, or when there is a second one, it is in a huge page.
  void note_use(const std::byte* chunk) noexcept;
  /// Leaves so much of the cap to memory that others hold: instead of what was left before.
  void reserve(std::uint64_t bytes) noexcept;
  /// Of the cap, those that are not reserved.
  [[nodiscard]] std::size_t limit_chunks() const noexcept {
    return limit_.load(std::memory_order_relaxed);
  }
  /// Chunks that take() has left.
  [[nodiscard]] std::size_t available() const;
  /// How often memory was asked for and there was none left.
  [[nodiscard]] std::uint64_t refusals() const noexcept {
    return refusals_.load(std::memory_order_relaxed);
  }
  void count_refusal() noexcept { refusals_.fetch_add(1, std::memory_order_relaxed); }
  /// Chunks obtained from the system, in bytes.
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
  std::byte* first_ = nullptr;  ///< the chunk in small pages
  std::atomic<std::uint64_t> allocated_{0};
  std::atomic<std::uint64_t> charged_{0};  ///< bytes; written under the mutex
  std::atomic<std::uint64_t> refusals_{0};
};

/// Cuts chunks of a pool into pieces of one size, for arenas that each have a share. What an arena
/// gets then depends on its own wishes alone, not on when others have theirs. Thread-safe; the
/// memory returns to the pool at the end.
class PiecePool {
 public:
  /// The largest block of an arena is to fit into a piece: 1 <= units <= Arena::kMaxUnits.
  PiecePool(std::shared_ptr<ChunkPool> pool, std::uint32_t units);
  PiecePool(const PiecePool&) = delete;
  PiecePool& operator=(const PiecePool&) = delete;
  ~PiecePool();

  /// nullptr when the pool has no chunk left.
  [[nodiscard]] std::byte* take();
  [[nodiscard]] std::uint32_t units() const noexcept { return units_; }
  [[nodiscard]] std::size_t bytes() const noexcept;  ///< of a piece
  /// Pieces that the chunks make which the pool has left.
  [[nodiscard]] std::size_t available() const;
  [[nodiscard]] const std::shared_ptr<ChunkPool>& pool() const noexcept { return pool_; }

 private:
  const std::shared_ptr<ChunkPool> pool_;
  const std::uint32_t units_;
  std::mutex mutex_;
  std::vector<std::byte*> chunks_;
  std::size_t left_ = 0;  ///< pieces of the newest chunk
};

/// Names a block of an Arena; 0 names none.
using BlockIndex = std::uint32_t;
inline constexpr std::size_t kUnitBytes = 8;  ///< blocks are whole units, aligned to one

/// Blocks of memory that never move, named by 32-bit indices in units of 8 bytes. Blocks are taken
/// and given back through an Allocator, one per thread. Everything is returned at once, to the
/// pool, when the arena dies.
class Arena {
 public:
  static constexpr int kMaxUnits = 1 << 15;  ///< of one block (256 KiB)

  explicit Arena(std::shared_ptr<ChunkPool> pool);
  /// On a share: `most` pieces.
  Arena(std::shared_ptr<PiecePool> pieces, std::size_t most);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// The memory of a block. Safe from any thread that learnt the index by acquire.
  [[nodiscard]] std::byte* at(BlockIndex index) const noexcept {
    return chunks_[index >> kUnitBits] + (index & kUnitMask) * kUnitBytes;
  }
  template <class T>
  [[nodiscard]] T* at(BlockIndex index) const noexcept {
    return reinterpret_cast<T*>(at(index));
  }
  /// at(), where `near` at `memory` is most often in the same chunk: the address then waits for no
  /// load.
  template <class T>
  [[nodiscard]] T* at_near(BlockIndex index, BlockIndex near, void* memory) const noexcept {
    if (index >> kUnitBits != near >> kUnitBits) [[unlikely]] {
      return at<T>(index);
    }
    const auto units = static_cast<std::ptrdiff_t>(index) - static_cast<std::ptrdiff_t>(near);
    return reinterpret_cast<T*>(static_cast<std::byte*>(memory) +
                                units * static_cast<std::ptrdiff_t>(kUnitBytes));
  }
  /// Set when nobody will use the blocks any more: whoever sorts free blocks may stop.
  std::atomic<bool> abandoned{false};

 private:
  friend class Allocator;
  static constexpr int kUnitBits = 18;  ///< units in a chunk, as a power of two
  static constexpr std::uint32_t kUnitMask = (1U << kUnitBits) - 1;
  static_assert((std::size_t{1} << kUnitBits) * kUnitBytes == kChunkBytes);

  struct Span {
    BlockIndex begin = 0;
    BlockIndex end = 0;
  };
  /// A chunk of the pool or a piece of the share; nullptr at the cap.
  [[nodiscard]] std::byte* take_chunk();
  /// Room for `units` at least, `wanted` if it can be; empty at the cap.
  Span take_span(std::uint32_t units, std::uint32_t wanted);
  /// What a thread has left of a span; the next one goes on there.
  /// It is lost, until the arena dies, where the system has no memory to note it.
  void give_span(Span rest) noexcept;
  /// Free blocks of one size, linked through their first word.
  struct List {
    BlockIndex head = 0;
    BlockIndex tail = 0;
  };
  /// A list that somebody gave, whole; empty when there is none of this size.
  List take_free(int units);
  /// A free block of `units` at least, as a span; empty when there is none.
  Span take_larger(int units);
  void give_free(int units, List list) noexcept;  ///< as give_span()

  /// Indices are 32 bits: beyond so many chunks (32 GiB) an arena is full whatever the cap.
  static constexpr std::size_t kMostChunks = std::size_t{1} << (32 - kUnitBits);

  std::shared_ptr<ChunkPool> pool_;
  std::shared_ptr<PiecePool> pieces_;  ///< what chunks_ are made of, where it is a share
  std::size_t most_chunks_ = kMostChunks;
  std::uint32_t chunk_units_ = kUnitMask;  ///< the last unit stays unused: an end may not overflow
  std::mutex mutex_;
  std::unique_ptr<std::byte*[]> chunks_;  ///< fixed size: readers need no lock
  std::uint32_t num_chunks_ = 0;
  Span open_;                            ///< rest of the newest chunk
  std::vector<Span> rests_;              ///< of spans given back
  std::vector<std::vector<List>> free_;  ///< [units]: lists given
  std::size_t largest_free_ = 0;         ///< no list beyond this size
  std::atomic<bool> has_free_{false};    ///< a hint, so that the common case takes no lock
};

/// One thread's door to an arena: takes blocks from a span of its own, and blocks given back first.
class Allocator {
 public:
  Allocator() = default;
  explicit Allocator(std::shared_ptr<Arena> arena) : arena_(std::move(arena)) {}
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;
  Allocator(Allocator&& other) noexcept { *this = std::move(other); }
  /// What was left of the memory of this one goes to its arena.
  Allocator& operator=(Allocator&& other) noexcept {
    flush();
    arena_ = std::exchange(other.arena_, nullptr);
    span_ = std::exchange(other.span_, {});
    free_ = std::exchange(other.free_, {});
    return *this;
  }
  ~Allocator() { flush(); }

  [[nodiscard]] const std::shared_ptr<Arena>& arena() const noexcept { return arena_; }
  /// 0 at the memory cap. 1 <= units <= Arena::kMaxUnits.
  [[nodiscard]] BlockIndex take(int units) noexcept {
    const auto size = static_cast<std::uint32_t>(units);
    if (BlockIndex index = reuse(units)) return index;
    if (span_.end - span_.begin < size && !refill(size)) return 0;
    const BlockIndex index = span_.begin;
    span_.begin += size;
    return index;
  }
  /// Makes a block of this size available again; it is lost, until the arena dies, where the system
  /// has no memory to note it.
  void give(BlockIndex index, int units) noexcept;
  /// Hands all free memory of this allocator to the arena, for other threads.
  void flush() noexcept;

 private:
  BlockIndex reuse(int units) noexcept {
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
