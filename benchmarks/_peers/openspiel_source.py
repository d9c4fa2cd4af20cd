"""Source and build of the program that times OpenSpiel's C++ search, as text for the wheel.

OpenSpiel's sources come from its wheel. Only the parts needed to search these games are compiled,
with the flags of OpenSpiel's release build and for this machine's instruction set.
"""

from __future__ import annotations

#: Reads lines "GAME SIMULATIONS RULE". The rule is "puct" with a free evaluator, or "uct" with one
#: random playout per leaf. Answers "simulations visits seconds cpu-seconds", with the simulations
#: of the root and the visits of its children.
HARNESS = r"""
#include <chrono>
#include <ctime>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "open_spiel/algorithms/mcts.h"
#include "open_spiel/spiel.h"

class UniformEvaluator : public open_spiel::algorithms::Evaluator {
 public:
  std::vector<double> Evaluate(const open_spiel::State&) override { return {0.0, 0.0}; }

  open_spiel::ActionsAndProbs Prior(const open_spiel::State& state) override {
    const std::vector<open_spiel::Action> actions = state.LegalActions();
    open_spiel::ActionsAndProbs prior;
    prior.reserve(actions.size());
    for (open_spiel::Action action : actions) prior.emplace_back(action, 1.0 / actions.size());
    return prior;
  }
};

int main() {
  using open_spiel::algorithms::ChildSelectionPolicy;
  std::string name;
  std::string rule;
  int simulations = 0;
  for (int seed = 1; std::cin >> name >> simulations >> rule; ++seed) {
    const bool uct = rule == "uct";
    const auto game = open_spiel::LoadGame(name);
    const auto state = game->NewInitialState();
    const auto begun = std::chrono::steady_clock::now();
    const std::clock_t used = std::clock();
    std::shared_ptr<open_spiel::algorithms::Evaluator> evaluator;
    if (uct) {
      evaluator = std::make_shared<open_spiel::algorithms::RandomRolloutEvaluator>(1, seed);
    } else {
      evaluator = std::make_shared<UniformEvaluator>();
    }
    // UCB1 with c = 1 / sqrt(2) on results of 0 to 1 is 2 sqrt(ln n / N) on those of -1 to 1.
    open_spiel::algorithms::MCTSBot bot(
        *game, evaluator, /*uct_c=*/uct ? 2.0 : 1.25, simulations,
        /*max_memory_mb=*/16000, /*solve=*/false, seed, /*verbose=*/false,
        uct ? ChildSelectionPolicy::UCT : ChildSelectionPolicy::PUCT);
    const auto root = bot.MCTSearch(*state);
    const double cpu = static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun;
    int visits = 0;
    for (const auto& child : root->children) visits += child.explore_count;
    std::cout << root->explore_count << ' ' << visits << ' ' << wall.count() << ' ' << cpu
              << std::endl;
  }
  return 0;
}
"""

CMAKE = r"""
cmake_minimum_required(VERSION 3.21)
project(peers LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG -march=native -w")
set(BUILD_TESTING OFF)
set(ABSL_PROPAGATE_CXX_STD ON)
set(root ${SITE_PACKAGES}/open_spiel)
add_subdirectory(${root}/abseil-cpp abseil EXCLUDE_FROM_ALL)
foreach(game IN ITEMS tic_tac_toe connect_four othello gomoku go)
  file(GLOB found ${root}/games/${game}/${game}.cc ${root}/games/${game}/${game}_board.cc)
  list(APPEND sources ${found})
endforeach()
foreach(name IN ITEMS action_view game_parameters observer policy simultaneous_move_game spiel
        spiel_bots spiel_utils utils/status utils/usage_logging algorithms/mcts)
  list(APPEND sources ${root}/${name}.cc)
endforeach()
add_executable(harness harness.cpp ${sources})
target_include_directories(harness PRIVATE ${SITE_PACKAGES} ${root}/abseil-cpp ${root}/json/include)
target_link_libraries(harness PRIVATE absl::algorithm absl::flat_hash_map absl::optional
  absl::random_random absl::str_format absl::strings absl::time)
"""
