/// Board symmetries as permutations of points and actions.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/types.h"

namespace pyengine {

/// The symmetry group of a game's rules.
enum class SymmetryGroup : std::uint8_t {
  none,       ///< 1: the identity
  mirror,     ///< 2: reversed columns (Connect Four)
  rectangle,  ///< 4: reversed columns, reversed rows
  square,     ///< 8: these and transposition
};

struct GameShape;

/// Symmetry k of a board: bit 0 of k reverses the columns, bit 1 the rows, and bit 2 transposes
/// first. Point p (an action row * columns + column) moves to point[k][p]; actions beyond the board
/// (pass) are unchanged. Connect Four's actions are columns and move with them.
struct Symmetries {
  std::vector<std::vector<std::uint16_t>> point;   ///< [k][p] = image of p
  std::vector<std::vector<std::uint16_t>> action;  ///< [k][a] = image of a
  [[nodiscard]] int count() const noexcept { return static_cast<int>(point.size()); }
};

/// A symmetry as two functions.
struct Mapping {
  std::function<int(int)> point;
  std::function<int(int)> action;
};
/// The identity and `others`, which together should be a group.
Symmetries make_symmetries(const GameShape& shape, const std::vector<Mapping>& others);

/// The symmetries of a board game whose actions are points (then pass), or columns if num_actions
/// == columns and the board has more than one row.
Symmetries make_symmetries(const GameShape& shape);

}  // namespace pyengine
