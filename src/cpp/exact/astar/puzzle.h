/// Sliding puzzles of up to 16 cells: a state in 64 bits.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "exact/astar/answer.h"

namespace pyengine::astar {

/// The tile of cell i is in bits 4i..4i+3, row-major from the top left; 0 is the blank. Bits beyond
/// the last cell are 0.
using Board = std::uint64_t;

[[nodiscard]] constexpr int tile_at(Board board, int cell) noexcept {
  return static_cast<int>((board >> (4 * cell)) & 15U);
}
/// The cell of the blank: the lowest zero nibble.
[[nodiscard]] constexpr int blank_of(Board board) noexcept {
  constexpr Board kOnes = 0x1111111111111111U;
  return std::countr_zero((board - kOnes) & ~board & (kOnes << 3U)) / 4;
}
/// Slides the tile of `cell` into the blank.
[[nodiscard]] constexpr Board slide(Board board, int cell, int blank) noexcept {
  const Board tile = (board >> (4 * cell)) & 15U;
  return board ^ (tile << (4 * cell)) ^ (tile << (4 * blank));
}

/// The shape of a puzzle.
class PuzzleShape {
 public:
  static constexpr int kMaxCells = 16;

  /// Throws ConfigError unless both are at least 1 and there are 2 to 16 cells.
  PuzzleShape(int rows, int columns);

  [[nodiscard]] int rows() const noexcept { return rows_; }
  [[nodiscard]] int columns() const noexcept { return columns_; }
  [[nodiscard]] int cells() const noexcept { return rows_ * columns_; }
  /// Neighbours of a cell: up, left, right, down.
  [[nodiscard]] std::span<const std::uint8_t> beside(int cell) const noexcept {
    const auto at = static_cast<std::size_t>(cell);
    return {beside_[at].data(), count_[at]};
  }
  /// Throws ConfigError that names `what` unless these are the tiles 0..cells-1, each exactly once.
  [[nodiscard]] Board board(std::span<const int> tiles, const char* what) const;
  /// Whether the permutation between the two and the path of the blank have the same parity, which
  /// every move preserves. Also sufficient if both sides are at least 2.
  [[nodiscard]] bool reachable(Board from, Board to) const;

 private:
  int rows_;
  int columns_;
  std::array<std::array<std::uint8_t, 4>, kMaxCells> beside_{};
  std::array<std::uint8_t, kMaxCells> count_{};
};

enum class PuzzleHeuristic : std::uint8_t { none, misplaced, manhattan, linear_conflict };

struct PuzzleAnswer {
  Answer answer;
  std::vector<Board> path;
};

/// Moves cost 1. Goals with the wrong parity are skipped.
PuzzleAnswer search_puzzle(const PuzzleShape& shape, Board start, std::span<const Board> goals,
                           PuzzleHeuristic heuristic, const Query& query, Limits& limits);

}  // namespace pyengine::astar
