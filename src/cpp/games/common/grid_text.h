/// ASCII names of points and boards.
#pragma once

#include <string>
#include <string_view>

#include "base/types.h"
#include "games/common/status.h"

namespace pyengine {

/// How points are named: a letter for the column (including I), then the row.
struct GridNames {
  int rows = 0;
  int columns = 0;
  bool upper_case = false;        ///< "D4" or "d4"
  bool rows_from_bottom = false;  ///< whether row 1 is at the bottom
};

std::string point_name(const GridNames& names, Action point);
/// The point of that name in either case, or kNoAction.
Action point_named(const GridNames& names, std::string_view text);

/// A number from 1 to `high` without sign or leading zeros, or 0.
int small_number(std::string_view text, int high);
/// Whether two texts are equal but for upper and lower case (ASCII).
bool same_word(std::string_view a, std::string_view b);

/// X for the first player's stones, O for the second's, coordinates above and at the left.
std::string board_text(const GridNames& names, const BoardBits& first, const BoardBits& second);
/// The same with numbered columns below and no names of rows: for games whose actions are columns.
std::string column_board_text(int rows, int columns, const BoardBits& first,
                              const BoardBits& second);
/// "X to move", "O has won", "draw", with a line break.
std::string turn_text(Status status, int to_move);

}  // namespace pyengine
