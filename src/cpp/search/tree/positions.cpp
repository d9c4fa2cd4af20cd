#include "search/tree/positions.h"

#include <algorithm>
#include <new>
#include <span>

#include "base/backoff.h"
#include "games/common/hashing.h"

namespace pyengine {
namespace {

constexpr int kFirstBits = 4;
constexpr int kMostBits = 12;
constexpr int kMostSlots = 1 << kMostBits;
constexpr int kMostDepth = 32 - kMostBits;  ///< the other bits of a tag choose the slot

[[nodiscard]] std::uint32_t tag_of(const PositionKey& key, std::uint32_t ply) noexcept {
  return static_cast<std::uint32_t>(mix64((key.high + ply) * kHashStep + key.low) >> 32);
}

/// Full enough that another entry would make searches long.
[[nodiscard]] bool is_full(std::uint32_t used, int bits) noexcept {
  return 4 * (used + 1) > 3U << bits;
}

}  // namespace

/// Another thread is rarely at the table, and then briefly.
class PositionTable::Lock {
 public:
  explicit Lock(std::atomic<bool>& locked) noexcept : locked_(locked) {
    for (Backoff backoff; locked_.exchange(true, std::memory_order_acquire);) backoff.pause();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool>& locked_;
};

PositionTable::Link PositionTable::acquire(Allocator& allocator, const PositionKey& key,
                                           std::uint32_t ply, int chooser) noexcept {
  const Arena& arena = *allocator.arena();
  const std::uint32_t tag = tag_of(key, ply);
  const Lock lock(locked_);
  const bool has_room = make_room(allocator, tag);
  if (segments_.empty()) return {};
  Segment& segment = segment_of(tag);
  auto* slots = arena.at<Slot>(segment.block);
  const std::uint32_t mask = (1U << segment.bits) - 1;
  std::uint32_t place = tag & mask;
  for (; slots[place].position != 0; place = (place + 1) & mask) {
    if (slots[place].tag != tag) continue;
    auto* position = arena.at<Position>(slots[place].position);
    if (position->key != key || position->ply != ply) continue;
    ++position->references;
    return {slots[place].position, false};
  }
  if (!has_room) return {};
  const BlockIndex block = allocator.take(kPositionUnits);
  if (block == 0) return {};
  auto* position = new (arena.at(block)) Position{key, ply, 1, {}};
  position->node.chooser = chooser & 1;
  position->node.state.store(NodeState::claimed, std::memory_order_relaxed);
  slots[place] = {tag, block};
  ++segment.used;
  return {block, true};
}

bool PositionTable::release(const Arena& arena, BlockIndex position) noexcept {
  auto& released = *arena.at<Position>(position);
  const Lock lock(locked_);
  if (--released.references != 0) return false;
  const std::uint32_t tag = tag_of(released.key, released.ply);
  Segment& segment = segment_of(tag);
  const auto* slots = arena.at<const Slot>(segment.block);
  const std::uint32_t mask = (1U << segment.bits) - 1;
  std::uint32_t place = tag & mask;
  while (slots[place].position != position) place = (place + 1) & mask;
  erase(arena, segment, place);
  return true;
}

void PositionTable::free_memory(Allocator& allocator) noexcept {
  const Lock lock(locked_);
  for (const Segment& segment : segments_) allocator.give(segment.block, 1 << segment.bits);
  segments_.clear();
  directory_.clear();
  depth_ = 0;
}

bool PositionTable::make_room(Allocator& allocator, std::uint32_t tag) noexcept {
  try {
    if (segments_.empty()) {
      segments_.reserve(1);
      directory_.assign(1, 0);
      segments_.push_back({});
      if (replace(allocator, 0, kFirstBits)) return true;
      segments_.clear();
      return false;
    }
    for (;;) {
      const Segment& segment = segment_of(tag);
      if (!is_full(segment.used, segment.bits)) return true;
      const auto number = static_cast<std::uint32_t>(&segment - segments_.data());
      const bool grew = segment.bits < kMostBits ? replace(allocator, number, segment.bits + 1)
                                                 : split(allocator, number);
      if (!grew) return false;
    }
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// Moves a segment to a block of 2^bits slots.
bool PositionTable::replace(Allocator& allocator, std::uint32_t number, int bits) {
  const Arena& arena = *allocator.arena();
  const Segment old = segments_[number];
  const BlockIndex block = allocator.take(1 << bits);
  if (block == 0) return false;
  std::fill_n(arena.at<Slot>(block), 1 << bits, Slot{});
  Segment& segment = segments_[number];
  segment = {block, 0, static_cast<std::uint8_t>(bits), old.depth};
  if (old.block == 0) return true;
  for (const Slot& slot : std::span(arena.at<const Slot>(old.block), std::size_t{1} << old.bits)) {
    if (slot.position != 0) insert(arena, segment, slot);
  }
  allocator.give(old.block, 1 << old.bits);
  return true;
}

/// Divides a segment by the next bit of its tags.
bool PositionTable::split(Allocator& allocator, std::uint32_t number) {
  const Arena& arena = *allocator.arena();
  const Segment old = segments_[number];
  if (old.depth == kMostDepth) return false;
  const auto other = static_cast<std::uint32_t>(segments_.size());
  segments_.reserve(segments_.size() + 1);
  if (old.depth == depth_) {
    std::vector<std::uint32_t> larger(2 * directory_.size());
    for (std::size_t i = 0; i < larger.size(); ++i) larger[i] = directory_[i / 2];
    directory_ = std::move(larger);
    ++depth_;
  }
  const BlockIndex low = allocator.take(1 << old.bits);
  const BlockIndex high = allocator.take(1 << old.bits);
  if (low == 0 || high == 0) {
    if (low != 0) allocator.give(low, 1 << old.bits);
    return false;
  }
  const auto depth = static_cast<std::uint8_t>(old.depth + 1);
  std::fill_n(arena.at<Slot>(low), 1 << old.bits, Slot{});
  std::fill_n(arena.at<Slot>(high), 1 << old.bits, Slot{});
  segments_[number] = {low, 0, old.bits, depth};
  segments_.push_back({high, 0, old.bits, depth});
  const std::uint32_t next_bit = 1U << (32 - depth);
  for (const Slot& slot : std::span(arena.at<const Slot>(old.block), std::size_t{1} << old.bits)) {
    if (slot.position == 0) continue;
    insert(arena, segments_[(slot.tag & next_bit) != 0 ? other : number], slot);
  }
  // The directory's entries of the old segment are consecutive; the second half is the new one's.
  const auto first = std::find(directory_.begin(), directory_.end(), number);
  const auto count = std::ptrdiff_t{1} << (depth_ - old.depth);
  std::fill(first + count / 2, first + count, other);
  allocator.give(old.block, 1 << old.bits);
  return true;
}

void PositionTable::insert(const Arena& arena, Segment& segment, Slot entry) noexcept {
  auto* slots = arena.at<Slot>(segment.block);
  const std::uint32_t mask = (1U << segment.bits) - 1;
  std::uint32_t place = entry.tag & mask;
  while (slots[place].position != 0) place = (place + 1) & mask;
  slots[place] = entry;
  ++segment.used;
}

/// Closes the gap, so that no search ends early: entries move back unless that would put them
/// before the slot where their search begins.
void PositionTable::erase(const Arena& arena, Segment& segment, std::uint32_t place) noexcept {
  auto* slots = arena.at<Slot>(segment.block);
  const std::uint32_t mask = (1U << segment.bits) - 1;
  for (std::uint32_t next = (place + 1) & mask; slots[next].position != 0;
       next = (next + 1) & mask) {
    const std::uint32_t home = slots[next].tag & mask;
    if (((next - home) & mask) < ((next - place) & mask)) continue;
    slots[place] = slots[next];
    place = next;
  }
  slots[place] = {};
  --segment.used;
}

}  // namespace pyengine
