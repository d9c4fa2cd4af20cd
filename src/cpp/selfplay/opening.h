/// The position from which a self-play game starts.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "games/any/state.h"

namespace pyengine {

/// Moves from a position that was set up, or from the game's initial one. Unlike a State it holds
/// no object of a user's game.
struct Opening {
  explicit Opening(const State& state) : start(state.start()), moves(state.history()) {}

  [[nodiscard]] State replay(const std::shared_ptr<const AnyGame>& game) const {
    State state(game, start);
    for (const ActionId move : moves) state.apply_action(move);
    return state;
  }

  std::optional<BoardSetup> start;
  std::vector<ActionId> moves;
};

}  // namespace pyengine
