/// The board of Go's playouts follows the rules of the game's own board.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <memory>

#include "base/rng.h"
#include "games/go/go.h"

using namespace pyengine;

namespace {

GoParams params_of(int rows, int columns, Superko superko, bool suicide) {
  return {rows, columns, 7.5, superko, suicide, 3 * rows * columns};
}

template <int MaxSide>
int margin_of(const BasicGo<MaxSide>& go) {
  const GoArea area = go.area();
  return area.first - area.second;
}

/// Whether the move may be part of a playout.
template <int MaxSide>
bool is_candidate(GoPlayoutBoard<MaxSide>& board, Action point) {
  return board.is_legal(point) && !board.fills_eye(point);
}

/// Compares every empty point; returns how many were illegal.
template <int MaxSide>
int check_same_rules(const BasicGo<MaxSide>& go, GoPlayoutBoard<MaxSide>& board) {
  BoardBits first;
  BoardBits second;
  go.stones(0, first, second);
  int illegal = 0;
  const int points = go.outcome() ? 0 : go.params().rows * go.params().columns;
  for (Action point = 0; point < points; ++point) {
    if (first.test(point) || second.test(point)) continue;
    const bool legal = board.is_legal(point);
    REQUIRE(legal == go.is_legal(point));
    illegal += static_cast<int>(!legal);
  }
  REQUIRE(board.margin() == margin_of(go));
  REQUIRE(board.over() == go.outcome().has_value());
  return illegal;
}

/// One game on both boards, from a position `from` plies into it; uniform over the legal moves
/// including eyes, so boards repeat and groups commit suicide. Returns the number of illegal points
/// seen.
template <int MaxSide>
int play_on_both(const GoParams& params, std::uint64_t seed, int from) {
  BasicGo<MaxSide> go(params);
  Rng rng(8, seed);
  ActionList moves;
  const auto play = [&](auto&& also) {
    go.legal_actions(moves);
    // One pass in 50, so that games do not end too soon.
    const int count = moves.size() > 1 && rng.below(50) != 0 ? moves.size() - 1 : moves.size();
    const Action move = moves[static_cast<int>(rng.below(static_cast<std::uint32_t>(count)))];
    go.play(move);
    also(move);
  };
  for (int ply = 0; ply < from && !go.outcome(); ++ply) play([](Action) {});
  // A board refers to its initial position.
  const BasicGo<MaxSide> start = go;
  GoPlayoutBoard<MaxSide> board = start.playout_board();
  int illegal = check_same_rules(go, board);
  while (!go.outcome()) {
    play([&](Action move) { board.play(move); });
    illegal += check_same_rules(go, board);
  }
  return illegal;
}

}  // namespace

TEST_CASE("Go playouts: the same random games have the same legal moves and scores") {
  for (const Superko superko : {Superko::positional, Superko::situational, Superko::simple}) {
    for (const bool suicide : {false, true}) {
      int illegal = 0;
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const int from = static_cast<int>(seed % 5) * 12;
        illegal += play_on_both<9>(params_of(4, 5, superko, suicide), seed, from);
        illegal += play_on_both<9>(params_of(1, 7, superko, suicide), seed, from / 6);
        illegal += play_on_both<9>(params_of(9, 9, superko, suicide), seed, 2 * from);
      }
      CHECK(illegal > 1000);
      play_on_both<13>(params_of(11, 10, superko, suicide), 1, 60);
      play_on_both<13>(params_of(13, 13, superko, suicide), 2, 200);
      play_on_both<19>(params_of(19, 19, superko, suicide), 3, 300);
      play_on_both<19>(params_of(2, 17, superko, suicide), 4, 9);
    }
  }
}

TEST_CASE("Go playouts: the moves match those of move-by-move playouts") {
  for (const Superko superko : {Superko::positional, Superko::simple}) {
    Rng rng(4);
    ActionList scratch;
    for (int game = 0; game < 3; ++game) {
      Go9 go(params_of(9, 9, superko, true));
      for (int ply = 0; !go.outcome(); ++ply) {
        if (ply % 16 == 0) {
          GoPlayoutBoard<9> board = go.playout_board();
          BoardBits possible;
          bool passes = true;
          for (Action point = 0; point < 81; ++point) {
            if (!go.is_legal(point) || !is_candidate(board, point)) continue;
            possible.set(point);
            passes = false;
          }
          BoardBits drawn;
          for (int i = 0; i < 2000; ++i) {
            const Action move = go.playout_move(rng, scratch);
            REQUIRE((move == 81 ? passes : possible.test(move)));
            if (move != 81) drawn.set(move);
          }
          REQUIRE(drawn == possible);
        }
        go.play(go.playout_move(rng, scratch));
      }
    }
  }
}

TEST_CASE("Go playouts: outcomes and lengths match those of move-by-move playouts") {
  constexpr int kPlayouts = 4000;
  for (const Superko superko : {Superko::positional, Superko::simple}) {
    const Go9 start(params_of(7, 7, superko, false));
    ActionList scratch;
    double light_wins = 0;
    double plain_wins = 0;
    double light_plies = 0;
    double plain_plies = 0;
    for (int i = 0; i < kPlayouts; ++i) {
      Rng rng(12, static_cast<std::uint64_t>(i));
      const Playout playout = start.light_playout(rng);
      light_wins += static_cast<double>(playout.outcome.first > 0);
      light_plies += playout.plies;
      Go9 go = start;
      while (!go.outcome()) {
        go.play(go.playout_move(rng, scratch));
        ++plain_plies;
      }
      plain_wins += static_cast<double>(go.outcome()->first > 0);
    }
    // Five standard deviations: for a probability near 1/2, and for lengths that vary by less than
    // 20.
    CHECK(std::abs(light_wins - plain_wins) < 5.0 * std::sqrt(0.5 * kPlayouts));
    CHECK(std::abs(light_plies - plain_plies) < 5.0 * 20.0 * std::sqrt(2.0 * kPlayouts));
  }
}

TEST_CASE("Go playouts: the smallest games are played, and games too long for the board are not") {
  CHECK(Go9(params_of(3, 3, Superko::positional, false)).has_light_playout());
  CHECK_FALSE(Go9(GoParams{9, 9, 7.5, Superko::positional, false, 1000}).has_light_playout());
  CHECK(Go9(GoParams{9, 9, 7.5, Superko::simple, false, 1000}).has_light_playout());
  Rng rng(5);
  // The only point would be suicide.
  const Playout passes = Go9(params_of(1, 1, Superko::positional, false)).light_playout(rng);
  CHECK(passes == Playout{{-1.0F}, 2});
  // A game of one ply is its first move, on the whole board.
  const Playout one = Go9(GoParams{3, 3, 7.5, Superko::positional, false, 1}).light_playout(rng);
  CHECK(one == Playout{{1.0F}, 1});
}
