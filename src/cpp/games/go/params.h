/// Parameters of Go and the notation of its moves, shared by all board sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "games/game.h"

namespace pyengine {

/// The forbidden repetitions. A pass is never forbidden.
enum class Superko : std::uint8_t {
  positional,   ///< a play may not repeat any earlier board
  situational,  ///< a play may not repeat an earlier board with the same player to move
  simple,       ///< a play may only not immediately recapture a single stone that captured a single
                ///< stone
};

struct GoParams {
  int rows = 19;      ///< 1..19
  int columns = 19;   ///< 1..19
  double komi = 7.5;  ///< points for the second player, a multiple of 0.5, -1000..1000
  Superko superko = Superko::positional;
  bool suicide = false;  ///< whether a move may remove the player's own chain of two or more stones
  int max_game_length = 722;  ///< plies, including passes, 1..10^6; default 2 * rows * columns
  friend bool operator==(const GoParams&, const GoParams&) = default;
};

/// Reads `board_size` (2..19), or both `rows` and `columns` (1..19), and the rest.
GoParams parse_go_params(ParamMap map);
/// A square board from 2x2 on is described by `board_size`, any other by `rows` and `columns`.
ParamMap describe_go_params(const GoParams& params);
GameShape go_shape(const GoParams& params);

std::string go_action_to_string(const GoParams& params, Action action);
/// Ignores case; kNoAction if the text is not a point of this board.
Action go_string_to_action(const GoParams& params, std::string_view text);
/// Rows from the top with coordinates, X = first player, O = second.
std::string go_board_text(const GoParams& params, const BoardBits& first, const BoardBits& second);

}  // namespace pyengine
