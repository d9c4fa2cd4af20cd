/// All games that the search is compiled for, listed only here.
#pragma once

#include <tuple>

#include "games/any/foreign.h"
#include "games/connect_four.h"
#include "games/go/go.h"
#include "games/gomoku.h"
#include "games/mnk.h"
#include "games/othello.h"
#include "games/tic_tac_toe.h"

namespace pyengine {

/// Types may share a kName; `static bool accepts(const Params&)` then selects the type.
using GameTypes = std::tuple<TicTacToe, Mnk, ConnectFour, Gomoku, Othello, OthelloLarge, Go9, Go13,
                             Go19, ForeignPosition>;

}  // namespace pyengine
