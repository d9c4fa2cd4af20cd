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
  const State* root = nullptr;        ///< the position's moves and start, if the caller has them
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

/// See GamePosition: what its key says about the positions before a state. Positions that were set
/// up differ from those reached from the start.
template <Game G>
std::uint64_t past_of(const State& state) {
  using Past = typename GamePosition<G>::Past;
  if (GamePosition<G>::kPast == Past::nothing) return 0;
  const auto position =
      state.start() ? state.game()->from_setup(*state.start()) : state.game()->initial_position();
  std::uint64_t past = state.start() ? mix64(position->hash()) : 0;
  if (GamePosition<G>::kPast == Past::number) return past + state.history().size();
  for (const ActionId action : state.history()) {
    past += mix64(position->hash());
    position->play(action);
  }
  return past;
}

template <Game G>
SolveResult solve_as_played(const Call& call, const G& game) {
  const std::uint64_t past = call.root != nullptr ? past_of<G>(*call.root) : 0;
  return solve_position(call, GamePosition<G>(game, past));
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
