#include "base/memory.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace pyengine {
namespace {

constexpr std::uint32_t kSpanUnits = (64U << 10) / kUnitBytes;  ///< a thread takes 64 KiB at a time
/// Bytes in use of the first chunk before it moves to a huge page.
constexpr std::uint32_t kSmallUnits = (256U << 10) / kUnitBytes;
/// A smaller rest of a span becomes a free block, a larger one a span.
constexpr std::uint32_t kLeastSpan = 1024;

std::byte* new_chunk() {
  void* memory = ::operator new(kChunkBytes, std::align_val_t{kChunkBytes}, std::nothrow);
  return static_cast<std::byte*>(memory);
}

/// Trees are accessed at random: with 4 KiB pages most steps miss the TLB (Gomoku: 24 % slower).
void use_huge_page(std::byte* chunk) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  madvise(chunk, kChunkBytes, MADV_HUGEPAGE);
#endif
}

/// Moves the chunk to a huge page. Linux before 6.1 does so asynchronously.
void move_to_huge_page(std::byte* chunk) noexcept {
  use_huge_page(chunk);
#if defined(__linux__) && defined(MADV_COLLAPSE)
  madvise(chunk, kChunkBytes, MADV_COLLAPSE);
#endif
}

void delete_chunk(std::byte* chunk) noexcept {
  ::operator delete(chunk, std::align_val_t{kChunkBytes});
}

/// The first word of a free block is the index of the next one.
BlockIndex next_of(const Arena& arena, BlockIndex index) {
  BlockIndex next = 0;
  std::memcpy(&next, arena.at(index), sizeof next);
  return next;
}

void set_next(const Arena& arena, BlockIndex index, BlockIndex next) {
  std::memcpy(arena.at(index), &next, sizeof next);
}

/// Calls `verb`; returns false if it threw std::bad_alloc.
bool succeeds(auto&& verb) noexcept {
  try {
    verb();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

ChunkPool::~ChunkPool() {
  for (std::byte* chunk : free_) delete_chunk(chunk);
}

void ChunkPool::set_limit(std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  limit_bytes_ = bytes;
  update_limit();
}

void ChunkPool::reserve(std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  reserved_ = bytes;
  update_limit();
}

/// Requires the mutex.
void ChunkPool::update_limit() noexcept {
  const std::uint64_t left = limit_bytes_ - std::min(reserved_, limit_bytes_);
  limit_.store(static_cast<std::size_t>(left / kChunkBytes), std::memory_order_relaxed);
  trim();
}

/// Frees cached chunks above the limit. Requires the mutex.
void ChunkPool::trim() noexcept {
  while (!free_.empty() && allocated_.load(std::memory_order_relaxed) > limit_chunks()) {
    if (free_.back() == first_) first_ = nullptr;
    delete_chunk(free_.back());
    free_.pop_back();
    allocated_.fetch_sub(1, std::memory_order_relaxed);
  }
}

/// Whether the cache has space for one more chunk. Requires the mutex.
bool ChunkPool::reserve_place() noexcept {
  const std::size_t needed = allocated_.load(std::memory_order_relaxed) + 1;
  if (needed <= free_.capacity()) return true;
  return succeeds([&] { free_.reserve(2 * needed); });
}

std::byte* ChunkPool::take() {
  const std::lock_guard lock(mutex_);
  const std::uint64_t allocated = allocated_.load(std::memory_order_relaxed);
  if (allocated - free_.size() < limit_chunks()) {
    if (!free_.empty()) {
      std::byte* chunk = free_.back();
      free_.pop_back();
      return chunk;
    }
    std::byte* chunk = reserve_place() ? new_chunk() : nullptr;
    if (chunk != nullptr) {
      choose_pages(chunk);
      allocated_.fetch_add(1, std::memory_order_relaxed);
      return chunk;
    }
  }
  count_refusal();
  return nullptr;
}

/// Called before a chunk becomes the newest. Requires the mutex.
void ChunkPool::choose_pages(std::byte* chunk) noexcept {
  if (allocated_.load(std::memory_order_relaxed) == 0) {
    first_ = chunk;
    return;
  }
  leave_small_pages();
  use_huge_page(chunk);
}

/// Requires the mutex.
void ChunkPool::leave_small_pages() noexcept {
  if (first_ != nullptr) move_to_huge_page(std::exchange(first_, nullptr));
}

void ChunkPool::note_use(const std::byte* chunk) noexcept {
  const std::lock_guard lock(mutex_);
  if (chunk == first_) leave_small_pages();
}

std::size_t ChunkPool::available() const {
  const std::lock_guard lock(mutex_);
  const std::size_t held = allocated_.load(std::memory_order_relaxed) - free_.size();
  return limit_chunks() - std::min(held, limit_chunks());
}

void ChunkPool::give_back(std::span<std::byte* const> chunks) noexcept {
  const std::lock_guard lock(mutex_);
  free_.insert(free_.end(), chunks.begin(), chunks.end());
  trim();
}

PiecePool::PiecePool(std::shared_ptr<ChunkPool> pool, std::uint32_t units)
    : pool_(std::move(pool)), units_(units) {}

PiecePool::~PiecePool() { pool_->give_back(chunks_); }

std::size_t PiecePool::bytes() const noexcept { return std::size_t{units_} * kUnitBytes; }

std::size_t PiecePool::available() const { return pool_->available() * (kChunkBytes / bytes()); }

std::byte* PiecePool::take() {
  const std::lock_guard lock(mutex_);
  if (left_ == 0) {
    if (!succeeds([&] { chunks_.reserve(chunks_.size() + 1); })) return nullptr;
    std::byte* chunk = pool_->take();
    if (chunk == nullptr) return nullptr;
    chunks_.push_back(chunk);
    left_ = kChunkBytes / bytes();
  }
  return chunks_.back() + --left_ * bytes();
}

Arena::Arena(std::shared_ptr<ChunkPool> pool)
    : pool_(std::move(pool)), chunks_(std::make_unique_for_overwrite<std::byte*[]>(most_chunks_)) {}

Arena::Arena(std::shared_ptr<PiecePool> pieces, std::size_t most)
    : pool_(pieces->pool()),
      pieces_(std::move(pieces)),
      most_chunks_(std::min(most, kMostChunks)),
      chunk_units_(pieces_->units()),
      chunks_(std::make_unique_for_overwrite<std::byte*[]>(most_chunks_)) {}

Arena::~Arena() {
  if (pieces_ == nullptr) pool_->give_back({chunks_.get(), chunks_.get() + num_chunks_});
}

std::byte* Arena::take_chunk() {
  if (num_chunks_ < most_chunks_) return pieces_ != nullptr ? pieces_->take() : pool_->take();
  pool_->count_refusal();
  return nullptr;
}

Arena::Span Arena::take_span(std::uint32_t units, std::uint32_t preferred) {
  const std::lock_guard lock(mutex_);
  for (Span& rest : rests_) {
    if (rest.end - rest.begin < units) continue;
    const Span span = std::exchange(rest, rests_.back());
    rests_.pop_back();
    return span;
  }
  if (open_.end - open_.begin < units) {
    std::byte* chunk = take_chunk();
    if (chunk == nullptr) return {};
    open_.begin = num_chunks_ << kUnitBits;
    open_.end = open_.begin + chunk_units_;
    if (open_.begin == 0) ++open_.begin;  // index 0 means "no block"
    chunks_[num_chunks_++] = chunk;
  }
  const std::uint32_t size = std::min(std::max(units, preferred), open_.end - open_.begin);
  const Span span{open_.begin, open_.begin + size};
  open_.begin += size;
  if (span.begin <= kSmallUnits && span.end > kSmallUnits) pool_->note_use(chunks_[0]);
  return span;
}

void Arena::give_span(Span rest) noexcept {
  const std::lock_guard lock(mutex_);
  if (rest.end == open_.begin) {
    open_.begin = rest.begin;
  } else {
    succeeds([&] { rests_.push_back(rest); });
  }
}

Arena::List Arena::take_free(int units) {
  const std::lock_guard lock(mutex_);
  const auto size = static_cast<std::size_t>(units);
  if (size >= free_.size() || free_[size].empty()) return {};
  const List list = free_[size].back();
  free_[size].pop_back();
  return list;
}

void Arena::give_free(int units, List list) noexcept {
  const std::lock_guard lock(mutex_);
  const auto size = static_cast<std::size_t>(units);
  const bool noted = succeeds([&] {
    if (size >= free_.size()) free_.resize(size + 1);
    free_[size].push_back(list);
  });
  if (!noted) return;
  largest_free_ = std::max(largest_free_, size);
  has_free_.store(true, std::memory_order_relaxed);
}

Arena::Span Arena::take_larger(int units) {
  const std::lock_guard lock(mutex_);
  const auto least = static_cast<std::size_t>(units);
  for (std::size_t size = least; size <= largest_free_ && size < free_.size(); ++size) {
    if (free_[size].empty()) continue;
    List& list = free_[size].back();
    const BlockIndex block = list.head;
    list.head = next_of(*this, block);
    if (list.head == 0) free_[size].pop_back();
    return {block, block + static_cast<BlockIndex>(size)};
  }
  largest_free_ = std::min(largest_free_, least);
  return {};
}

void Allocator::give(BlockIndex index, int units) noexcept {
  const auto size = static_cast<std::size_t>(units);
  if (size >= free_.size() && !succeeds([&] { free_.resize(size + 1); })) return;
  Arena::List& list = free_[size];
  set_next(*arena_, index, list.head);
  if (list.head == 0) list.tail = index;
  list.head = index;
}

void Allocator::flush() noexcept {
  if (!arena_) return;
  give_span();
  for (std::size_t size = 0; size < free_.size(); ++size) {
    const Arena::List list = std::exchange(free_[size], {});
    if (list.head != 0) arena_->give_free(static_cast<int>(size), list);
  }
  free_.clear();
}

void Allocator::give_span() noexcept {
  const Arena::Span rest = std::exchange(span_, {});
  const std::uint32_t units = rest.end - rest.begin;
  if (units >= kLeastSpan) {
    arena_->give_span(rest);
  } else if (units > 0) {
    give(rest.begin, static_cast<int>(units));
  }
}

BlockIndex Allocator::pop(int units) noexcept {
  Arena::List& list = free_[static_cast<std::size_t>(units)];
  const BlockIndex index = list.head;
  list.head = next_of(*arena_, index);
  return index;
}

BlockIndex Allocator::reuse_from_arena(int units) noexcept {
  const auto size = static_cast<std::size_t>(units);
  if (size >= free_.size() && !succeeds([&] { free_.resize(size + 1); })) return 0;
  const Arena::List list = arena_->take_free(units);
  if (list.head == 0) return 0;
  free_[size] = list;
  return pop(units);
}

bool Allocator::refill(std::uint32_t units) noexcept {
  give_span();
  span_ = arena_->take_span(units, kSpanUnits);
  if (span_.end != 0) return true;
  // At the cap. The number of moves shrinks in the course of a game, and so do the blocks: most
  // free blocks are too large, and one of them is cut.
  flush();
  span_ = arena_->take_larger(static_cast<int>(units));
  return span_.end != 0;
}

}  // namespace pyengine
