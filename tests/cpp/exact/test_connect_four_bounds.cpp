/// Connect Four's bounds without search, against plain negamax on boards that it can see to the
/// end.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/rng.h"
#include "exact/alphabeta/connect_four_bounds.h"
#include "exact/alphabeta/solver.h"
#include "games/any/registry.h"
#include "games/connect_four.h"

namespace pyengine {
namespace {

/// Scores by looking at everything: the stones that the winner has left, counted as Pons does.
class Plain {
 public:
  int score(const ConnectFour& position) {
    if (const auto seen = scores_.find(position.hash()); seen != scores_.end()) return seen->second;
    ActionList moves;
    position.legal_actions(moves);
    int best = -1000;
    for (const ActionId move : moves) {
      ConnectFour next = position;
      next.play(move);
      const auto outcome = next.outcome();
      const int empties = empties_of(position);
      const int score = !outcome                           ? -this->score(next)
          : outcome->for_player(position.to_move()) > 0.5F ? (empties + 1) / 2
                                                           : 0;
      best = std::max(best, score);
    }
    return scores_[position.hash()] = best;
  }
  static int empties_of(const ConnectFour& position) {
    BoardBits first;
    BoardBits second;
    position.stones(0, first, second);
    return position.params().rows * position.params().columns - first.count() - second.count();
  }

 private:
  std::unordered_map<std::uint64_t, int> scores_;
};

struct Sample {
  ConnectFour::Params params;
  int plies;
};

std::optional<ConnectFour> random_position(const Sample& sample, Rng& rng,
                                           std::vector<Action>& played) {
  ConnectFour position(sample.params);
  played.clear();
  ActionList moves;
  for (int ply = 0; ply < sample.plies; ++ply) {
    position.legal_actions(moves);
    const Action move = moves[static_cast<int>(rng.below(static_cast<unsigned>(moves.size())))];
    position.play(move);
    played.push_back(move);
    if (position.outcome()) return std::nullopt;
  }
  return position;
}

template <class Verb>
void for_random_positions(Verb&& verb) {
  const std::vector<Sample> samples = {
      {{.rows = 4, .columns = 4}, 4},  {{.rows = 4, .columns = 5}, 7},
      {{.rows = 4, .columns = 5}, 8},  {{.rows = 2, .columns = 8}, 3},
      {{.rows = 6, .columns = 4}, 11}, {{.rows = 6, .columns = 4}, 12},
      {{.rows = 5, .columns = 4}, 8},  {{.rows = 6, .columns = 7}, 30},
      {{.rows = 6, .columns = 7}, 31}};
  Rng rng(12);
  for (const Sample& sample : samples) {
    Plain plain;
    for (int i = 0; i < 60; ++i) {
      std::vector<Action> played;
      const auto position = random_position(sample, rng, played);
      if (!position) continue;
      CAPTURE(sample.params.rows);
      CAPTURE(sample.params.columns);
      CAPTURE(played);
      verb(*position, played, plain.score(*position));
    }
  }
}

TEST_CASE("the scores of Connect Four on boards of any size are those of plain negamax") {
  for_random_positions(
      [](const ConnectFour& position, const std::vector<Action>& played, int score) {
        const auto game = load_game("connect_four", ConnectFour::describe(position.params()));
        State state(game);
        for (const Action move : played) state.apply_action(move);
        Solver solver(game, 1U << 20);
        CHECK(solver.solve(state, {.score = true}, [] { return true; }).value == score);
      });
}

TEST_CASE("a bound of Connect Four never contradicts the score") {
  using alphabeta::AnyBoard;
  using alphabeta::ConnectFourBoard;
  int answers = 0;
  for_random_positions([&](const ConnectFour& position, const std::vector<Action>&, int score) {
    const auto [rows, columns] = position.params();
    const ConnectFourBoard<AnyBoard> board(AnyBoard{rows, columns});
    BoardBits first;
    BoardBits second;
    position.stones(0, first, second);
    std::uint64_t own = 0;
    std::uint64_t all = 0;
    for (int point = 0; point < rows * columns; ++point) {
      const int height = rows - 1 - point / columns;
      const std::uint64_t bit = std::uint64_t{1} << (board.stride() * (point % columns) + height);
      if (first.test(point) || second.test(point)) all |= bit;
      if ((position.to_move() == 0 ? first : second).test(point)) own |= bit;
    }
    if ((board.completing(own, all) & board.playable(all)) != 0) return;  // he wins at once
    const alphabeta::ConnectFourBounds<AnyBoard> bounds(board, own, all,
                                                        board.completing(own ^ all, all));
    const int empties = Plain::empties_of(position);
    for (int alpha = -empties / 2; alpha < (empties - 1) / 2; ++alpha) {
      const int upper = bounds.upper(empties, alpha, (empties - 1) / 2);
      CAPTURE(alpha);
      if (upper <= alpha) {
        ++answers;
        CHECK(score <= alpha);
      }
      if (upper != alpha) CHECK(score <= upper);
    }
  });
  CHECK(answers > 100);
}

}  // namespace
}  // namespace pyengine
