#include "exact/alphabeta/table.h"

#include <algorithm>
#include <bit>

namespace pyengine::alphabeta {
namespace {

// From the lowest bit: score 24, bound 2, depth 8, action 16, effort 6, generation 8.
constexpr int kScoreBits = 24;
constexpr std::uint64_t kGrowth = 2;
/// The used part grows once a search has stored this many times its size: many stores go to the
/// same keys, replaced entries are the cheapest ones, and a table that fits into the cache is
/// faster.
constexpr std::uint64_t kStoresPerEntry = 2;
constexpr std::uint64_t kNoActionBits = 0xFFFF;
constexpr std::uint64_t kBucketsPerLook = std::uint64_t{1} << 12;

[[nodiscard]] constexpr std::uint64_t field(std::uint64_t data, int shift, int bits) noexcept {
  return data >> shift & ((std::uint64_t{1} << bits) - 1);
}

[[nodiscard]] std::uint64_t pack(const Found& found, unsigned effort,
                                 unsigned generation) noexcept {
  const std::uint64_t action =
      found.action == kNoAction ? kNoActionBits : static_cast<std::uint64_t>(found.action);
  return (static_cast<std::uint64_t>(found.score) & 0xFFFFFFU) |
      static_cast<std::uint64_t>(found.bound) << 24 | std::uint64_t{found.depth} << 26 |
      action << 34 | std::uint64_t{effort} << 50 | std::uint64_t{generation} << 56;
}

[[nodiscard]] Found unpack(std::uint64_t data) noexcept {
  constexpr int kSign = 32 - kScoreBits;
  const std::uint64_t action = field(data, 34, 16);
  return {static_cast<std::int32_t>(static_cast<std::uint32_t>(data) << kSign) >> kSign,
          static_cast<Bound>(field(data, 24, 2)), static_cast<std::uint8_t>(field(data, 26, 8)),
          action == kNoActionBits ? kNoAction : static_cast<Action>(action)};
}

/// The value of an entry: current entries come first, then those that cost more.
[[nodiscard]] unsigned worth(std::uint64_t data, unsigned generation) noexcept {
  const auto effort = static_cast<unsigned>(field(data, 50, 6));
  return effort + (field(data, 56, 8) == generation ? 64U : 0U);
}

}  // namespace

std::optional<Found> Table::find(std::uint64_t key) const noexcept {
  for (const Entry& entry : bucket(key).entries) {
    const std::uint64_t data = entry.data.load(std::memory_order_relaxed);
    if (data == 0 || (entry.check.load(std::memory_order_relaxed) ^ data) != key) continue;
    return unpack(data);
  }
  return std::nullopt;
}

void Table::store(std::uint64_t key, const Found& found, std::uint64_t nodes) noexcept {
  Entry* target = nullptr;
  unsigned least = ~0U;
  for (Entry& entry : bucket(key).entries) {
    const std::uint64_t data = entry.data.load(std::memory_order_relaxed);
    if (data == 0 || (entry.check.load(std::memory_order_relaxed) ^ data) == key) {
      target = &entry;
      break;
    }
    const unsigned here = worth(data, generation_);
    if (here >= least) continue;
    least = here;
    target = &entry;
  }
  const auto effort =
      static_cast<unsigned>(std::min<int>(static_cast<int>(std::bit_width(nodes)), 63));
  const std::uint64_t data = pack(found, effort, generation_);
  target->data.store(data, std::memory_order_relaxed);
  target->check.store(key ^ data, std::memory_order_relaxed);
}

void Table::expect(std::uint64_t stores, const std::function<void()>& look) {
  expected_ += stores;
  while (used_.load(std::memory_order_relaxed) < buckets_ &&
         expected_ > kStoresPerEntry * kWays * used_.load(std::memory_order_relaxed)) {
    grow(look);
  }
}

/// An entry's bucket is the leading part of its hash, so the entries of a bucket move to buckets
/// after those of all earlier ones: processed from the last one down, each finds its place free.
/// Entries stored by another thread meanwhile may be lost. If `look` throws, the moved entries stay
/// behind the used part until the table grows again.
void Table::grow(const std::function<void()>& look) {
  const std::uint64_t before = used_.load(std::memory_order_relaxed);
  const std::uint64_t after = std::min(buckets_, kGrowth * before);
  for (std::uint64_t b = before; b-- > 0;) {
    if (b % kBucketsPerLook == 0) look();
    for (Entry& entry : first_[b].entries) {
      const std::uint64_t data = entry.data.exchange(0, std::memory_order_relaxed);
      const std::uint64_t check = entry.check.load(std::memory_order_relaxed);
      if (data == 0) continue;
      Bucket& target = first_[multiply_wide(mix64(check ^ data), after).high];
      for (Entry& place : target.entries) {
        if (place.data.load(std::memory_order_relaxed) != 0) continue;
        place.data.store(data, std::memory_order_relaxed);
        place.check.store(check, std::memory_order_relaxed);
        break;
      }
    }
  }
  used_.store(after, std::memory_order_relaxed);
}

}  // namespace pyengine::alphabeta
