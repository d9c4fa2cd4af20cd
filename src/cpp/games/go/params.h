/// Parameters of Go and the texts of its moves: what all board sizes share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "games/game.h"

namespace pyengine {

/// Which repetitions are forbidden. A pass is never forbidden.
enum class Superko : std::uint8_t {
  positional,   ///< a play may not restore any earlier board
  situational,  ///< nor any earlier board with the same player to move
  simple,       ///< nor retake at once a stone that alone took one stone
};

struct GoParams {
  int rows = 19;      ///< 1..19
  int columns = 19;   ///< 1..19
  double komi = 7.5;  ///< points for the second player, a multiple of 0.5, -1000..1000
  Superko superko = Superko::positional;
  bool suicide = false;       ///< groups of two or more may be given up by one's own move
  int max_game_length = 722;  ///< plies, passes included, 1..10^6; default 2 * rows * columns
  friend bool operator==(const GoParams&, const GoParams&) = default;
};

/// Reads `board_size` (2..19) or `rows` and `columns` (1..19, both or neither), and the rest.
GoParams parse_go_params(ParamMap map);
/// A square board from 2x2 on is told by `board_size`, any other by `rows` and `columns`.
ParamMap describe_go_params(const GoParams& params);
GameShape go_shape(const GoParams& params);

std::string go_action_to_string(const GoParams& params, Action action);
/// Case does not matter; kNoAction when the text is no point of this board.
Action go_string_to_action(const GoParams& params, std::string_view text);
/// Rows from the top with coordinates, X = first player, O = second.
std::string go_board_text(const GoParams& params, const BoardBits& first, const BoardBits& second);

}  // namespace pyengine
