/// What the micro benchmarks share. A benchmark is named layer/game/evaluator/knob, isolates one
/// cost, and checks its answer before it is timed: a wrong one is reported instead of a rate.
#pragma once

#include <benchmark/benchmark.h>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/rng.h"
#include "games/any/any_game.h"
#include "games/any/registry.h"

namespace pyengine::bench {

struct Subject {
  const char* name;
  const char* game;  ///< as load_game() of Python reads it
};

inline constexpr Subject kGames[] = {
    {"tic_tac_toe", "tic_tac_toe"},
    {"connect_four", "connect_four"},
    {"othello", "othello"},
    {"gomoku15", "gomoku"},
    {"gomoku15_renju", "gomoku(rule=\"renju\")"},
    {"go9", "go(board_size=9)"},
    {"go19", "go"},
};

inline std::shared_ptr<const AnyGame> game_of(std::string_view text) {
  const NamedParams named = parse_named_params(text);
  return load_game(named.name, named.params);
}

/// A position `plies` into a random game, shorter where the game would be over.
inline std::unique_ptr<AnyPosition> position_after(const AnyGame& game, int plies,
                                                   std::uint64_t seed = 1) {
  auto position = game.initial_position();
  Rng rng(seed);
  ActionList moves;
  for (int i = 0; i < plies; ++i) {
    position->legal_actions(moves);
    auto next = position->clone();
    next->play(moves[static_cast<int>(rng.below(static_cast<std::uint32_t>(moves.size())))]);
    if (next->outcome()) break;
    position = std::move(next);
  }
  return position;
}

/// A third of the board is full, as in most positions of a search.
inline std::unique_ptr<AnyPosition> middle_position(const AnyGame& game) {
  return position_after(game, game.shape().rows * game.shape().columns / 3);
}

/// Throws for the benchmark that finds its answer wrong.
struct WrongAnswer : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void require(bool holds, const std::string& claim) {
  if (!holds) throw WrongAnswer("wrong answer: it is not true that " + claim);
}

using Body = std::function<void(benchmark::State&)>;

/// Registers a benchmark; what `body` throws is reported in the place of its rate.
inline void add(const std::string& name, Body body) {
  benchmark::RegisterBenchmark(name.c_str(), [body = std::move(body)](benchmark::State& state) {
    try {
      body(state);
    } catch (const std::exception& error) {
      state.SkipWithError(error.what());
    }
  });
}

/// `items` a second, of `each` an iteration.
inline void set_rate(benchmark::State& state, std::int64_t each = 1) {
  state.SetItemsProcessed(state.iterations() * each);
}

}  // namespace pyengine::bench
