/// The solver's public interface: published values, plain negamax, limits, the line.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "exact/alphabeta/connect_four_position.h"
#include "exact/alphabeta/run.h"
#include "exact/alphabeta/solver.h"
#include "games/any/registry.h"
#include "twice_game.h"

namespace pyengine {
namespace {

constexpr std::uint64_t kTable = 16U << 20;

bool go_on() { return true; }

std::shared_ptr<const AnyGame> game_of(const std::string& text) {
  const NamedParams named = parse_named_params(text);
  return load_game(named.name, named.params);
}

State random_state(const std::shared_ptr<const AnyGame>& game, int plies, Rng& rng) {
  for (;;) {
    State state(game);
    ActionList legal;
    for (int ply = 0; ply < plies && !state.position().outcome(); ++ply) {
      state.position().legal_actions(legal);
      state.apply_action(legal[static_cast<int>(rng.below(static_cast<unsigned>(legal.size())))]);
    }
    if (!state.position().outcome()) return state;
  }
}

/// The outcome for the player to move, by exhaustive search.
double minimax(const AnyPosition& position) {
  ActionList legal;
  position.legal_actions(legal);
  double best = -2.0;
  for (const ActionId action : legal) {
    const auto child = position.clone();
    child->play(action);
    const int player = position.to_move();
    if (const auto outcome = child->outcome()) {
      best = std::max(best, static_cast<double>(outcome->for_player(player)));
    } else {
      best = std::max(best, child->to_move() == player ? minimax(*child) : -minimax(*child));
    }
  }
  return best;
}

/// Plays the line to the end of the game; returns the outcome for the current player to move.
double outcome_of_line(const State& start, const std::vector<Action>& line) {
  State state = start;
  for (const Action action : line) state.apply_action(action);
  REQUIRE(state.position().outcome());
  return state.position().outcome()->for_player(start.position().to_move());
}

TEST_CASE("the solver equals plain minimax, and its line leads to the value") {
  Rng rng(7);
  const std::vector<std::pair<std::string, int>> games = {
      {"tic_tac_toe", 2},
      {"mnk(rows=3,columns=4,k=3)", 5},
      {"connect_four", 33},
      {"connect_four(rows=4,columns=4)", 6},
      {"othello", 53},
      {"othello(board_size=4)", 4},
      {"othello(board_size=6)", 24},
      {"gomoku(board_size=4,win_length=3)", 8},
      {"go(board_size=2,max_game_length=8)", 1},
      {"gomoku(board_size=4,rule=standard,win_length=3)", 8}};
  for (const auto& [name, plies] : games) {
    const auto game = game_of(name);
    Solver solver(game, kTable);
    for (int i = 0; i < 60; ++i) {
      const State state = random_state(game, plies, rng);
      CAPTURE(name);
      CAPTURE(state.serialize());
      const SolveResult found = solver.solve(state, {}, go_on);
      CHECK(found.value == minimax(state.position()));
      CHECK(found.exact);
      REQUIRE(!found.pv.empty());
      CHECK(outcome_of_line(state, found.pv) == found.value);
    }
  }
}

TEST_CASE("the margin has the sign of the value, and the line of a margin leads to it") {
  Rng rng(8);
  for (const auto& [name, plies] :
       std::vector<std::pair<std::string, int>>{{"connect_four", 24}, {"othello", 50}}) {
    const auto game = game_of(name);
    Solver solver(game, kTable);
    for (int i = 0; i < 100; ++i) {
      const State state = random_state(game, plies, rng);
      CAPTURE(state.serialize());
      const double value = solver.solve(state, {}, go_on).value;
      const SolveResult margin = solver.solve(state, {.score = true}, go_on);
      CHECK((margin.value > 0) - (margin.value < 0) == value);
      CHECK(outcome_of_line(state, margin.pv) == value);
    }
  }
}

TEST_CASE("m,n,k games have their published values") {
  std::ifstream file(PYENGINE_SOURCE_DIR "/../shared/oracles/06-tictactoe-mnk/mnk_values.jsonl");
  if (!file) MESSAGE("SKIPPED: no oracles/06-tictactoe-mnk beside this checkout");
  const auto number = [](const std::string& line, const std::string& name) {
    return std::stoi(line.substr(line.find("\"" + name + "\":") + name.size() + 3));
  };
  for (std::string line; std::getline(file, line);) {
    const int rows = number(line, "h");
    const int columns = number(line, "w");
    const auto game =
        game_of("mnk(rows=" + std::to_string(rows) + ",columns=" + std::to_string(columns) +
                ",k=" + std::to_string(number(line, "k")) + ")");
    Solver solver(game, kTable);
    CAPTURE(line);
    CHECK(solver.solve(State(game), {}, go_on).value == number(line, "value_for_first_player"));
  }
}

struct Scored {
  std::string moves;
  int score;
};

std::vector<Scored> pons(const std::string& set, std::size_t most) {
  std::ifstream file(PYENGINE_SOURCE_DIR "/../shared/oracles/05-connect-four/pons_" + set + ".csv");
  if (!file) MESSAGE("SKIPPED: no oracles/05-connect-four beside this checkout");
  std::vector<Scored> found;
  std::string line;
  for (std::getline(file, line); found.size() < most && std::getline(file, line);) {
    std::istringstream fields(line);
    Scored scored;
    std::string score;
    std::getline(fields, scored.moves, ',');
    std::getline(fields, score, ',');
    scored.score = std::stoi(score);
    found.push_back(scored);
  }
  return found;
}

void check_pons(const std::string& set, std::size_t most) {
  const auto game = load_game("connect_four");
  Solver solver(game, 64U << 20);
  for (const Scored& scored : pons(set, most)) {
    State state(game);
    for (const char move : scored.moves) state.apply_action(move - '1');
    CAPTURE(scored.moves);
    const SolveResult found = solver.solve(state, {.score = true}, go_on);
    CHECK(found.value == scored.score);
    CHECK(found.exact);
  }
}

TEST_CASE("Connect Four's positions have their published scores") {
  check_pons("L3_R1", 1000);
  check_pons("L2_R1", 1000);
  check_pons("L2_R2", 40);
  check_pons("L1_R1", 100);
}

TEST_CASE("a limit gives the best move so far, marked as not exact") {
  const auto game = load_game("gomoku");
  Solver solver(game, kTable);
  const State start(game);
  for (const int depth : {1, 2}) {
    const SolveResult found = solver.solve(start, {.depth = depth}, go_on);
    CHECK(!found.exact);
    CHECK(found.depth == depth);
    CHECK(found.value == 0.0);
    REQUIRE(!found.pv.empty());
    CHECK(start.position().is_legal(found.pv.front()));
  }
  const SolveResult found = solver.solve(start, {.seconds = 0.02}, go_on);
  CHECK(!found.exact);
}

TEST_CASE("an exact result has a best move, wherever the search for the line is stopped") {
  using Board = alphabeta::FixedBoard<6, 7>;
  using Position = alphabeta::ConnectFourPosition<Board>;
  ConnectFour game;
  for (const Action move : {5, 5, 3, 1, 6, 5, 2, 1, 0, 0, 5, 1, 1, 3, 2, 4, 6, 6, 3, 2, 1, 2}) {
    game.play(move);
  }
  constexpr Action kOnlyWin = 2;
  const Position root(game, {});
  // How much is searched between two polls depends on the clock, so the number of polls after which
  // the value is known, but not the line, has to be looked for.
  int polls = 0;
  bool whole = false;
  bool stopped = false;
  for (int tries = 0; tries < 1000 && !(whole && stopped); ++tries) {
    alphabeta::Table table(64);  // one bucket
    int left = polls;
    const auto found = alphabeta::Run<Position>(table, {.margin = true, .deepens = true}, [&] {
                         return left-- > 0;
                       }).solve(root);
    polls += 2;
    if (!found.exact) continue;
    REQUIRE(found.score == 1);
    REQUIRE(found.line.front() == kOnlyWin);
    if (left > 0) {
      whole = true;
      polls = std::max(0, polls - 20);
    } else {
      stopped = true;
    }
  }
  CHECK(whole);
  CHECK(stopped);
}

TEST_CASE("a depth that reaches every end is exact") {
  const auto game = load_game("tic_tac_toe");
  Solver solver(game, kTable);
  CHECK(!solver.solve(State(game), {.depth = 3}, go_on).exact);
  CHECK(solver.solve(State(game), {.depth = 9}, go_on).exact);
  CHECK(solver.solve(State(game), {.depth = 3}, go_on).exact);  // the table knows by now
}

TEST_CASE(
    "poll ends the search: with the current result by returning false, with none by throwing") {
  const auto game = load_game("go");
  Solver solver(game, kTable);
  int calls = 0;
  const auto stop = [&] { return ++calls < 3; };
  CHECK(!solver.solve(State(game), {.threads = 2}, stop).exact);
  const auto fail = []() -> bool { throw std::runtime_error("stop"); };
  CHECK_THROWS_AS(solver.solve(State(game), {.threads = 2}, fail), std::runtime_error);
  CHECK(solver.solve(State(game), {.depth = 1}, go_on).depth == 1);  // and it works again
}

TEST_CASE("a search stopped before it knows a move has none") {
  for (const char* name : {"connect_four", "othello", "gomoku", "go"}) {
    const auto game = load_game(name);
    Solver solver(game, kTable);
    const SolveResult found = solver.solve(State(game), {}, [] { return false; });
    CAPTURE(name);
    CHECK(found.pv.empty());
    CHECK(!found.exact);
  }
}

TEST_CASE("at most 50 ms of CPU time pass between two polls, even on large boards") {
#if defined(__SANITIZE_ADDRESS__)
  constexpr double limit = 0.5;  // seconds; the sanitizer slows the code down several times
#else
  constexpr double limit = 0.05;
#endif
  for (const char* name : {"mnk(rows=20,columns=20,k=5)", "gomoku", "go", "othello", "connect_four",
                           "gomoku(rule=standard)"}) {
    const auto game = game_of(name);
    Solver solver(game, kTable);
    std::clock_t last = std::clock();
    std::clock_t longest = 0;
    std::clock_t total = 0;
    static_cast<void>(solver.solve(State(game), {}, [&] {
      const std::clock_t now = std::clock();
      longest = std::max(longest, now - last);
      total += now - last;
      last = now;
      return total < CLOCKS_PER_SEC / 5;
    }));
    CAPTURE(name);
    CHECK(static_cast<double>(longest) / CLOCKS_PER_SEC < limit);
  }
}

TEST_CASE("a user's game in which players move twice has the value of plain minimax") {
  const auto game = search_test::twice_game();
  Solver solver(game, kTable, 100);
  Rng rng(5);
  for (int i = 0; i < 20; ++i) {
    const State state = random_state(game, 5, rng);
    const SolveResult found = solver.solve(state, {}, go_on);
    CHECK(found.value == minimax(state.position()));
    CHECK(found.exact);
    CHECK(outcome_of_line(state, found.pv) == found.value);
  }
}

TEST_CASE("bad input is rejected by name") {
  const auto game = load_game("tic_tac_toe");
  Solver solver(game, kTable);
  const State start(game);
  CHECK_THROWS_WITH_AS(solver.solve(start, {.depth = 0}, go_on),
                       "depth: expected 1 .. 254 or None, got 0", ConfigError);
  CHECK_THROWS_AS(solver.solve(start, {.seconds = 0.0}, go_on), ConfigError);
  CHECK_THROWS_AS(solver.solve(start, {.threads = 0}, go_on), ConfigError);
  CHECK_THROWS_AS(solver.solve(start, {.score = true}, go_on), ConfigError);
  CHECK_THROWS_AS(solver.solve(State(load_game("mnk")), {}, go_on), ConfigError);
  CHECK_THROWS_AS(Solver(game, 63), ConfigError);
  State over(game);
  for (const int action : {0, 3, 1, 4, 2}) over.apply_action(action);
  CHECK_THROWS_AS(solver.solve(over, {}, go_on), ConfigError);
}

TEST_CASE("the smallest table gives the same values as a large one") {
  const auto game = load_game("tic_tac_toe");
  Solver solver(game, 64);
  CHECK(solver.table_bytes() == 64);
  CHECK(solver.solve(State(game), {}, go_on).value == 0.0);
}

TEST_SUITE("concurrent") {
  TEST_CASE("several threads find the same scores") {
    const auto game = load_game("connect_four");
    for (const Scored& scored : pons("L2_R2", 6)) {
      Solver solver(game, 1U << 20);  // small, so threads overwrite each other's entries
      State state(game);
      for (const char move : scored.moves) state.apply_action(move - '1');
      CAPTURE(scored.moves);
      CHECK(solver.solve(state, {.threads = 4, .score = true}, go_on).value == scored.score);
    }
  }

  TEST_CASE("several threads find the same values as one, in every kind of position") {
    Rng rng(11);
    const std::vector<std::pair<std::string, int>> games = {
        {"othello", 49},
        {"othello(board_size=6)", 22},
        {"mnk(rows=4,columns=4,k=3)", 4},
        {"gomoku(board_size=4,win_length=4)", 6},
        {"go(board_size=2,max_game_length=12)", 1},
    };
    for (const auto& [text, plies] : games) {
      const auto game = game_of(text);
      Solver alone(game, kTable);
      for (int i = 0; i < 3; ++i) {
        const State state = random_state(game, plies, rng);
        Solver shared(game, 1U << 14);
        CAPTURE(text);
        CHECK(shared.solve(state, {.threads = 4}, go_on).value ==
              alone.solve(state, {.threads = 1}, go_on).value);
      }
    }
  }
}

TEST_SUITE("slow") {
  TEST_CASE("all of Connect Four's published positions have their published scores") {
    for (const char* set : {"L2_R2", "L1_R1", "L1_R2", "L1_R3"}) check_pons(set, 1000);
  }
  TEST_CASE("the first player wins the empty board of Connect Four with the 41st stone") {
    const auto game = load_game("connect_four");
    Solver solver(game, std::uint64_t{1} << 30);
    CHECK(solver.solve(State(game), {.score = true}, go_on).value == 1);
  }
}

}  // namespace
}  // namespace pyengine
