/// The positions of a graph: a table from keys to position nodes, with their reference counts.
///
///   tag ──leading bits──▶ directory ──▶ segment: [ tag, position | tag, position | ... ]
///                                                     │
///                     edge node ──children──▶ [key, ply, references, node]
///
/// The table is an extendible hash table: a full segment is doubled or split, so no insertion moves
/// more than kMostSlots entries. Segments and positions are blocks of the tree's arena and count
/// against its memory limit.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/memory.h"
#include "games/game.h"
#include "search/tree/node.h"

namespace pyengine {

/// A position node and its identity.
struct Position {
  PositionKey key;               ///< constant
  std::uint32_t ply = 0;         ///< since the graph's first root; constant
  std::uint32_t references = 0;  ///< edge nodes that lead here; guarded by the table's lock
  Node node;
};
static_assert(sizeof(Position) == 64);
inline constexpr int kPositionUnits = sizeof(Position) / kUnitBytes;

/// Thread-safe.
class PositionTable {
 public:
  struct Link {
    BlockIndex position = 0;  ///< 0 at the memory limit
    bool is_new = false;      ///< the caller initialises its node before others may use it
  };
  /// Adds a reference to the position, which is created if necessary: claimed, and reached by a
  /// move of `chooser`.
  Link acquire(Allocator& allocator, const PositionKey& key, std::uint32_t ply,
               int chooser) noexcept;
  /// Removes a reference. Returns whether it was the last one: the position is then no longer in
  /// the table, and the caller frees it.
  bool release(const Arena& arena, BlockIndex position) noexcept;
  /// Frees the memory of an empty table.
  void free_memory(Allocator& allocator) noexcept;

 private:
  struct Slot {
    std::uint32_t tag = 0;
    BlockIndex position = 0;  ///< 0 = free
  };
  static_assert(sizeof(Slot) == kUnitBytes);
  struct Segment {
    BlockIndex block = 0;
    std::uint32_t used = 0;
    std::uint8_t bits = 0;   ///< log2 of its slots
    std::uint8_t depth = 0;  ///< leading bits that its tags share
  };

  class Lock;

  [[nodiscard]] Segment& segment_of(std::uint32_t tag) noexcept {
    return segments_[directory_[depth_ == 0 ? 0 : tag >> (32 - depth_)]];
  }
  /// Ensures that the segment of `tag` has a free slot; false at the memory limit.
  bool make_room(Allocator& allocator, std::uint32_t tag) noexcept;
  bool replace(Allocator& allocator, std::uint32_t number, int bits);
  bool split(Allocator& allocator, std::uint32_t number);
  static void insert(const Arena& arena, Segment& segment, Slot entry) noexcept;
  static void erase(const Arena& arena, Segment& segment, std::uint32_t place) noexcept;

  std::atomic<bool> locked_{false};  ///< acquire / release; held for one operation
  std::vector<Segment> segments_;
  std::vector<std::uint32_t> directory_;  ///< [leading bits of a tag]: number of its segment
  int depth_ = 0;                         ///< log2 of the directory's size
};

}  // namespace pyengine
