/// The rules: legal moves, making a move, perft.
#include <cstdint>
#include <vector>

#include "games/common/perft.h"
#include "support.h"

namespace pyengine::bench {
namespace {

void legal_actions(benchmark::State& state, const AnyGame& game) {
  const auto position = middle_position(game);
  ActionList moves;
  position->legal_actions(moves);
  int legal = 0;
  for (Action action = 0; action < game.shape().num_actions; ++action) {
    legal += static_cast<int>(position->is_legal(action));
  }
  require(legal == moves.size(), "the list holds the legal actions");
  for (auto _ : state) {
    position->legal_actions(moves);
    benchmark::DoNotOptimize(moves.data());
  }
  set_rate(state);
}

/// As in the search: copy the position, then play the move.
void copy_and_play(benchmark::State& state, const AnyGame& game) {
  const auto position = middle_position(game);
  const auto next = position->clone();
  ActionList moves;
  position->legal_actions(moves);
  for (const ActionId action : moves) {
    next->assign(*position);
    require(next->hash() == position->hash(), "a copy has the hash of its original");
    next->play(action);
    require(next->outcome() || next->last_move(0) == action, "the move played is the last move");
  }
  int place = 0;
  for (auto _ : state) {
    next->assign(*position);
    next->play(moves[place]);
    place = place + 1 == moves.size() ? 0 : place + 1;
    benchmark::DoNotOptimize(next.get());
  }
  set_rate(state);
}

/// A game of uniformly random moves from there.
Playout by_single_moves(const AnyPosition& start, Rng& rng) {
  const auto position = start.clone();
  ActionList moves;
  for (int plies = 0;; ++plies) {
    if (const auto outcome = position->outcome()) return {*outcome, plies};
    position->legal_actions(moves);
    position->play(moves[static_cast<int>(rng.below(static_cast<std::uint32_t>(moves.size())))]);
  }
}

/// Checks that playouts end games with the same results as uniformly random moves, within five
/// standard deviations of a result of 1 or -1. Go's playouts fill no eyes, so only their lengths
/// are known.
void check_playouts(const AnyGame& game, const AnyPosition& start) {
  constexpr int kGames = 400;
  PlayoutSpace space;
  Rng rng(6);
  double sum = 0.0;
  for (int i = 0; i < kGames; ++i) {
    const Playout playout = start.play_out(rng, space);
    require(playout.plies > 0 && playout.plies <= game.shape().max_game_length,
            "a playout has as many plies as a game may have");
    sum += playout.outcome.first;
    if (!game.traits().has_liberties) sum -= by_single_moves(start, rng).outcome.first;
  }
  require(game.traits().has_liberties || sum * sum <= 25.0 * 2.0 * kGames,
          "playouts end like games of uniform moves");
}

/// Plies per second from the initial position.
void play_out(benchmark::State& state, const AnyGame& game) {
  const auto start = game.initial_position();
  check_playouts(game, *start);
  PlayoutSpace space;
  Rng rng(7);
  std::int64_t plies = 0;
  for (auto _ : state) plies += start->play_out(rng, space).plies;
  state.SetItemsProcessed(plies);
}

struct Count {
  Subject subject;
  int depth;
  std::uint64_t leaves;  ///< published, or counted by hand if no move can capture yet
};

constexpr Count kPerft[] = {
    {{"tic_tac_toe", "tic_tac_toe"}, 9, 255168},
    {{"connect_four", "connect_four"}, 7, 823536},
    {{"connect_four", "connect_four"}, 10, 269175990},
    {{"othello", "othello"}, 6, 8200},
    {{"othello", "othello"}, 10, 24571284},
    {{"gomoku15", "gomoku"}, 2, 225 * 224},
    {{"go9", "go(board_size=9)"}, 2, 81 * 81 + 82},
    {{"go19", "go"}, 2, 361 * 361 + 362},
};

void count_leaves(benchmark::State& state, const Count& count) {
  const auto position = game_of(count.subject.game)->initial_position();
  for (auto _ : state) {
    const std::uint64_t found = perft(*position, count.depth);
    require(found == count.leaves,
            "the count is " + std::to_string(count.leaves) + "; it is " + std::to_string(found));
  }
  set_rate(state, static_cast<std::int64_t>(count.leaves));
}

const bool registered = [] {
  for (const Subject& subject : kGames) {
    const std::string start = std::string("games/") + subject.name + "/none/";
    const std::string game = subject.game;
    add(start + "legal_actions", [=](auto& state) { legal_actions(state, *game_of(game)); });
    add(start + "copy_and_play", [=](auto& state) { copy_and_play(state, *game_of(game)); });
    add(start + "play_out", [=](auto& state) { play_out(state, *game_of(game)); });
  }
  for (const Count& count : kPerft) {
    const std::string name =
        std::string("games/") + count.subject.name + "/none/perft=" + std::to_string(count.depth);
    add(name, [=](auto& state) { count_leaves(state, count); });
  }
  return true;
}();

}  // namespace
}  // namespace pyengine::bench
