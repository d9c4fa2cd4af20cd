/// Boards drawn in tests, and checks that hold for every game.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "games/game.h"

namespace pyengine::test {

/// X = first player's stone, O = second player's, anything else except white space = empty; top row
/// first.
inline BoardSetup board(std::string_view drawing, int to_move = 0) {
  BoardSetup setup;
  setup.to_move = to_move;
  int point = 0;
  for (const char c : drawing) {
    if (c == ' ' || c == '\n') continue;
    if (c == 'X') setup.first.set(point);
    if (c == 'O') setup.second.set(point);
    ++point;
  }
  return setup;
}

inline std::vector<int> points(const BoardBits& bits) {
  std::vector<int> list;
  bits.for_each([&](int point) { list.push_back(point); });
  return list;
}

template <class G>
std::vector<int> legal(const G& position) {
  ActionList moves;
  moves.push_back(7);  // existing elements must be removed
  position.legal_actions(moves);
  return {moves.begin(), moves.end()};
}

/// The names of the legal actions, in their order.
template <class G>
std::string legal_names(const G& position) {
  std::string names;
  for (const int action : legal(position)) {
    if (!names.empty()) names += ' ';
    names += G::action_to_string(position.params(), action);
  }
  return names;
}

template <class G>
Action named(const G& position, std::string_view name) {
  const Action action = G::string_to_action(position.params(), name);
  REQUIRE(action != kNoAction);
  return action;
}

/// Plays actions by name; each must be legal.
template <class G>
void play_named(G& position, const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) {
    CAPTURE(name);
    const Action action = named(position, name);
    REQUIRE(position.is_legal(action));
    position.play(action);
  }
}

/// The message of the ConfigError that a setup raises, or "".
template <class G>
std::string setup_error(const typename G::Params& params, const BoardSetup& setup) {
  try {
    G::from_setup(params, setup);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

/// Number of leaves after `depth` plies; a pass is a ply, and a finished game counts as one leaf.
template <class G>
long long perft(const G& position, int depth) {
  if (depth == 0 || position.outcome()) return 1;
  ActionList moves;
  position.legal_actions(moves);
  long long leaves = 0;
  for (const ActionId action : moves) {
    G next = position;
    next.play(action);
    leaves += perft(next, depth - 1);
  }
  return leaves;
}

/// One board of a game's history.
struct Past {
  BoardBits first;
  BoardBits second;
  Action move = kNoAction;  ///< the move that led to it
};

/// Checks that a position's history matches the boards that were seen.
template <class G>
void check_past(const G& position, const std::vector<Past>& past) {
  for (int t = 0; t < 8; ++t) {
    const int index = static_cast<int>(past.size()) - 1 - t;
    const Past expected = index >= 0 ? past[static_cast<std::size_t>(index)] : Past{};
    BoardBits first;
    BoardBits second;
    first.set(3);
    second.set(300);
    position.stones(t, first, second);
    CHECK(first == expected.first);
    CHECK(second == expected.second);
    CHECK(position.last_move(t) == expected.move);
  }
}

/// Plays random games and checks the promises of the Game concept at every ply.
template <class G>
void check_promises(const typename G::Params& params, int games) {
  const GameShape shape = G::shape(params);
  Rng rng(1);
  for (int game = 0; game < games; ++game) {
    G position(params);
    std::vector<Past> past(1);
    position.stones(0, past[0].first, past[0].second);
    while (!position.outcome()) {
      const std::vector<int> moves = legal(position);
      REQUIRE_FALSE(moves.empty());
      std::vector<int> found;
      for (int action = -1; action <= shape.num_actions; ++action) {
        if (position.is_legal(action)) found.push_back(action);
      }
      REQUIRE(found == moves);
      const int action = moves[rng.below(static_cast<std::uint32_t>(moves.size()))];
      REQUIRE(G::string_to_action(params, G::action_to_string(params, action)) == action);
      const G before = position;
      position.play(action);
      REQUIRE_FALSE(position == before);
      REQUIRE(position.hash() != before.hash());
      past.push_back({{}, {}, action});
      position.stones(0, past.back().first, past.back().second);
      check_past(position, past);
      const BoardSetup setup{past.back().first, past.back().second, position.to_move()};
      const G same = G::from_setup(params, setup);
      REQUIRE(same == position);
      REQUIRE(same.hash() == position.hash());
      REQUIRE(same.outcome() == position.outcome());
      REQUIRE(legal(same) == legal(position));
      check_past(same, {{setup.first, setup.second, kNoAction}});
    }
    CHECK(legal(position).empty());
    CHECK(static_cast<int>(past.size()) - 1 <= shape.max_game_length);
  }
}

}  // namespace pyengine::test
