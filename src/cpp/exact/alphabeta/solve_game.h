/// Solves positions of one game: the alpha-beta search as compiled for a G.
#pragma once

#include <cstdint>
#include <functional>
#include <typeinfo>

#include "exact/alphabeta/game_position.h"
#include "exact/alphabeta/run.h"
#include "exact/alphabeta/solver.h"
#include "games/any/any_game.h"

namespace pyengine::alphabeta {

/// The arguments of a search, except the position.
struct Call {
  Table& table;
  Plan plan;
  std::function<bool()> poll;
  UserMemory* user_memory = nullptr;  ///< for a user's game
  std::uint64_t past = 0;  ///< key of the earlier positions, which superko forbids to repeat
};

template <class P>
SolveResult solve_position(const Call& call, const P& root) {
  Plan plan = call.plan;
  plan.deepens |= P::kDeepens;
  const auto found = Run<P>(call.table, plan, call.poll).solve(root);
  SolveResult result;
  if constexpr (requires { root.value_of(found.score); }) {
    result.value = root.value_of(found.score);
  } else {
    result.value = found.score;
  }
  result.pv = found.line;
  result.exact = found.exact;
  result.depth = found.exact ? static_cast<int>(found.line.size()) : found.depth;
  result.nodes = found.nodes;
  return result;
}

template <Game G>
SolveResult solve_as_played(const Call& call, const G& game) {
  return solve_position(call, GamePosition<G>(game, call.past));
}

/// Solves a position of the type for which it was added.
using SolvePosition = SolveResult (*)(const Call& call, const AnyPosition& position);
/// Adds a type of position to those that Solver knows; false if it is there already.
bool add_solver(const std::type_info& position, SolvePosition solve);

/// A SolvePosition for positions of G, which uses the game's own code.
template <Game G>
SolveResult solve_position_of(const Call& call, const AnyPosition& position) {
  return solve_as_played(call, static_cast<const PositionOf<G>&>(position).value);
}

}  // namespace pyengine::alphabeta
