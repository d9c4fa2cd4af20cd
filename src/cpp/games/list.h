/// All games that the search is compiled for, listed only here.
#pragma once

#include <tuple>
#include <type_traits>
#include <typeinfo>

#include "base/type_table.h"
#include "games/any/any_game.h"
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

/// A table by the type of a position, with `function_of.operator()<G>()` for each game of the list.
template <class F>
TypeTable<F> table_by_position(auto function_of) {
  const auto fill = [&]<class... G>(std::type_identity<std::tuple<G...>>) {
    return TypeTable<F>({{typeid(PositionOf<G>), function_of.template operator()<G>()}...});
  };
  return fill(std::type_identity<GameTypes>{});
}

}  // namespace pyengine
