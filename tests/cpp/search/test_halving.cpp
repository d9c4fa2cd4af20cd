/// How a budget is divided among the moves of a root.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "search/rules/halving.h"

namespace pyengine {
namespace {

/// For each simulation, the number of visits a move must have to be chosen.
std::string considered_visits(const std::vector<HalvingPhase>& phases) {
  std::string text;
  for (const HalvingPhase& phase : phases) {
    for (std::uint64_t i = 0; i < phase.end - phase.begin; ++i) {
      text += std::to_string(phase.level + i / phase.considered);
    }
  }
  return text;
}

TEST_CASE("a halving matches mctx's table of considered visits") {
  struct Known {
    int moves;
    const char* visits;  ///< from mctx 0.0.71, get_sequence_of_considered_visits
    std::uint64_t budget;
  };
  for (const Known& known : std::vector<Known>{
           {16, "0000000000000000", 16},
           {16, "00000000000000001111111122223333", 32},
           {16, "000000000000000011111111222233334444556677889910101111", 50},
           {7, "00000001112223344556", 20},
           {5, "00000112233445566778899", 23},
           {3, "00", 2},
           {2, "001122334", 9},
           {1, "0123", 4},
           {9, "0000000001111222233445566778899101011111212131314", 40},
           {4, "000", 3},
       }) {
    CAPTURE(known.moves);
    CAPTURE(known.budget);
    CHECK(considered_visits(halving_phases(known.moves, known.budget)) == known.visits);
  }
}

TEST_CASE("phases follow one another and use up the budget") {
  for (const int moves : {1, 2, 3, 16, 362}) {
    for (const std::uint64_t budget : {1U, 2U, 15U, 16U, 100U, 5000U, 0xFFFFFFFFU}) {
      for (const bool doubling : {false, true}) {
        CAPTURE(moves);
        CAPTURE(budget);
        CAPTURE(doubling);
        const auto phases =
            doubling ? doubling_phases(moves, budget) : halving_phases(moves, budget);
        std::uint64_t end = 0;
        for (const HalvingPhase& phase : phases) {
          CHECK(phase.begin == end);
          CHECK(phase.end > phase.begin);
          CHECK(phase.end - phase.begin <= std::uint64_t{phase.considered} * phase.extra);
          end = phase.end;
        }
        CHECK(end == budget);
        CHECK(phases.size() < 500);
      }
    }
  }
}

TEST_CASE("halvings without a known budget double, and the last one is not short") {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> sizes;
  for (const HalvingPhase& phase : doubling_phases(16, 64 + 128 + 256 + 500)) {
    if (sizes.empty() || sizes.back().first != phase.halving) {
      CHECK(phase.level == 0);
      CHECK(phase.considered == 16);
      sizes.emplace_back(phase.halving, 0);
    }
    sizes.back().second += phase.end - phase.begin;
  }
  CHECK(
      sizes ==
      std::vector<std::pair<std::uint32_t, std::uint64_t>>{{0, 64}, {1, 128}, {2, 256}, {3, 500}});
}

TEST_CASE("the phase of a simulation is the one that contains it") {
  const auto phases = halving_phases(16, 64);
  for (std::uint64_t number = 0; number < 64; ++number) {
    const HalvingPhase& phase = phase_of(phases, number);
    CHECK(phase.begin <= number);
    CHECK(number < phase.end);
  }
  CHECK(phase_of(phases, 1000) == phases.back());
}

}  // namespace
}  // namespace pyengine
