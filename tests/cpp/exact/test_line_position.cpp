/// The solver's k-in-a-row positions, compared with the games' own code.
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "exact/alphabeta/game_position.h"
#include "exact/alphabeta/line_position.h"
#include "exact/alphabeta/run.h"
#include "games/mnk.h"

namespace pyengine::alphabeta {
namespace {

/// A game of random moves until the given number of points is empty; none if it was won before.
std::optional<Mnk> random_game(const LineGame& lines, int empties, Rng& rng) {
  Mnk game({lines.rows, lines.columns, lines.length});
  ActionList legal;
  for (int left = lines.rows * lines.columns; left > empties; --left) {
    legal.clear();
    game.legal_actions(legal);
    game.play(legal[static_cast<int>(rng.below(static_cast<unsigned>(legal.size())))]);
    if (game.outcome()) return std::nullopt;
  }
  return game;
}

template <std::size_t kWords>
LinePosition<kWords> position_of(const LineBoard<kWords>& board, const Mnk& game) {
  BoardBits stones[2];
  game.stones(0, stones[0], stones[1]);
  return {board, board.points_of(stones[game.to_move()]),
          board.points_of(stones[1 - game.to_move()])};
}

template <class P>
auto solved(const P& root) {
  Table table(1U << 20);
  Plan plan;
  plan.deepens = P::kDeepens;
  return Run<P>(table, plan, [] { return true; }).solve(root);
}

template <std::size_t kWords>
int value_with_words(const LineGame& lines, const Mnk& game) {
  const LineBoard<kWords> board(lines);
  return solved(position_of(board, game)).score;
}

/// The same, found by checking every line of the board.
template <std::size_t kWords>
bool completes(const LineGame& lines, const LineBoard<kWords>& board,
               const PointSet<kWords>& stones, Action point) {
  const auto has = [&](int row, int column) {
    if (row < 0 || row >= lines.rows || column < 0 || column >= lines.columns) return false;
    const Action here = row * lines.columns + column;
    return here == point || (stones & PointSet<kWords>::of(board.bit_of(here))).any();
  };
  const int row = point / lines.columns;
  const int column = point % lines.columns;
  for (const auto& [down, right] : {std::pair{0, 1}, {1, 0}, {1, 1}, {1, -1}}) {
    int run = 1;
    for (int i = 1; has(row + i * down, column + i * right); ++i) ++run;
    for (int i = 1; has(row - i * down, column - i * right); ++i) ++run;
    if (run >= lines.length) return true;
  }
  return false;
}

template <std::size_t kWords>
void check_completing(const LineGame& lines, Rng& rng) {
  const LineBoard<kWords> board(lines);
  const int points = lines.rows * lines.columns;
  for (int round = 0; round < 20; ++round) {
    PointSet<kWords> stones;
    for (Action point = 0; point < points; ++point) {
      if (rng.below(2) == 0) stones |= PointSet<kWords>::of(board.bit_of(point));
    }
    const PointSet<kWords> found = board.completing(stones);
    bool line = false;
    for (Action point = 0; point < points; ++point) {
      const PointSet<kWords> bit = PointSet<kWords>::of(board.bit_of(point));
      const bool completing = completes(lines, board, stones, point);
      CHECK((found & bit).any() == completing);
      line = line || (completing && (stones & bit).any());
    }
    CHECK(board.has_line(stones) == line);
  }
}

TEST_CASE("points that complete a line are those found by checking every line") {
  Rng rng(1);
  for (const LineGame& lines : {LineGame{3, 3, 3}, {7, 7, 4}, {1, 19, 3}, {19, 1, 2}, {4, 9, 5}}) {
    check_completing<1>(lines, rng);
    check_completing<4>(lines, rng);
  }
  check_completing<4>({15, 15, 5}, rng);
  check_completing<6>({15, 15, 6}, rng);
  check_completing<6>({19, 19, 5}, rng);
  check_completing<6>({19, 19, 19}, rng);
}

TEST_CASE("k-in-a-row games have the values that the games' own code gives") {
  struct Case {
    LineGame lines;
    int empties;
    int count;
  };
  Rng rng(2);
  for (const auto& [lines, empties, count] : {Case{{3, 3, 3}, 8, 20},
                                              {{3, 4, 3}, 9, 60},
                                              {{4, 4, 3}, 10, 60},
                                              {{4, 4, 4}, 10, 60},
                                              {{5, 4, 4}, 10, 60},
                                              {{5, 5, 4}, 10, 100},
                                              {{2, 9, 4}, 9, 30},
                                              {{1, 12, 3}, 9, 30},
                                              {{7, 7, 5}, 9, 60},
                                              {{3, 3, 1}, 9, 2},
                                              {{2, 2, 5}, 3, 5},
                                              {{4, 4, 2}, 15, 10}}) {
    for (int i = 0; i < count; ++i) {
      const std::optional<Mnk> game = random_game(lines, empties, rng);
      if (!game) continue;
      const int expected = solved(GamePosition<Mnk>(*game, 0)).score;
      CAPTURE(game->to_string());
      CHECK(value_with_words<1>(lines, *game) == expected);
      CHECK(value_with_words<4>(lines, *game) == expected);
      CHECK(value_with_words<6>(lines, *game) == expected);
    }
  }
}

TEST_CASE("large k-in-a-row boards are solved near the end of the game") {
  Rng rng(3);
  int solved_games = 0;
  for (const LineGame& lines : {LineGame{9, 9, 6}, {15, 15, 9}, {19, 19, 9}, {19, 19, 12}}) {
    for (int i = 0; i < 12; ++i) {
      const std::optional<Mnk> game = random_game(lines, 8, rng);
      if (!game) continue;
      ++solved_games;
      const int expected = solved(GamePosition<Mnk>(*game, 0)).score;
      CAPTURE(game->to_string());
      CHECK(value_with_words<6>(lines, *game) == expected);
    }
  }
  CHECK(solved_games > 20);
}

TEST_CASE("all symmetries of a position have the same key, and moves are mapped with them") {
  Rng rng(4);
  for (const LineGame& lines : {LineGame{5, 5, 4}, {4, 6, 4}}) {
    const LineBoard<1> board(lines);
    for (int i = 0; i < 50; ++i) {
      const std::optional<Mnk> game =
          random_game(lines, lines.rows * lines.columns - 1 - i % 8, rng);
      if (!game) continue;
      BoardBits stones[2];
      game->stones(0, stones[0], stones[1]);
      const auto own = board.points_of(stones[game->to_move()]);
      const auto other = board.points_of(stones[1 - game->to_move()]);
      const LinePosition<1> position(board, own, other);
      ActionList legal;
      game->legal_actions(legal);
      for (int t = 0; t < board.turns(); ++t) {
        const LinePosition<1> turned(board, board.turned(own, t), board.turned(other, t));
        CHECK(turned.key() == position.key());
        for (const ActionId action : legal) {
          CHECK(turned.from_key(turned.in_key(action)) == action);
          CHECK(board.turned_back(board.turned(action, t), t) == action);
        }
      }
    }
  }
}

TEST_CASE("a win found within a depth limit is exact") {
  const LineGame lines{15, 15, 5};
  Mnk game({15, 15, 5});
  for (const Action action : {112, 0, 113, 2, 114, 4}) game.play(action);  // three in a row
  const LineBoard<4> board(lines);
  Table table(1U << 20);
  Plan plan;
  plan.deepens = true;
  plan.depth = 3;
  const auto found =
      Run<LinePosition<4>>(table, plan, [] { return true; }).solve(position_of(board, game));
  CHECK(found.score == 1);
  CHECK(found.exact);
  CHECK(found.line.size() == 3);
  Table another(1U << 20);
  const auto slowly =
      Run<GamePosition<Mnk>>(another, plan, [] { return true; }).solve(GamePosition<Mnk>(game, 0));
  CHECK(slowly.score == 1);
  CHECK(slowly.exact);
  CHECK(slowly.line.size() == 3);
}

}  // namespace
}  // namespace pyengine::alphabeta
