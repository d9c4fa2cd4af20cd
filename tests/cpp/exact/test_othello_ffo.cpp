/// The endgames of the French federation's test [FFO], scores and best moves as published.
#include <doctest/doctest.h>

#include <cctype>
#include <cstddef>
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
  std::string best_moves;  ///< "A1","H3"
};

/// The text of a field, without quotes or brackets.
std::string field(const std::string& line, const std::string& name) {
  const std::size_t start = line.find("\"" + name + "\":") + name.size() + 3;
  const char first = line[start];
  if (first == '[') return line.substr(start + 1, line.find(']', start) - start - 1);
  if (first == '"') return line.substr(start + 1, line.find('"', start + 1) - start - 1);
  return line.substr(start, line.find_first_of(",}", start) - start);
}

std::vector<Endgame> endgames(int fewest, int most) {
  std::ifstream file(PYENGINE_SOURCE_DIR "/../shared/oracles/04-othello/ffo_endgames.jsonl");
  std::vector<Endgame> found;
  for (std::string line; std::getline(file, line);) {
    Endgame endgame{field(line, "id"), board_of(field(line, "board"), field(line, "to_move")[0]),
                    std::stoi(field(line, "empties")), std::stoi(field(line, "best_score")),
                    field(line, "best_moves")};
    if (endgame.empties >= fewest && endgame.empties <= most) found.push_back(endgame);
  }
  if (found.empty()) MESSAGE("SKIPPED: no oracles/04-othello beside this checkout");
  return found;
}

void check(const Endgame& endgame) {
  CAPTURE(endgame.id);
  REQUIRE(othello::count_empties(endgame.board) == endgame.empties);
  OthelloSearch search;
  CHECK(search.search(endgame.board, -64, 64) == endgame.score);
  if (endgame.empties <= othello::kFewEmpties) return;  // no table: no move
  std::string move = Othello::action_to_string({.board_size = 8}, search.best_point(endgame.board));
  move[0] = static_cast<char>(std::toupper(move[0]));
  CHECK(endgame.best_moves.find('"' + move + '"') != std::string::npos);
}

}  // namespace

TEST_CASE("FFO endgames of Othello with up to 16 empty points have their published scores") {
  for (const Endgame& endgame : endgames(0, 16)) check(endgame);
}

TEST_SUITE("slow") {
  TEST_CASE("FFO endgames of Othello with 17 to 22 empty points have their published scores") {
    for (const Endgame& endgame : endgames(17, 22)) check(endgame);
  }
}
