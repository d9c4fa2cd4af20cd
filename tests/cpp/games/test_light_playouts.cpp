/// Playouts on a lighter board are games of uniformly random moves: with the same random stream
/// they make the same moves as the game's own board, and with different streams they have the same
/// distribution of outcomes.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "games/any/any_game.h"
#include "games/common/draws.h"
#include "games/connect_four.h"
#include "games/gomoku.h"
#include "games/mnk.h"
#include "games/othello.h"
#include "games/tic_tac_toe.h"

using namespace pyengine;

namespace {

constexpr int kPlayouts = 20'000;

/// Losses, draws and wins of the first player.
using Counts = std::array<int, 3>;

template <class Play>
Counts count(const Play& play) {
  Counts counts{};
  for (int i = 0; i < kPlayouts; ++i) {
    Rng rng(11, static_cast<std::uint64_t>(i));
    ++counts[static_cast<std::size_t>(play(rng).first + 1.0F)];
  }
  return counts;
}

template <class G>
Outcome by_single_moves(G position, Rng& rng) {
  ActionList moves;
  for (;;) {
    if (const auto outcome = position.outcome()) return *outcome;
    position.legal_actions(moves);
    position.play(moves[static_cast<int>(rng.below(static_cast<std::uint32_t>(moves.size())))]);
  }
}

/// A non-terminal position after some random plies.
template <class G>
G after(const G& start, int plies, std::uint64_t seed = 5) {
  G position = start;
  Rng rng(seed);
  ActionList moves;
  for (int i = 0; i < plies; ++i) {
    position.legal_actions(moves);
    G next = position;
    next.play(moves[static_cast<int>(rng.below(static_cast<std::uint32_t>(moves.size())))]);
    if (next.outcome()) break;
    position = next;
  }
  return position;
}

using Order = std::vector<ActionId>;

/// The legal actions in the order in which the light board draws them.
template <class G>
void refresh(const G& position, Order& order) {
  ActionList moves;
  position.legal_actions(moves);
  order.assign(moves.begin(), moves.end());
}

/// The last empty point replaces the one drawn.
template <class G>
  requires std::same_as<G, Mnk> || std::same_as<G, Gomoku>
void refresh(const G& position, Order& order) {
  ActionList moves;
  position.legal_actions(moves);
  if (order.empty()) order.assign(moves.begin(), moves.end());
  for (std::size_t i = 0; i < order.size() && moves.size() < static_cast<int>(order.size()); ++i) {
    if (position.is_legal(order[i])) continue;
    order[i] = order.back();
    order.pop_back();
  }
}

template <class G>
Playout by_the_same_draws(G position, Rng& rng) {
  SmallDraws draws(rng);
  Order order;
  const Action pass = G::shape(position.params()).pass;
  for (int plies = 0;; ++plies) {
    if (const auto outcome = position.outcome()) return {*outcome, plies};
    refresh(position, order);
    const bool passes = pass != kNoAction && order[0] == pass;
    const auto drawn = passes ? 0 : draws.below(static_cast<std::uint32_t>(order.size()));
    REQUIRE(position.is_legal(order[drawn]));
    position.play(order[drawn]);
  }
}

template <class G>
void check_same_moves(const typename G::Params& params) {
  for (std::uint64_t game = 0; game < 200; ++game) {
    const G position = after(G(params), static_cast<int>(game % 20), game);
    Rng light(3, game);
    Rng plain(3, game);
    REQUIRE(position.light_playout(light) == by_the_same_draws(position, plain));
    REQUIRE(light.next() == plain.next());
  }
}

template <class G>
void check_same_outcomes(const typename G::Params& params, int plies) {
  const G position = after(G(params), plies);
  REQUIRE(position.has_light_playout());
  const Counts light = count([&](Rng& rng) { return position.light_playout(rng).outcome; });
  const Counts plain = count([&](Rng& rng) { return by_single_moves(position, rng); });
  for (std::size_t result = 0; result < light.size(); ++result) {
    CAPTURE(plies);
    CAPTURE(result);
    // Five standard deviations of the difference of two counts with the same probability.
    const double chance = (light[result] + plain[result]) / (2.0 * kPlayouts);
    const double deviation = std::sqrt(2.0 * kPlayouts * chance * (1.0 - chance));
    CHECK(std::abs(light[result] - plain[result]) <= 5.0 * deviation);
  }
}

}  // namespace

TEST_CASE("light playouts play the moves that their draws choose from the legal ones") {
  check_same_moves<TicTacToe>({});
  check_same_moves<ConnectFour>({});
  check_same_moves<ConnectFour>({.rows = 7, .columns = 8});
  check_same_moves<Mnk>({.rows = 4, .columns = 6, .k = 4});
  check_same_moves<Mnk>({.rows = 20, .columns = 20, .k = 6});
  check_same_moves<Gomoku>({});
  check_same_moves<Gomoku>({.board_size = 9, .rule = GomokuRule::standard});
  for (const int size : {4, 6, 8}) check_same_moves<Othello>({.board_size = size});
  check_same_moves<OthelloLarge>({.board_size = 10});
}

TEST_CASE("small draws are uniform for all bounds") {
  Rng rng(2);
  SmallDraws draws(rng);
  std::array<std::array<int, 12>, 13> seen{};
  for (int i = 0; i < 20'000; ++i) {
    for (std::uint32_t bound = 1; bound <= 12; ++bound) ++seen[bound][draws.below(bound)];
  }
  for (std::size_t bound = 1; bound <= 12; ++bound) {
    for (std::size_t number = 0; number < 12; ++number) {
      const double chance = number < bound ? 1.0 / static_cast<double>(bound) : 0.0;
      const double deviation = std::sqrt(20'000 * chance * (1.0 - chance));
      CHECK(std::abs(seen[bound][number] - 20'000 * chance) <= 5.0 * deviation);
    }
  }
}

TEST_CASE("light playouts have the same outcomes as move-by-move playouts") {
  for (const int plies : {0, 3}) check_same_outcomes<TicTacToe>({}, plies);
  for (const int plies : {0, 11}) {
    check_same_outcomes<ConnectFour>({}, plies);
    check_same_outcomes<ConnectFour>({.rows = 7, .columns = 8}, plies);
    check_same_outcomes<ConnectFour>({.rows = 3, .columns = 9}, plies);
    check_same_outcomes<Mnk>({.rows = 4, .columns = 6, .k = 4}, plies);
    check_same_outcomes<Mnk>({.rows = 5, .columns = 3, .k = 3}, 2);
    check_same_outcomes<Mnk>({.rows = 3, .columns = 20, .k = 7}, plies);
    check_same_outcomes<Mnk>({.rows = 2, .columns = 2, .k = 1}, 0);
    check_same_outcomes<Gomoku>({.board_size = 8}, plies);
    check_same_outcomes<Gomoku>({.board_size = 8, .rule = GomokuRule::standard, .win_length = 3},
                                plies);
    check_same_outcomes<Othello>({.board_size = 4}, plies % 4);
    check_same_outcomes<Othello>({.board_size = 6}, plies);
    check_same_outcomes<Othello>({.board_size = 8}, plies);
  }
}

TEST_CASE("light playouts: the longest lines and every direction are seen") {
  for (const Mnk::Params params : {Mnk::Params{20, 1, 20}, Mnk::Params{1, 20, 20}}) {
    CHECK(count([&](Rng& rng) { return Mnk(params).light_playout(rng).outcome; })[1] == kPlayouts);
  }
  // With one point left, a playout is that move; each direction wins somewhere.
  std::array<int, 4> wins{};
  for (std::uint64_t game = 0; game < 5'000; ++game) {
    const Mnk position = after(Mnk({.rows = 4, .columns = 4, .k = 4}), 15, game);
    ActionList moves;
    position.legal_actions(moves);
    if (moves.size() != 1) continue;
    Mnk end = position;
    end.play(moves[0]);
    Rng rng(game);
    const Outcome outcome = position.light_playout(rng).outcome;
    REQUIRE(outcome == *end.outcome());
    if (outcome.first == 0.0F) continue;
    BoardBits first;
    BoardBits second;
    end.stones(0, first, second);
    const BoardBits& own = position.to_move() == 0 ? first : second;
    const int row = moves[0] / 4;
    const int column = moves[0] % 4;
    const auto full = [&](int from, int step) {
      for (int i = 0; i < 4; ++i) {
        if (!own.test(from + i * step)) return false;
      }
      return true;
    };
    wins[0] += static_cast<int>(full(4 * row, 1));
    wins[1] += static_cast<int>(full(column, 4));
    wins[2] += static_cast<int>(row == column && full(0, 5));
    wins[3] += static_cast<int>(row + column == 3 && full(3, 3));
  }
  for (const int seen : wins) CHECK(seen > 0);
}

TEST_CASE("light playouts do not change the position and depend only on the stream") {
  const Gomoku position = after(Gomoku(), 40);
  const Gomoku before = position;
  Rng one(3, 4);
  Rng other(3, 4);
  for (int i = 0; i < 50; ++i) {
    CHECK(position.light_playout(one) == position.light_playout(other));
  }
  CHECK(position == before);
  CHECK_FALSE(Gomoku({.rule = GomokuRule::renju}).has_light_playout());
}
