/// Lower bounds on the number of moves that solve a sliding puzzle.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "exact/astar/puzzle.h"

namespace pyengine::astar {

/// Linear conflicts: tiles in their goal line but in the wrong order. Of the tiles that belong in
/// the line, all except a longest increasing subsequence of goal positions must leave it and
/// return, which takes two moves each beyond the Manhattan distance.
///
/// Source: Hansson, Mayer, Yung 1992.
class LineConflicts {
 public:
  /// `position[tile]`: where in line number `line` the tile belongs; -1 = in another line.
  using Positions = std::array<std::int8_t, PuzzleShape::kMaxCells>;
  LineConflicts() = default;
  LineConflicts(const Positions& position, int length);

  /// Precomputes the answers for all lines with few tiles.
  void tabulate();

  /// Number of extra moves for the tiles of the line, 4 bits each.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return table_.size(); }
  [[nodiscard]] int operator()(Board tiles) const noexcept {
    return table_.empty() ? computed(tiles) : table_[tiles];
  }

 private:
  static constexpr int kTabled = 4;  ///< longest line with a table (64 KiB)

  [[nodiscard]] int computed(Board tiles) const noexcept;

  Positions position_{};
  int length_ = 0;
  std::vector<std::uint8_t> table_;
};

/// The estimate for one goal; consistent for each heuristic.
class PuzzleEstimate {
 public:
  PuzzleEstimate(const PuzzleShape& shape, Board goal, PuzzleHeuristic heuristic);

  /// Speeds the estimate up with at most 512 KiB of tables, which take 10 ms to build.
  void tabulate();
  [[nodiscard]] std::uint64_t bytes() const noexcept;  ///< memory in use
  [[nodiscard]] int operator()(Board board) const noexcept;
  /// The estimate after the tile of `cell` slides into the blank, given the estimate `h` of
  /// `board`. Equal to a full evaluation of the new board, but faster.
  [[nodiscard]] int after(Board board, int cell, int blank, int h) const noexcept;

 private:
  [[nodiscard]] int misplaced(Board board) const noexcept;
  [[nodiscard]] int manhattan(Board board) const noexcept;
  [[nodiscard]] int row_conflicts(Board board, int row) const noexcept;
  [[nodiscard]] int column_conflicts(Board board, int column) const noexcept;
  /// Conflicts in the lines that the tile of `cell` leaves and enters when it slides into the
  /// blank, if it belongs in one of them.
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
