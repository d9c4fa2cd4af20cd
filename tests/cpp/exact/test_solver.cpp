/// The solver through its public face, against outside authorities and plain negamax.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "exact/alphabeta/solver.h"
#include "games/any/registry.h"

namespace pyengine {
namespace {

constexpr std::uint64_t kTable = 64U << 20;

bool go_on() { return true; }

TEST_CASE("tic-tac-toe is a draw, and mnk(3,3,3) with it") {
  for (const char* name : {"tic_tac_toe", "mnk"}) {
    const auto game = load_game(name);
    Solver solver(game, kTable);
    const SolveResult found = solver.solve(State(game), {}, go_on);
    CHECK(found.value == 0.0);
    CHECK(found.exact);
    CHECK(found.pv.size() == 9);
  }
}

}  // namespace
}  // namespace pyengine
