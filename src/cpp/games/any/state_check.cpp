#include "games/any/state_check.h"

#include "base/error.h"

namespace pyengine {

void check_unfinished(const State& state, const AnyGame& game) {
  if (!same_game(*state.game(), game)) {
    throw ConfigError("state: expected a state of " + game.to_string() + ", got one of " +
                      state.game()->to_string());
  }
  if (state.position().outcome()) {
    throw ConfigError("state: expected a non-terminal state");
  }
  state.position().rethrow_if_failed();
}

}  // namespace pyengine
