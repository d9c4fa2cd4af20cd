/// Lower bounds of the moves that a sliding puzzle needs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "exact/astar/puzzle.h"

namespace pyengine::astar {

/// Tiles of a line that stand in their goal line, in the wrong order: of the tiles that belong
/// there, all but a longest increasing subsequence of goal positions must leave the line and come
/// back, two moves each beyond the Manhattan distance.
///
/// Source: Hansson, Mayer, Yung 1992.
class LineConflicts {
 public:
  /// `position[tile]`: where along line number `line` the tile belongs; -1 = in another line.
  using Positions = std::array<std::int8_t, PuzzleShape::kMaxCells>;
  LineConflicts() = default;
  LineConflicts(const Positions& position, int length);

  /// Computes the answers for all lines of few tiles in advance.
  void tabulate();

  /// Moves, for the tiles of the line in 4 bits each.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return table_.size(); }
  [[nodiscard]] int operator()(Board tiles) const noexcept {
    return table_.empty() ? computed(tiles) : table_[tiles];
  }

 private:
  static constexpr int kTabled = 4;  ///< tiles of the longest line that has a table (64 KiB)

  [[nodiscard]] int computed(Board tiles) const noexcept;

  Positions position_{};
  int length_ = 0;
  std::vector<std::uint8_t> table_;
};

/// The estimate for one goal. It is consistent, whichever it is.
class PuzzleEstimate {
 public:
  PuzzleEstimate(const PuzzleShape& shape, Board goal, PuzzleHeuristic heuristic);

  /// Makes it faster by up to 512 KiB of tables, which take 10 ms.
  void tabulate();
  [[nodiscard]] std::uint64_t bytes() const noexcept;  ///< of memory
  [[nodiscard]] int operator()(Board board) const noexcept;
  /// What the estimate of `board` becomes when the tile of `cell` slides into the blank; `h` is
  /// that of `board`. Equal to the whole estimate of the new board, and faster.
  [[nodiscard]] int after(Board board, int cell, int blank, int h) const noexcept;

 private:
  [[nodiscard]] int misplaced(Board board) const noexcept;
  [[nodiscard]] int manhattan(Board board) const noexcept;
  [[nodiscard]] int row_conflicts(Board board, int row) const noexcept;
  [[nodiscard]] int column_conflicts(Board board, int column) const noexcept;
  /// Of the lines that the tile of `cell` leaves and enters as it slides into the blank, where it
  /// belongs into one of them.
  [[nodiscard]] int conflicts_around(Board board, int tile, int cell, int blank) const noexcept;

  using PerTile = std::array<std::int8_t, PuzzleShape::kMaxCells>;

  Board goal_;
  PuzzleHeuristic heuristic_;
  int rows_;
  int columns_;
  PerTile row_of_{};     ///< [cell]
  PerTile column_of_{};  ///< [cell]
  PerTile goal_row_{};
  PerTile goal_column_{};
  std::array<PerTile, PuzzleShape::kMaxCells> distance_{};  ///< [tile][cell]
  std::vector<LineConflicts> rows_conflicts_;
  std::vector<LineConflicts> columns_conflicts_;
};

}  // namespace pyengine::astar
