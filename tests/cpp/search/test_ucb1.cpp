/// UCB1 at every node in the ordinary tree search, compared with a serial algorithm on moves.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "search/rules/ucb1.h"
#include "search/tree/order.h"
#include "search_fixtures.h"

namespace pyengine {
namespace {

using search_test::MockEvaluator;
using search_test::Patient;

SearchConfig uct_config(std::uint64_t simulations) {
  SearchConfig config;
  config.algorithm = Algorithm::uct;
  config.simulations = simulations;
  config.threads = 1;
  config.batch_size = 1;
  config.in_flight = 1;
  config.symmetry = SymmetryMode::none;
  config.solver = false;
  return config;
}

/// The evaluation of a position, taken from the result of the shortest search.
class Oracle {
 public:
  explicit Oracle(const std::shared_ptr<const AnyGame>& game)
      : searcher_(game, std::make_shared<MockEvaluator>(), uct_config(1)) {}

  struct Answer {
    std::vector<Edge> moves;  ///< in prior order
    float value = 0.0F;       ///< for the player to move
  };
  Answer ask(const State& state) {
    const SearchResult result = searcher_.search(state, uct_config(1), host_);
    Answer answer{{}, result.network_value};
    for (std::size_t i = 0; i < result.actions.size(); ++i) {
      answer.moves.emplace_back(pack_prior(result.priors[i]),
                                static_cast<ActionId>(result.actions[i]));
    }
    std::sort(answer.moves.begin(), answer.moves.end());
    return answer;
  }

 private:
  Searcher searcher_;
  Patient host_;
};

/// The moves in the order in which a tree tries them; `action` led to their node.
std::vector<Edge> in_order(const std::vector<Edge>& sorted, bool is_root, ActionId action) {
  std::vector<std::uint64_t> words(std::min<std::size_t>(8, sorted.size() / 2));
  if (is_root) words.clear();
  if (!words.empty()) std::memcpy(words.data(), sorted.data(), 8 * words.size());
  const std::uint64_t key = order_key(order_of_tree(0, 0), is_root ? 0 : action, words);
  const int count = static_cast<int>(sorted.size());
  std::vector<Edge> moves;
  for (int place = 0; place < count; ++place) {
    moves.push_back(sorted[static_cast<std::size_t>(place_in_order(place, count, key))]);
  }
  return moves;
}

/// The textbook algorithm: a tree of owned nodes, one simulation after another.
struct Naive {
  std::int64_t sum = 0;  ///< for the player who moved here, units of 2^-24
  double visits = 0.0;
  std::vector<Edge> moves;
  std::vector<std::unique_ptr<Naive>> children;

  /// The index of the move to try: an unvisited one, or the largest W/N + c sqrt(2 ln n / N).
  std::size_t choose() {
    if (children.size() < moves.size()) {
      children.push_back(std::make_unique<Naive>());
      return children.size() - 1;
    }
    double n = 0.0;
    for (const auto& child : children) n += child->visits;
    std::vector<double> scores;
    for (const auto& child : children) {
      const double mean = static_cast<double>(child->sum) * 0x1p-24 / child->visits;
      scores.push_back((0.5 + 0.5 * mean) +
                       std::numbers::sqrt2 / 2 * std::sqrt(2.0 * std::log(n) / child->visits));
    }
    return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) -
                                    scores.begin());
  }

  /// One simulation; returns the value for the first player.
  float simulate(Oracle& oracle, State state, int moved, Action action = kNoAction) {
    float value = 0.0F;
    const int mover = state.position().to_move();
    if (const auto outcome = state.position().outcome()) {
      value = outcome->first;
    } else if (visits == 0.0) {
      Oracle::Answer answer = oracle.ask(state);
      moves = in_order(answer.moves, action == kNoAction, static_cast<ActionId>(action));
      value = mover == 0 ? answer.value : -answer.value;
    } else {
      const std::size_t place = choose();
      const Action chosen = moves[place].action();
      state.apply_action(chosen);
      value = children[place]->simulate(oracle, std::move(state), mover, chosen);
    }
    visits += 1.0;
    sum += to_fixed(moved == 0 ? value : -value);
    return value;
  }
};

/// Visits of the root's moves, in ascending order of the actions.
std::vector<std::uint32_t> naive_visits(const State& start, std::uint64_t simulations) {
  Oracle oracle(start.game());
  Naive root;
  for (std::uint64_t i = 0; i <= simulations; ++i) {  // the root's own evaluation comes first
    root.simulate(oracle, start, 1 - start.position().to_move());
  }
  std::vector<std::pair<int, std::uint32_t>> found;
  for (std::size_t i = 0; i < root.moves.size(); ++i) {
    const double visits = i < root.children.size() ? root.children[i]->visits : 0.0;
    found.emplace_back(root.moves[i].action(), static_cast<std::uint32_t>(visits));
  }
  std::sort(found.begin(), found.end());
  std::vector<std::uint32_t> visits;
  for (const auto& one : found) visits.push_back(one.second);
  return visits;
}

TEST_CASE("UCB1 at every node: the visits match the textbook algorithm") {
  for (const std::string name : {"tic_tac_toe", "connect_four"}) {
    const auto game = load_game(name);
    for (const std::uint64_t simulations : {1U, 5U, 8U, 100U, 3000U, 9000U}) {
      for (const int plies : {0, 4}) {
        CAPTURE(name);
        CAPTURE(simulations);
        CAPTURE(plies);
        const State state = search_test::random_state(game, plies, 3);
        const SearchConfig config = uct_config(simulations);
        Searcher searcher(game, std::make_shared<MockEvaluator>(), config);
        Patient host;
        CHECK(searcher.search(state, config, host).visits == naive_visits(state, simulations));
      }
    }
  }
}

TEST_CASE("UCB1: the score is that of the paper, with results between loss and win") {
  CHECK(ucb1::result_of(1.0) == 1.0);
  CHECK(ucb1::result_of(0.0) == 0.5);
  CHECK(ucb1::result_of(-1.0) == 0.0);
  const std::int64_t draws = 0;
  const double mean = ucb1::mean_of(draws, ucb1::shares_of(4));
  const double c_explore = 1.0 / std::sqrt(2.0) * ucb1::explore_of(std::log(100.0));
  CHECK(mean == 0.5);
  CHECK(ucb1::score(mean, c_explore, ucb1::shares_of(4)) ==
        doctest::Approx(0.5 + std::sqrt(std::log(100.0) / 4.0)));
  CHECK(ucb1::log_score(mean, 1.0 / std::sqrt(2.0), std::log(100.0), std::log(5.0)) ==
        doctest::Approx(0.5 + std::log(20.0) / std::sqrt(2.0)));
  const std::int64_t three_wins = 3 * to_fixed(1.0F);
  CHECK(ucb1::mean_of(three_wins, ucb1::shares_of(3)) == doctest::Approx(1.0));
  CHECK(ucb1::mean_of(three_wins - to_fixed(1.0F), ucb1::shares_of(4)) == 0.75);
}

TEST_CASE("UCB1 finds the only non-losing move") {
  const auto game = load_game("tic_tac_toe");
  State state(game);
  for (const int action : {0, 4, 1}) state.apply_action(action);  // X X . / . O . / . . .
  SearchConfig config = uct_config(2000);
  for (const bool solver : {false, true}) {
    config.solver = solver;
    Searcher searcher(game, std::make_shared<MockEvaluator>(), config);
    Patient host;
    CHECK(searcher.search(state, config, host).action == 2);
  }
}

TEST_CASE("a searcher's rule follows its configuration from search to search") {
  const auto game = load_game("connect_four");
  const State start(game);
  SearchConfig uct = uct_config(300);
  SearchConfig puct = uct;
  puct.algorithm = Algorithm::puct;
  // The order of untried moves differs between searches, so searches with the same number are
  // compared.
  const auto visits = [&](const std::vector<SearchConfig>& configs) {
    Searcher searcher(game, std::make_shared<MockEvaluator>(), uct);
    Patient host;
    std::vector<std::vector<std::uint32_t>> found;
    for (const SearchConfig& config : configs) {
      found.push_back(searcher.search(start, config, host).visits);
    }
    return found;
  };
  const auto changing = visits({uct, puct, uct});
  SearchConfig alone = uct;
  alone.reuse_tree = false;
  const auto staying = visits({alone, alone, alone});
  CHECK(changing[0] == staying[0]);
  CHECK(changing[1] != staying[1]);
  CHECK(changing[2] == staying[2]);  // the other rule's tree is not reused
  CHECK(search_test::total(changing[2]) == 300);
}

TEST_SUITE("concurrent") {
  TEST_CASE("UCB1 with many threads, batches and leaves in flight: every simulation is one visit") {
    const auto game = load_game("connect_four");
    const State start(game);
    for (const bool solver : {false, true}) {
      SearchConfig config = uct_config(2000);
      config.threads = 4;
      config.batch_size = 8;
      config.in_flight = 32;
      config.solver = solver;
      Searcher searcher(game, std::make_shared<MockEvaluator>(), config);
      Patient host;
      CHECK(search_test::total(searcher.search(start, config, host).visits) == 2000);
    }
  }
}

}  // namespace
}  // namespace pyengine
