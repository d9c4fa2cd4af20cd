#include "exact/astar/puzzle_heuristic.h"

#include <algorithm>
#include <cstdlib>

namespace pyengine::astar {

LineConflicts::LineConflicts(const Positions& position, int length)
    : position_(position), length_(length) {}

void LineConflicts::tabulate() {
  if (length_ > kTabled) return;
  std::vector<std::uint8_t> table(std::size_t{1} << (4 * length_));
  for (std::size_t tiles = 0; tiles < table.size(); ++tiles) {
    table[tiles] = static_cast<std::uint8_t>(computed(tiles));
  }
  table_ = std::move(table);
}

int LineConflicts::computed(Board tiles) const noexcept {
  // longest[i]: length of the longest increasing subsequence that ends with the i-th tile.
  std::array<std::int8_t, PuzzleShape::kMaxCells> positions{};
  std::array<std::int8_t, PuzzleShape::kMaxCells> longest{};
  std::size_t count = 0;
  int most = 0;
  for (int i = 0; i < length_; ++i) {
    const int tile = tile_at(tiles, i);
    const std::int8_t position = position_[static_cast<std::size_t>(tile)];
    if (tile == 0 || position < 0) continue;
    std::int8_t length = 1;
    for (std::size_t k = 0; k < count; ++k) {
      if (positions[k] < position) {
        length = std::max(length, static_cast<std::int8_t>(longest[k] + 1));
      }
    }
    positions[count] = position;
    longest[count++] = length;
    most = std::max<int>(most, length);
  }
  return 2 * (static_cast<int>(count) - most);
}

PuzzleEstimate::PuzzleEstimate(const PuzzleShape& shape, Board goal, PuzzleHeuristic heuristic)
    : goal_(goal), heuristic_(heuristic), rows_(shape.rows()), columns_(shape.columns()) {
  for (int cell = 0; cell < shape.cells(); ++cell) {
    const auto at = static_cast<std::size_t>(cell);
    const auto tile = static_cast<std::size_t>(tile_at(goal, cell));
    row_of_[at] = static_cast<std::int8_t>(cell / columns_);
    column_of_[at] = static_cast<std::int8_t>(cell % columns_);
    goal_row_[tile] = row_of_[at];
    goal_column_[tile] = column_of_[at];
  }
  for (std::size_t tile = 1; tile < static_cast<std::size_t>(shape.cells()); ++tile) {
    for (std::size_t cell = 0; cell < static_cast<std::size_t>(shape.cells()); ++cell) {
      distance_[tile][cell] =
          static_cast<std::int8_t>(std::abs(row_of_[cell] - goal_row_[tile]) +
                                   std::abs(column_of_[cell] - goal_column_[tile]));
    }
  }
  if (heuristic != PuzzleHeuristic::linear_conflict) return;
  const auto along = [&](const PerTile& line_of, const PerTile& position_of, int line) {
    LineConflicts::Positions positions{};
    for (std::size_t tile = 0; tile < positions.size(); ++tile) {
      positions[tile] = line_of[tile] == line ? position_of[tile] : std::int8_t{-1};
    }
    return positions;
  };
  for (int row = 0; row < rows_; ++row) {
    rows_conflicts_.emplace_back(along(goal_row_, goal_column_, row), columns_);
  }
  for (int column = 0; column < columns_; ++column) {
    columns_conflicts_.emplace_back(along(goal_column_, goal_row_, column), rows_);
  }
}

void PuzzleEstimate::tabulate() {
  for (LineConflicts& row : rows_conflicts_) row.tabulate();
  for (LineConflicts& column : columns_conflicts_) column.tabulate();
}

std::uint64_t PuzzleEstimate::bytes() const noexcept {
  std::uint64_t sum =
      sizeof(*this) + (rows_conflicts_.size() + columns_conflicts_.size()) * sizeof(LineConflicts);
  for (const LineConflicts& row : rows_conflicts_) sum += row.bytes();
  for (const LineConflicts& column : columns_conflicts_) sum += column.bytes();
  return sum;
}

int PuzzleEstimate::operator()(Board board) const noexcept {
  switch (heuristic_) {
    case PuzzleHeuristic::none:
      return 0;
    case PuzzleHeuristic::misplaced:
      return misplaced(board);
    case PuzzleHeuristic::manhattan:
      return manhattan(board);
    case PuzzleHeuristic::linear_conflict:
      break;
  }
  int moves = manhattan(board);
  for (int row = 0; row < rows_; ++row) moves += row_conflicts(board, row);
  for (int column = 0; column < columns_; ++column) moves += column_conflicts(board, column);
  return moves;
}

int PuzzleEstimate::after(Board board, int cell, int blank, int h) const noexcept {
  const int tile = tile_at(board, cell);
  const PerTile& distance = distance_[static_cast<std::size_t>(tile)];
  const auto from = static_cast<std::size_t>(cell);
  const auto to = static_cast<std::size_t>(blank);
  switch (heuristic_) {
    case PuzzleHeuristic::none:
      return 0;
    case PuzzleHeuristic::misplaced:
      return h + (distance[to] != 0 ? 1 : 0) - (distance[from] != 0 ? 1 : 0);
    case PuzzleHeuristic::manhattan:
      return h + distance[to] - distance[from];
    case PuzzleHeuristic::linear_conflict:
      break;
  }
  return h + distance[to] - distance[from] - conflicts_around(board, tile, cell, blank) +
      conflicts_around(slide(board, cell, blank), tile, cell, blank);
}

int PuzzleEstimate::misplaced(Board board) const noexcept {
  int count = 0;
  for (int cell = 0; cell < rows_ * columns_; ++cell) {
    const int tile = tile_at(board, cell);
    count += tile != 0 && tile != tile_at(goal_, cell) ? 1 : 0;
  }
  return count;
}

int PuzzleEstimate::manhattan(Board board) const noexcept {
  int sum = 0;
  for (int cell = 0; cell < rows_ * columns_; ++cell) {
    sum +=
        distance_[static_cast<std::size_t>(tile_at(board, cell))][static_cast<std::size_t>(cell)];
  }
  return sum;
}

int PuzzleEstimate::row_conflicts(Board board, int row) const noexcept {
  const Board all =
      columns_ == PuzzleShape::kMaxCells ? ~Board{0} : (Board{1} << (4 * columns_)) - 1;
  return rows_conflicts_[static_cast<std::size_t>(row)]((board >> (4 * columns_ * row)) & all);
}

int PuzzleEstimate::column_conflicts(Board board, int column) const noexcept {
  Board tiles = 0;
  for (int row = 0; row < rows_; ++row) {
    tiles |= static_cast<Board>(tile_at(board, row * columns_ + column)) << (4 * row);
  }
  return columns_conflicts_[static_cast<std::size_t>(column)](tiles);
}

int PuzzleEstimate::conflicts_around(Board board, int tile, int cell, int blank) const noexcept {
  const auto from = static_cast<std::size_t>(cell);
  const auto to = static_cast<std::size_t>(blank);
  const auto t = static_cast<std::size_t>(tile);
  if (row_of_[from] == row_of_[to]) {  // other columns: rows keep their order
    const std::int8_t line = goal_column_[t];
    return line == column_of_[from] || line == column_of_[to] ? column_conflicts(board, line) : 0;
  }
  const std::int8_t line = goal_row_[t];
  return line == row_of_[from] || line == row_of_[to] ? row_conflicts(board, line) : 0;
}

}  // namespace pyengine::astar
