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
/// The point with that name in either case, or kNoAction.
Action point_named(const GridNames& names, std::string_view text);

/// A number from 1 to `high` without sign or leading zeros, or 0 if the text is not one.
int small_number(std::string_view text, int high);
/// Compares two texts, ignoring ASCII case.
bool same_word(std::string_view a, std::string_view b);

/// X for the first player's stones, O for the second's, with coordinates above and on the left.
std::string board_text(const GridNames& names, const BoardBits& first, const BoardBits& second);
/// The same with numbered columns below and no row names, for games whose actions are columns.
std::string column_board_text(int rows, int columns, const BoardBits& first,
                              const BoardBits& second);
/// "X to move", "O has won" or "draw", with a line break.
std::string turn_text(Status status, int to_move);

}  // namespace pyengine
