#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "eval/evaluate_states.h"
#include "eval/rollout/policy_rollout.h"
#include "games/any/registry.h"
#include "games/any/state.h"
#include "games/go/rollout.h"
#include "go_boards.h"

using namespace pyengine;
using namespace pyengine::go_test;

namespace {

/// Weights that distinguish all patterns and features.
GoRolloutWeights mixed_weights() {
  GoRolloutWeights weights;
  Rng rng(7, 0);
  for (std::size_t i = 0; i < kGoPatterns; ++i) {
    weights.pattern.push_back(static_cast<float>(2.0 * rng.uniform() - 1.0));
    weights.response.push_back(static_cast<float>(2.0 * rng.uniform() - 1.0));
  }
  for (float& weight : weights.features) weight = static_cast<float>(4.0 * rng.uniform() - 2.0);
  return weights;
}

GoRolloutWeights no_weights() {
  GoRolloutWeights weights;
  weights.pattern.assign(kGoPatterns, 0.0F);
  weights.response.assign(kGoPatterns, 0.0F);
  return weights;
}

std::shared_ptr<const AnyGame> go_game(int rows, int columns) {
  return load_game("go",
                   {{"rows", std::int64_t{rows}},
                    {"columns", std::int64_t{columns}},
                    {"superko", std::string("simple")}});
}

GoRolloutMoves moves_of(const GoRolloutPolicy& policy, const std::vector<std::string>& rows,
                        int to_move, const std::vector<const char*>& played = {}) {
  const auto game = go_game(static_cast<int>(rows.size()), static_cast<int>(rows[0].size()));
  State state(game, read_board(*game, rows, to_move));
  for (const char* move : played) state.apply_action(game->string_to_action(move));
  const auto playouts = policy.open(*game);
  playouts->begin(state.position());
  GoRolloutMoves found;
  playouts->moves(found);
  return found;
}

/// The names of a move's features except its distance, joined; "none" for a move that the policy
/// does not play.
std::string features_of(const std::vector<std::string>& rows, int to_move, const char* move,
                        const std::vector<const char*>& played = {}) {
  const auto game = go_game(static_cast<int>(rows.size()), static_cast<int>(rows[0].size()));
  const GoRolloutPolicy policy(no_weights());
  for (const GoRolloutMove& found : moves_of(policy, rows, to_move, played).moves) {
    if (found.point != game->string_to_action(move)) continue;
    std::string names;
    for (std::size_t i = 0; i < kGoRolloutNames.size(); ++i) {
      const bool distance = kGoRolloutNames[i].starts_with("distance");
      if ((found.features >> i & 1U) == 0 || distance) continue;
      names += (names.empty() ? "" : " ") + std::string(kGoRolloutNames[i]);
    }
    return names;
  }
  return "none";
}

}  // namespace

TEST_CASE("Go rollout: incrementally updated strengths equal those computed from scratch") {
  const GoRolloutStrengths weights(mixed_weights());
  int plies = 0;
  const auto play_games = [&]<int side>(std::integral_constant<int, side>, int rows, int columns,
                                        int games) {
    const GoRolloutGrid<side> grid(rows, columns);
    for (int game = 0; game < games; ++game) {
      Rng rng(11, static_cast<std::uint64_t>(game));
      GoParams params = board(rows, columns, Superko::simple);
      BasicGo<side> go(params);
      GoRolloutBoard<side> kept(grid, weights);
      GoRolloutStart begin;
      begin.plies_left = 1000;
      kept.set_up(begin);
      const auto points = static_cast<std::size_t>(rows * columns);
      std::vector<GoRolloutMove> found(points), expected(points);
      std::vector<std::uint64_t> strengths(points), fresh_strengths(points);
      while (!kept.over()) {
        GoRolloutBoard<side> fresh(grid, weights);
        GoRolloutStart start;
        go.stones(0, start.first, start.second);
        start.to_move = go.to_move();
        start.ko = go.ko_point();
        start.last = go.last_move(0) == rows * columns ? kNoAction : go.last_move(0);
        start.plies_left = 1000;
        fresh.set_up(start);
        const int count = kept.moves(found, strengths);
        REQUIRE(count == fresh.moves(expected, fresh_strengths));
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
          REQUIRE(found[i].point == expected[i].point);
          REQUIRE(found[i].pattern == expected[i].pattern);
          REQUIRE(found[i].features == expected[i].features);
          REQUIRE(strengths[i] == fresh_strengths[i]);
          REQUIRE(go.is_legal(found[i].point));
        }
        const Action move = kept.draw(rng);
        REQUIRE((move == kNoAction) == (count == 0));
        go.play(move == kNoAction ? rows * columns : move);
        kept.play(move);
        ++plies;
      }
      const GoArea area = go.area();
      CHECK(kept.margin() == area.first - area.second);
    }
  };
  play_games(std::integral_constant<int, 9>{}, 9, 9, 20);
  play_games(std::integral_constant<int, 9>{}, 2, 7, 20);
  play_games(std::integral_constant<int, 9>{}, 1, 1, 1);
  play_games(std::integral_constant<int, 13>{}, 13, 12, 3);
  play_games(std::integral_constant<int, 19>{}, 19, 19, 2);
  CHECK(plies > 4000);
}

TEST_CASE("Go rollout: a move is drawn with probability proportional to its strength") {
  const GoRolloutStrengths weights(mixed_weights());
  const GoRolloutGrid<9> grid(5, 5);
  GoRolloutBoard<9> board(grid, weights);
  const BoardSetup setup = setup_of({".....",  //
                                     ".XO..",  //
                                     ".XXO.",  //
                                     "..O..",  //
                                     "....."});
  board.set_up({.first = setup.first, .second = setup.second, .last = 13, .plies_left = 50});
  std::vector<GoRolloutMove> moves(25);
  std::vector<std::uint64_t> strengths(25);
  const auto count = static_cast<std::size_t>(board.moves(moves, strengths));
  REQUIRE(count == 19);
  double total = 0.0;
  for (std::size_t i = 0; i < count; ++i) total += static_cast<double>(strengths[i]);
  std::map<Action, int> drawn;
  Rng rng(3, 0);
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) ++drawn[board.draw(rng)];
  double chi_squared = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double expected = kDraws * static_cast<double>(strengths[i]) / total;
    chi_squared += std::pow(drawn[moves[i].point] - expected, 2) / expected;
  }
  CHECK(chi_squared < 34.8);  // 99th percentile with 18 degrees of freedom
}

TEST_CASE("Go rollout: drawing ends and is correct if answers have nearly all of the sums") {
  GoRolloutWeights table = no_weights();
  for (std::size_t i = 6; i < 9; ++i) table.features[i] = -30.0F;  // no move near the last one
  for (std::size_t i = 0; i < kGoPatterns; ++i) {  // high strength next to an opponent's stone
    for (unsigned at = 0; at < 8; ++at) {
      if ((i >> (2 * at) & 3U) == 2) table.pattern[i] = 8.0F;
    }
  }
  const GoRolloutStrengths weights(table);
  const GoRolloutGrid<9> grid(3, 5);
  GoRolloutBoard<9> board(grid, weights);
  // Of the 14 empty points, 10 are near the last move in the middle.
  GoRolloutStart start;
  start.first = setup_of({".....", "..X..", "....."}).first;
  start.to_move = 1;
  start.last = 7;
  start.plies_left = 50;
  board.set_up(start);
  std::map<Action, int> drawn;
  Rng rng(5, 0);
  constexpr int kDraws = 40'000;
  for (int i = 0; i < kDraws; ++i) ++drawn[board.draw(rng)];
  REQUIRE(drawn.size() == 4);
  for (const Action corner : {0, 4, 10, 14}) {
    CHECK(drawn[corner] == doctest::Approx(kDraws / 4.0).epsilon(0.05));
  }
}

TEST_CASE("Go rollout: without weights all moves except eyes and suicide are equal") {
  const GoRolloutPolicy policy(no_weights());
  const auto found = moves_of(policy,
                              {".X.X.",  //
                               "XXXX.",  //
                               "O.OXX",  //
                               "OOO.X",  //
                               ".O.XX"},
                              0);
  // A5 and C5 are eyes of X; at A1 X would have no liberty. This leaves E5, E4, B3, D2 and C1.
  std::vector<Action> points;
  for (const GoRolloutMove& move : found.moves) points.push_back(move.point);
  CHECK(points == std::vector<Action>{4, 9, 11, 18, 22});
  for (const std::uint64_t strength : found.strengths) CHECK(strength == found.strengths[0]);
}

TEST_CASE("Go rollout: tactics of a move") {
  const std::vector<std::string> one = {".....",  //
                                        ".X...",  //
                                        "XOX..",  //
                                        ".....",  //
                                        "....."};
  CHECK(features_of(one, 0, "B2") == "capture_stone");
  CHECK(features_of(one, 1, "B2") == "escape");
  CHECK(features_of(one, 1, "A4") == "atari self_atari_stone");
  CHECK(features_of(one, 0, "E1").empty());
  const std::vector<std::string> chain = {".X...",  //
                                          "XO.X.",  //
                                          "XOX..",  //
                                          ".X...",  //
                                          "....."};
  CHECK(features_of(chain, 0, "C4") == "capture_chain");
  CHECK(features_of(chain, 1, "C4") == "self_atari_chain");  // C5 is left
  CHECK(features_of(chain, 1, "A5") == "none");              // suicide
  CHECK(features_of(chain, 1, "C5") == "atari");
  const std::vector<std::string> edge = {"O.X..",  //
                                         "OX...",  //
                                         "X....",  //
                                         ".....",  //
                                         "....."};
  CHECK(features_of(edge, 1, "B5") == "none");
  CHECK(features_of(edge, 0, "B5") == "capture_chain");
  const std::vector<std::string> corner = {".OX..",  //
                                           ".X...",  //
                                           "..X..",  //
                                           ".....",  //
                                           "....."};
  CHECK(features_of(corner, 1, "A4").empty());
  CHECK(features_of(corner, 1, "A5") == "self_atari_chain");
}

TEST_CASE("Go rollout: features of a move relative to the last one") {
  const std::vector<std::string> rows = {".....",  //
                                         ".X...",  //
                                         ".OX..",  //
                                         ".....",  //
                                         "....."};
  CHECK(features_of(rows, 0, "B2") == "atari");
  CHECK(features_of(rows, 1, "B2").empty());
  const std::vector<std::string> threat = {".....",  //
                                           "XOX..",  //
                                           "OX...",  //
                                           ".....",  //
                                           "....."};
  // O plays C3, which puts B3 in atari. B2 is its last liberty; B5 and A2 capture a neighbour.
  CHECK(features_of(threat, 1, "C3") == "atari");
  CHECK(features_of(threat, 1, "D5").empty());
  CHECK(features_of(threat, 0, "B5", {"E1", "C3"}) == "capture_stone rescue");
  CHECK(features_of(threat, 0, "A2", {"E1", "C3"}) == "capture_stone rescue");
  CHECK(features_of(threat, 0, "B2", {"E1", "C3"}) == "escape extend");
}

TEST_CASE("Go rollout: a point forbidden by ko is not a move") {
  const std::vector<std::string> rows = {".XO..",  //
                                         "XO.O.",  //
                                         ".XO..",  //
                                         ".....",  //
                                         "....."};
  const GoRolloutPolicy policy(no_weights());
  const auto game = go_game(5, 5);
  const Action taken = game->string_to_action("B4");
  const auto has = [&](const std::vector<const char*>& moves, Action point) {
    for (const GoRolloutMove& move : moves_of(policy, rows, 0, moves).moves) {
      if (move.point == point) return true;
    }
    return false;
  };
  CHECK(!has({"C4"}, taken));
  CHECK(has({"C4", "A1", "E1"}, taken));
}

TEST_CASE("Go rollout: capturing the last move's stone is a separate feature") {
  const std::vector<std::string> rows = {".X...",  //
                                         "X.X..",  //
                                         ".....",  //
                                         ".....",  //
                                         "....."};
  CHECK(features_of(rows, 1, "B3", {"B4"}) == "capture_stone retake");
  CHECK(features_of(rows, 1, "B4") == "self_atari_stone");
}

TEST_CASE("Go rollout: tables of the wrong size and non-finite weights are rejected") {
  GoRolloutWeights weights = no_weights();
  weights.pattern.pop_back();
  CHECK_THROWS_WITH_AS(GoRolloutPolicy{weights},
                       "rollout policy: pattern must have 65536 weights, got 65535", ModelError);
  weights = no_weights();
  weights.features[3] = std::nanf("");
  CHECK_THROWS_AS(GoRolloutPolicy{weights}, ModelError);
}

TEST_CASE("policy rollout: the mean result of the policy's games, for the player to move") {
  const auto policy = std::make_shared<GoRolloutPolicy>(mixed_weights());
  const auto game = go_game(5, 5);
  const std::vector<std::string> lost = {"XXXXX",  //
                                         "XXXXX",  //
                                         "X.X.X",  //
                                         "XXXXX",  //
                                         "XXXXX"};
  const State state(game, read_board(*game, lost, 1));
  PolicyRolloutEvaluator evaluator(4, policy);
  const auto bound = evaluator.bind(game, {});
  CHECK(bound->make_batch(8)->bytes > sizeof(GoRolloutBoard<9>));
  std::vector<float> priors(26);
  float value = 0.0F;
  const State* const one[] = {&state};
  evaluate_states(*bound, one, priors, {&value, 1});
  CHECK(value == -1.0F);
  CHECK_THROWS_AS(evaluator.bind(load_game("gomoku"), {}), ModelError);
  CHECK_THROWS_AS(PolicyRolloutEvaluator(0, policy), ConfigError);
}
