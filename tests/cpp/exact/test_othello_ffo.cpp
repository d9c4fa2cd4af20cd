/// The FFO endgame test suite with its published scores and best moves.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "games/othello.h"
#include "othello_endgames.h"
#include "othello_search.h"

using namespace pyengine;
using namespace pyengine::test;

namespace {

struct Endgame {
  std::string id;
  othello::Board board;
  int empties;
  int score;
  std::string best_moves;   ///< "A1","H3"
  std::string move_scores;  ///< "A1":4,"H3":4,"B2":-6
};

/// The text of a field, without quotes or brackets.
std::string field(const std::string& line, const std::string& name) {
  const std::size_t start = line.find("\"" + name + "\":") + name.size() + 3;
  const char first = line[start];
  if (first == '[') return line.substr(start + 1, line.find(']', start) - start - 1);
  if (first == '{') return line.substr(start + 1, line.find('}', start) - start - 1);
  if (first == '"') return line.substr(start + 1, line.find('"', start + 1) - start - 1);
  return line.substr(start, line.find_first_of(",}", start) - start);
}

std::vector<Endgame> endgames(int fewest, int most) {
  std::ifstream file(PYENGINE_SOURCE_DIR "/../shared/oracles/04-othello/ffo_endgames.jsonl");
  std::vector<Endgame> found;
  for (std::string line; std::getline(file, line);) {
    Endgame endgame{field(line, "id"),
                    board_of(field(line, "board"), field(line, "to_move")[0]),
                    std::stoi(field(line, "empties")),
                    std::stoi(field(line, "best_score")),
                    field(line, "best_moves"),
                    field(line, "move_scores")};
    if (endgame.empties >= fewest && endgame.empties <= most) found.push_back(endgame);
  }
  if (found.empty()) MESSAGE("SKIPPED: no oracles/04-othello beside this checkout");
  return found;
}

std::string quoted_name(int point) {
  std::string name = Othello::action_to_string({.board_size = 8}, point);
  name[0] = static_cast<char>(std::toupper(name[0]));
  return '"' + name + '"';
}

void check_best(const Endgame& endgame) {
  CAPTURE(endgame.id);
  REQUIRE(othello::count_empties(endgame.board) == endgame.empties);
  OthelloSearch search;
  CHECK(search.search(endgame.board, -64, 64) == endgame.score);
  if (endgame.empties <= othello::kFewEmpties) return;  // without a table there is no move
  const std::string move = quoted_name(search.best_point(endgame.board));
  CHECK(endgame.best_moves.find(move) != std::string::npos);
}

void check_every_move(const Endgame& endgame) {
  CAPTURE(endgame.id);
  OthelloSearch search;
  std::size_t moves = 0;
  for (std::uint64_t rest = moves_of(endgame.board); rest != 0; rest &= rest - 1, ++moves) {
    const std::string name = quoted_name(std::countr_zero(rest));
    CAPTURE(name);
    const std::size_t at = endgame.move_scores.find(name + ":");
    REQUIRE(at != std::string::npos);
    const int published = std::stoi(endgame.move_scores.substr(at + name.size() + 1));
    CHECK(-search.search(played(endgame.board, rest & (0 - rest)), -64, 64) == published);
  }
  CHECK(std::ranges::count(endgame.move_scores, ':') == static_cast<std::ptrdiff_t>(moves));
}

}  // namespace

TEST_CASE("FFO endgames of Othello with up to 16 empty points have their published scores") {
  for (const Endgame& endgame : endgames(0, 16)) {
    check_best(endgame);
    check_every_move(endgame);
  }
}

TEST_SUITE("slow") {
  TEST_CASE("FFO endgames of Othello with 17 to 23 empty points have their published scores") {
    for (const Endgame& endgame : endgames(17, 23)) check_best(endgame);
  }
  TEST_CASE("every move of FFO endgames of Othello with 17 to 20 empty points has its score") {
    for (const Endgame& endgame : endgames(17, 20)) check_every_move(endgame);
  }
}
