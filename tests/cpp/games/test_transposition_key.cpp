/// Keys of positions compared with the games' own equality.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ascii_boards.h"
#include "base/rng.h"
#include "games/connect_four.h"
#include "games/go/go.h"
#include "games/gomoku.h"
#include "games/mnk.h"
#include "games/othello.h"
#include "games/tic_tac_toe.h"

using namespace pyengine;

namespace {

/// Calls `visit(position, ply)` for the positions of random games, the start excluded. Each move is
/// one of the first `choices` legal ones: with few, move orders meet on large boards too.
template <class G, class Visit>
void for_random_positions(const typename G::Params& params, int positions, int choices,
                          const Visit& visit) {
  Rng rng(7);
  ActionList moves;
  while (positions > 0) {
    G position(params);
    for (int ply = 1; !position.outcome() && positions > 0; ++ply, --positions) {
      position.legal_actions(moves);
      const int among = std::min(choices, moves.size());
      position.play(moves[static_cast<int>(rng.below(static_cast<std::uint32_t>(among)))]);
      visit(position, ply);
    }
  }
}

/// Calls `check(a, b)` for positions after equally many plies with equal hash() or equal keys.
/// Returns how often positions with equal keys had different last moves.
template <class G, class Check>
int compare(const typename G::Params& params, int positions, int choices, const Check& check) {
  std::map<std::tuple<int, std::uint64_t>, std::vector<G>> by_hash;
  std::map<std::tuple<int, std::uint64_t, std::uint64_t>, G> by_key;
  int met = 0;
  for_random_positions<G>(params, positions, choices, [&](const G& position, int ply) {
    const PositionKey key = position.transposition_key();
    std::vector<G>& similar = by_hash[{ply, position.hash()}];
    for (const G& other : similar) check(position, other);
    if (similar.size() < 8) similar.push_back(position);
    const auto [at, is_new] = by_key.try_emplace({ply, key.high, key.low}, position);
    if (is_new) return;
    check(position, at->second);
    if (at->second.last_move(0) != position.last_move(0)) ++met;
  });
  return met;
}

template <class G>
int check_exact(const typename G::Params& params, int choices = 3) {
  CAPTURE(to_string(NamedParams{std::string(G::kName), G::describe(params)}));
  return compare<G>(params, 4000, choices, [](const G& a, const G& b) {
    REQUIRE((a == b) == (a.transposition_key() == b.transposition_key()));
  });
}

template <class G>
void check_meeting(const typename G::Params& params, int choices = 3) {
  CHECK(check_exact<G>(params, choices) > 0);
}

/// Checks halves too: then a collision of both is out of reach.
template <class G>
void check_distinct(const typename G::Params& params, int positions) {
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint64_t> high;
  std::vector<std::uint64_t> low;
  for_random_positions<G>(params, positions, 1000, [&](const G& position, int) {
    hashes.push_back(position.hash());
    high.push_back(position.transposition_key().high);
    low.push_back(position.transposition_key().low);
  });
  const auto distinct = [](std::vector<std::uint64_t>& values) {
    std::sort(values.begin(), values.end());
    return std::unique(values.begin(), values.end()) - values.begin();
  };
  CHECK(distinct(high) == distinct(hashes));
  CHECK(distinct(low) == distinct(hashes));
}

GoParams go(int rows, int columns, Superko superko, bool suicide) {
  GoParams params;
  params.rows = rows;
  params.columns = columns;
  params.superko = superko;
  params.suicide = suicide;
  params.max_game_length = 60;
  return params;
}

}  // namespace

TEST_CASE("positions after equally many plies have equal keys if and only if they are equal") {
  check_meeting<TicTacToe>({}, 9);
  check_meeting<ConnectFour>({.rows = 4, .columns = 4});
  check_meeting<ConnectFour>({});
  check_meeting<Mnk>({.rows = 3, .columns = 4, .k = 3}, 12);
  check_meeting<Mnk>({.rows = 8, .columns = 8, .k = 5});
  for (const GomokuRule rule : {GomokuRule::freestyle, GomokuRule::standard, GomokuRule::renju}) {
    check_meeting<Gomoku>({.board_size = 5, .rule = rule});
    check_meeting<Gomoku>({.board_size = 15, .rule = rule});
  }
  for (const int size : {4, 6, 8}) check_meeting<Othello>({.board_size = size}, 4);
  check_meeting<OthelloLarge>({.board_size = 10}, 4);
  for (const bool suicide : {false, true}) {
    check_meeting<Go9>(go(2, 3, Superko::simple, suicide));
    check_meeting<Go13>(go(1, 10, Superko::simple, suicide));
    check_meeting<Go19>(go(1, 14, Superko::simple, suicide));
  }
}

TEST_CASE("with suicide, a key contains every board that superko forbids") {
  for (const Superko superko : {Superko::positional, Superko::situational}) {
    CHECK_FALSE(Go9(go(2, 3, superko, true)).key_forgets_history());
    check_exact<Go9>(go(2, 3, superko, true));
  }
}

TEST_CASE("without suicide, positions of Go with equal keys have the same legal plays") {
  for (const Superko superko : {Superko::positional, Superko::situational}) {
    for (const auto& [rows, columns] : {std::pair{2, 2}, {2, 3}, {3, 3}, {1, 7}}) {
      CAPTURE(rows);
      CAPTURE(columns);
      int forgotten = 0;
      const GoParams params = go(rows, columns, superko, false);
      compare<Go9>(params, 20000, 10, [&](const Go9& a, const Go9& b) {
        if (a.transposition_key() != b.transposition_key()) return;
        if (!(a == b)) ++forgotten;
        REQUIRE(test::legal(a) == test::legal(b));
        REQUIRE(a.to_move() == b.to_move());
        REQUIRE(a.outcome() == b.outcome());
        REQUIRE(a.ko_point() == b.ko_point());
      });
      CHECK(forgotten > 0);
      CHECK(Go9(params).key_forgets_history());
    }
  }
  CHECK_FALSE(Go9(go(2, 2, Superko::simple, false)).key_forgets_history());
}

TEST_CASE("a full Othello board and its negative have different keys") {
  BoardSetup setup;
  for (int point = 0; point < 64; ++point) (point % 3 == 0 ? setup.first : setup.second).set(point);
  BoardSetup negative{.first = setup.second, .second = setup.first, .to_move = 1};
  CHECK(Othello::from_setup({}, setup).transposition_key() !=
        Othello::from_setup({}, negative).transposition_key());
}

TEST_CASE("a million positions have different keys") {
  constexpr int kPositions = 1'000'000;
  check_distinct<Gomoku>({}, kPositions);
  check_distinct<OthelloLarge>({.board_size = 10}, kPositions);
  GoParams params;
  params.rows = params.columns = 9;
  params.superko = Superko::simple;
  check_distinct<Go9>(params, kPositions);
}
