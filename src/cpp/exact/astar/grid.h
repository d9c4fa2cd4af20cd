/// Grids of free and blocked cells, with 4 or 8 neighbours.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/prefetch.h"
#include "exact/astar/answer.h"
#include "exact/astar/goals.h"

namespace pyengine::astar {

struct Cell {
  std::int32_t row = 0;
  std::int32_t column = 0;
  friend bool operator==(const Cell&, const Cell&) = default;
};

/// Which cells must be free for a diagonal move, besides its destination.
enum class Corners : std::uint8_t {
  keep,  ///< both adjacent cells
  cut,   ///< none
};

/// A border of blocked cells surrounds the grid, so neighbours need no bounds checks:
///
///     # # # # #      a row is one cell longer than the grid's;
///     # . . . .      the border on its left is the end of the row before
///     # . . . .
///     # # # # # #
class GridMap {
 public:
  /// `free`: rows x columns, row-major, from the top left. Throws Stopped at the memory limit and
  /// ConfigError for more than kMaxNodes cells.
  GridMap(std::span<const bool> free, std::int32_t rows, std::int32_t columns, Limits& limits);

  [[nodiscard]] std::uint64_t nodes() const noexcept { return free_.size(); }
  [[nodiscard]] std::int32_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int32_t columns() const noexcept { return columns_; }
  /// Offset from a node to the one below it.
  [[nodiscard]] std::uint32_t stride() const noexcept { return stride_; }
  [[nodiscard]] bool free(NodeId node) const noexcept { return free_[node] != 0; }
  void prefetch(NodeId node) const noexcept { pyengine::prefetch(free_.data() + node); }
  /// The node of a cell.
  [[nodiscard]] NodeId node(Cell cell) const noexcept {
    return static_cast<NodeId>(cell.row + 1) * stride_ + static_cast<NodeId>(cell.column + 1);
  }
  [[nodiscard]] Cell cell(NodeId node) const noexcept {
    const std::uint32_t row = (node - 1) / stride_;
    return {static_cast<std::int32_t>(row) - 1,
            static_cast<std::int32_t>(node - 1 - row * stride_)};
  }
  /// Row-major index of a node's cell.
  [[nodiscard]] std::size_t index(Cell cell) const noexcept {
    return static_cast<std::size_t>(cell.row) * static_cast<std::size_t>(columns_) +
        static_cast<std::size_t>(cell.column);
  }

 private:
  std::int32_t rows_;
  std::int32_t columns_;
  std::uint32_t stride_;
  std::vector<std::uint8_t> free_;  ///< indexed by node
};

/// Lower bounds on the cost across an empty grid; `array` = estimates given by the user.
enum class GridHeuristic : std::uint8_t { none, manhattan, octile, euclidean, array };

struct GridQuery {
  Query query;
  int connectivity = 4;  ///< or 8
  Corners corners = Corners::keep;
  GridHeuristic heuristic = GridHeuristic::manhattan;
  std::span<const double> h;  ///< for `array`: rows x columns
};

/// Nodes and path use the map's numbering. Answer::states are rows x columns.
Answer search_grid(const GridMap& map, const GridQuery& query, NodeId start, const GoalSet& goals,
                   Limits& limits);

}  // namespace pyengine::astar
