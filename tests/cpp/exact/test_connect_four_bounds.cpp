/// Connect Four's static bounds, compared with plain negamax on boards small enough to solve.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ascii_boards.h"
#include "base/rng.h"
#include "exact/alphabeta/connect_four_bounds.h"
#include "exact/alphabeta/connect_four_position.h"
#include "exact/alphabeta/solver.h"
#include "games/any/registry.h"
#include "games/connect_four.h"

namespace pyengine {
namespace {

/// Exact scores by exhaustive search, counted as Pons does: the stones that the winner has left.
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
      {{.rows = 4, .columns = 4}, 12}, {{.rows = 4, .columns = 4}, 13},
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

using Bounds = alphabeta::ConnectFourBounds<alphabeta::AnyBoard>;
using Position = alphabeta::ConnectFourPosition<alphabeta::AnyBoard>;

/// The input of the bounds for a position; "own" is the player to move.
struct Stones {
  explicit Stones(const ConnectFour& position)
      : board(alphabeta::AnyBoard{position.params().rows, position.params().columns}) {
    BoardBits stones[2];
    position.stones(0, stones[0], stones[1]);
    for (int point = 0; point < board.points(); ++point) {
      const int height = board.rows() - 1 - point / board.columns();
      const std::uint64_t bit = std::uint64_t{1}
          << (board.stride() * (point % board.columns()) + height);
      if (stones[0].test(point) || stones[1].test(point)) all |= bit;
      if (stones[position.to_move()].test(point)) own |= bit;
    }
  }
  /// Points that complete a four of the opponent.
  [[nodiscard]] std::uint64_t threats() const { return board.completing(own ^ all, all); }
  [[nodiscard]] bool wins_at_once() const {
    return (board.completing(own, all) & board.playable(all)) != 0;
  }
  [[nodiscard]] Bounds bounds() const { return {board, own, all, threats()}; }

  alphabeta::ConnectFourBoard<alphabeta::AnyBoard> board;
  std::uint64_t own = 0;
  std::uint64_t all = 0;
};

Position position_of(const ConnectFour& position) {
  return {position, alphabeta::AnyBoard{position.params().rows, position.params().columns}};
}

TEST_CASE("Connect Four scores on boards of any size equal those of plain negamax") {
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
  int answers = 0;
  for_random_positions([&](const ConnectFour& position, const std::vector<Action>&, int score) {
    const Stones stones(position);
    if (stones.wins_at_once()) return;
    const Bounds bounds = stones.bounds();
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

TEST_CASE("if may_answer() is false, no bound answers after any of the moves") {
  int refused = 0;
  for_random_positions([&](const ConnectFour& position, const std::vector<Action>&, int) {
    const Stones before(position);
    if (before.wins_at_once()) return;
    std::uint64_t moves = 0;
    std::uint64_t threats = 0;
    std::vector<Stones> after;
    for (std::uint64_t rest = before.board.playable(before.all); rest != 0; rest &= rest - 1) {
      Stones next = before;
      const std::uint64_t move = rest & (~rest + 1);
      next.own = before.own ^ before.all;
      next.all |= move;
      if (next.wins_at_once()) continue;
      moves |= move;
      threats |= next.threats();
      after.push_back(next);
    }
    const Bounds all(before.board, before.own ^ before.all, before.all, threats);
    const int empties = Plain::empties_of(position) - 1;
    for (int alpha = -empties / 2; alpha < (empties - 1) / 2; ++alpha) {
      if (all.may_answer(empties, alpha, moves)) continue;
      ++refused;
      CAPTURE(alpha);
      for (const Stones& next : after) CHECK(next.bounds().upper(empties, alpha, 99) > alpha);
    }
  });
  CHECK(refused > 100);
}

TEST_CASE("static knowledge is correct, including wins and losses by a second stone") {
  int answers = 0;
  for_random_positions([&](const ConnectFour& position, const std::vector<Action>&, int score) {
    const Position here = position_of(position);
    const auto [low, high] = here.bounds({});
    const auto check = [&](int alpha, int beta) {
      Position::Children children;
      std::uint64_t nodes = 0;
      const auto known = here.known({alpha, beta}, children, nodes);
      if (!known) return;
      ++answers;
      CAPTURE(alpha);
      CAPTURE(beta);
      if (*known > alpha) CHECK(score >= std::min(*known, beta));
      if (*known < beta) CHECK(score <= std::max(*known, alpha));
    };
    const int before = answers;
    check(-1, 1);
    check(low, low + 1);
    check(high - 1, high);
    CHECK(answers >= before + 2);
  });
  CHECK(answers > 1000);
}

/// The order of a move of the first player.
int order_of(std::string_view drawing, Action move) {
  const Position here = position_of(ConnectFour::from_setup({}, test::board(drawing)));
  Position::Children children;
  std::uint64_t nodes = 0;
  here.list({}, children, nodes);
  for (int i = 0; i < children.size(); ++i) {
    if (children.action(i) == move) return children.order(i);
  }
  FAIL("the move is not listed");
  return 0;
}

TEST_CASE("a threat does not count in the move order if the opponent has one below it") {
  constexpr std::string_view kAlone = R"(
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . X X .
    . . . . X O O
    . . . . O X O)";
  constexpr std::string_view kAbove = R"(
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . X X .
    . . . . O O O
    X X . . O X O)";
  CHECK(order_of(kAlone, 6) > order_of(kAlone, 0));
  CHECK(order_of(kAbove, 6) <= order_of(kAbove, 0));
}

}  // namespace
}  // namespace pyengine
