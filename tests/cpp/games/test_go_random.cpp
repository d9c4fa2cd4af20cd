/// Go compared with a naive reference: random games and whole trees, under every rule set.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "go_boards.h"
#include "naive_go.h"

using namespace pyengine;
using namespace pyengine::go_test;

namespace {

void check_liberties(const NaiveGo& naive, const BoardBits& found, int k, int points) {
  for (int point = 0; point < points; ++point) {
    const bool stone = naive.cells()[static_cast<std::size_t>(point)] != '.';
    const int count = stone ? naive.liberties(point) : 0;
    const bool expected = stone && (k < 0 ? count >= -k : count == k);
    if (found.test(point) != expected) FAIL("liberties of point " << point << ", k = " << k);
  }
}

template <class G>
void check_area(const G& go, const NaiveGo& naive, int points) {
  BoardBits first;
  BoardBits second;
  go.area_points(first, second);
  for (int point = 0; point < points; ++point) {
    const char owner = naive.owner(point);
    if (first.test(point) != (owner == 'X') || second.test(point) != (owner == 'O')) {
      FAIL("area of point " << point);
    }
  }
  REQUIRE(go.area() == GoArea{first.count(), second.count()});
}

/// The visible part of a position without its history. Returns the legal actions.
template <class G>
std::vector<int> compare_positions(const G& go, const NaiveGo& naive) {
  const int points = go.params().rows * go.params().columns;
  ActionList list;
  go.legal_actions(list);
  const std::vector<int> found(list.begin(), list.end());
  REQUIRE(found == naive.legal_actions());
  for (Action a = -1; a <= points + 1; ++a) {
    if (go.is_legal(a) != std::binary_search(found.begin(), found.end(), a)) FAIL("is_legal " << a);
  }
  REQUIRE(joined(rows_of(go)) == naive.cells());
  REQUIRE(go.outcome().has_value() == naive.over());
  check_area(go, naive, points);
  if (go.hash() % 8 == 0) {  // slow
    for (const int k : {1, 2, 3, -2, -4}) {
      BoardBits bits;
      go.liberties(k, bits);
      check_liberties(naive, bits, k, points);
    }
  }
  return found;
}

/// The last eight boards and moves; `boards` has one entry more than `moves`.
template <class G>
void compare_past(const G& go, const std::vector<Rows>& boards, const std::vector<Action>& moves) {
  const Rows nothing(boards[0].size(), std::string(boards[0][0].size(), '.'));
  for (std::size_t t = 0; t < 8; ++t) {
    const bool before_start = t >= boards.size();
    const int plies = static_cast<int>(t);
    REQUIRE(rows_of(go, plies) == (before_start ? nothing : boards[boards.size() - 1 - t]));
    REQUIRE(go.last_move(plies) == (t < moves.size() ? moves[moves.size() - 1 - t] : kNoAction));
  }
}

/// Plays a random game on both boards and compares them at every ply.
template <class G>
void compare_random_game(const GoParams& params, Rng& rng) {
  G go(params);
  NaiveGo naive(params, joined(rows_of(go)), 0);
  std::vector<Rows> boards{rows_of(go)};
  std::vector<Action> moves;
  for (;;) {
    const std::vector<int> list = compare_positions(go, naive);
    compare_past(go, boards, moves);
    if (naive.over()) return;
    const auto draw = [&] { return list[rng.below(static_cast<std::uint32_t>(list.size()))]; };
    Action action = draw();
    if (action == list.back())
      action = draw();  // makes passes rare, or small boards would end too soon
    go.play(action);
    naive.play(action);
    moves.push_back(action);
    boards.push_back(rows_of(go));
  }
}

template <class G>
void compare_random_games(int rows, int columns, int games, int max_length) {
  Rng rng(7, static_cast<std::uint64_t>(rows * 100 + columns));
  for (const Superko superko : {Superko::positional, Superko::situational, Superko::simple}) {
    for (const bool suicide : {false, true}) {
      GoParams params = board(rows, columns, superko, suicide);
      params.max_game_length = max_length;
      for (int game = 0; game < games; ++game) compare_random_game<G>(params, rng);
    }
  }
}

/// Number of sequences from the start, including games that end earlier.
template <class G>
std::uint64_t sequences(const G& go, int depth) {
  if (depth == 0) return 1;
  ActionList moves;
  go.legal_actions(moves);
  std::uint64_t total = 0;
  for (const ActionId move : moves) {
    G next = go;
    next.play(move);
    total += sequences(next, depth - 1);
  }
  return total;
}

std::uint64_t naive_sequences(const NaiveGo& go, int depth) {
  if (depth == 0) return 1;
  std::uint64_t total = 0;
  for (const int move : go.legal_actions()) {
    NaiveGo next = go;
    next.play(move);
    total += naive_sequences(next, depth - 1);
  }
  return total;
}

}  // namespace

TEST_CASE("Go: legal moves, captures, planes, liberties and area match the naive reference") {
  for (int rows = 1; rows <= 3; ++rows) {
    for (int columns = 1; columns <= 5; ++columns) {
      CAPTURE(rows);
      CAPTURE(columns);
      compare_random_games<Go9>(rows, columns, 5, 60);
    }
  }
  compare_random_games<Go9>(4, 4, 4, 120);
  compare_random_games<Go9>(7, 1, 10, 60);
  compare_random_games<Go9>(5, 6, 1, 200);
  compare_random_games<Go9>(9, 9, 1, 160);
  compare_random_games<Go13>(10, 3, 2, 150);
  compare_random_games<Go13>(13, 13, 1, 60);
  compare_random_games<Go19>(2, 19, 1, 150);
  compare_random_games<Go19>(19, 4, 1, 150);
}

TEST_CASE("Go: more than a thousand random games match the naive reference" *
          doctest::test_suite("slow")) {
  for (int rows = 1; rows <= 5; ++rows) {
    for (int columns = 1; columns <= 5; ++columns) {
      compare_random_games<Go9>(rows, columns, 20, 150);
    }
  }
  for (const int side : {6, 7, 8, 9}) compare_random_games<Go9>(side, side, 2, 300);
  compare_random_games<Go13>(13, 13, 1, 350);
}

TEST_CASE("Go: tiny boards have the same tree as the naive reference") {
  const std::vector<std::array<int, 3>> boards{{1, 2, 7}, {2, 2, 6}, {2, 3, 5}, {1, 4, 6}};
  for (const auto& [rows, columns, depth] : boards) {
    for (const Superko superko : {Superko::positional, Superko::situational, Superko::simple}) {
      for (const bool suicide : {false, true}) {
        const auto params = board(rows, columns, superko, suicide);
        const NaiveGo naive(params, std::string(static_cast<std::size_t>(rows * columns), '.'), 0);
        CHECK(sequences(Go9(params), depth) == naive_sequences(naive, depth));
      }
    }
  }
}
