/// Board symmetries as permutations of points and actions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace pyengine {

/// Which symmetries the rules of a game have.
enum class SymmetryGroup : std::uint8_t {
  none,       ///< 1: the identity
  mirror,     ///< 2: columns reversed (Connect Four)
  rectangle,  ///< 4: columns reversed, rows reversed
  square,     ///< 8: those and the transposition
};

struct GameShape;

/// Symmetry k of a board: bit 0 of k reverses the columns, bit 1 the rows, bit 2 transposes
/// (first). A point of the board (an action row * columns + column) moves to point[k][p]; actions
/// beyond the board (pass) stay. Connect Four's actions are columns and move with them.
struct Symmetries {
  std::vector<std::vector<std::uint16_t>> point;   ///< [k][p] = where p goes
  std::vector<std::vector<std::uint16_t>> action;  ///< [k][a] = where a goes
  std::vector<int> inverse;                        ///< [k] = the symmetry that undoes k
  [[nodiscard]] int count() const noexcept { return static_cast<int>(point.size()); }
};

/// The symmetries of a board game whose actions are points (then pass), or columns when
/// num_actions == columns and the board has more than one row.
Symmetries make_symmetries(const GameShape& shape);

}  // namespace pyengine
