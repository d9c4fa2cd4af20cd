/// Concurrent games: every game is played to its end once and recorded correctly.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

#include "eval/simple.h"
#include "search_fixtures.h"
#include "selfplay/self_play.h"
#include "twice_game.h"

namespace pyengine {
namespace {

using search_test::Mock;
using search_test::MockEvaluator;
using search_test::Patient;
using search_test::StoppingHost;

SelfPlayConfig small_config(int threads = 1) {
  SelfPlayConfig config;
  config.search.simulations = 24;
  config.search.threads = threads;
  config.search.dirichlet_fraction = 0.25;
  config.search.temperature = 1.0;
  config.search.memory_limit = 64U << 20;
  config.concurrent_games = 7;
  config.temperature_moves = 4;
  config.resign_threshold.reset();
  return config;
}

/// Replays a game and checks its moves, its result and its columns.
void check_game(const std::shared_ptr<const AnyGame>& game, const FinishedGame& record,
                const SelfPlayConfig& config) {
  State state(game);
  std::size_t row = 0;
  const auto actions = static_cast<std::size_t>(game->shape().num_actions);
  for (std::size_t ply = 0; ply < record.moves.size(); ++ply) {
    if (row < record.positions && record.ply[row] == ply) {
      CHECK(record.action[row] == record.moves[ply]);
      CHECK(record.to_move[row] == state.position().to_move());
      const auto visits = std::span(record.visits).subspan(row * actions, actions);
      ActionList legal;
      state.position().legal_actions(legal);
      const std::set<int> may(legal.begin(), legal.end());
      std::uint64_t total = 0;
      for (std::size_t action = 0; action < actions; ++action) {
        total += visits[action];
        if (may.count(static_cast<int>(action)) == 0) CHECK(visits[action] == 0);
      }
      if (!config.search.solver) {
        const auto least =
            record.full[row] != 0 ? *config.search.simulations : config.fast_simulations;
        CHECK(total >= least);
      }
      CHECK(std::abs(record.root_value[row]) <= 1.0F);
      ++row;
    }
    state.apply_action(record.moves[ply]);
  }
  CHECK(row == record.positions);
  const auto outcome = state.position().outcome();
  CHECK(outcome.has_value() == (record.resigned < 0));
  if (outcome) CHECK(record.returns[0] == outcome->for_player(0));
  CHECK(record.returns[0] == -record.returns[1]);
  CHECK(record.bits.size() == record.positions * 2 * (actions == 9U ? 2U : 6U));
}

void check_all(const std::string& name, const Mock& mock, const SelfPlayConfig& config,
               std::uint64_t games) {
  const auto game = load_game(name);
  SelfPlay play(game, std::make_shared<MockEvaluator>(mock), config, ModelSpec{});
  Patient host;
  CHECK(play.run(games, host) == RunEnd::completed);
  const auto games_played = play.take_finished();
  CHECK(games_played.size() == games);
  std::set<std::uint64_t> numbers;
  for (const FinishedGame& one : games_played) {
    numbers.insert(one.number);
    check_game(game, one, config);
  }
  CHECK(numbers.size() == games);
  CHECK(*numbers.rbegin() == games - 1);
  const SelfPlayCounters counters = play.counters();
  CHECK(counters.finished == games);
  CHECK(counters.begun == games);
}

TEST_CASE("self-play: the requested number of games is played and recorded to the end") {
  SelfPlayConfig config = small_config();
  check_all("tic_tac_toe", {}, config, 23);
  check_all("connect_four", {}, config, 9);
  config.search.solver = false;
  check_all("connect_four", {}, config, 9);
  config.search.reuse_tree = false;
  check_all("connect_four", {}, config, 3);
}

TEST_CASE("self-play: cached positions of a user's game outlive the last search of a run") {
  ModelSpec spec;
  spec.planes = {"observation"};
  SelfPlay play(search_test::twice_game(), std::make_shared<UniformEvaluator>(), small_config(),
                spec);
  Patient host;
  CHECK(play.run(9, host) == RunEnd::completed);
  CHECK(play.take_finished().size() == 9);
}

TEST_CASE("self-play: a run may have fewer games than concurrent_games") {
  check_all("tic_tac_toe", {}, small_config(), 2);
}

TEST_CASE("self-play: fast searches of a playout cap are marked in the record") {
  SelfPlayConfig config = small_config();
  config.search.solver = false;
  config.search.reuse_tree = false;
  config.full_search_fraction = 0.4;
  config.fast_simulations = 5;
  const auto game = load_game("connect_four");
  SelfPlay play(game, std::make_shared<MockEvaluator>(), config, ModelSpec{});
  Patient host;
  play.run(20, host);
  std::size_t full = 0;
  std::size_t all = 0;
  for (const FinishedGame& one : play.take_finished()) {
    check_game(game, one, config);
    for (std::size_t row = 0; row < one.positions; ++row) {
      const auto visits = std::span(one.visits).subspan(row * 7, 7);
      const auto total = std::accumulate(visits.begin(), visits.end(), 0);
      CHECK(total == (one.full[row] != 0 ? 24 : 5));
    }
    full += static_cast<std::size_t>(std::count(one.full.begin(), one.full.end(), 1));
    all += one.positions;
  }
  CHECK(full > all / 4);
  CHECK(full < all * 11 / 20);
}

/// The most visits of a full search and of a fast one.
std::pair<int, int> most_visits(const SelfPlayConfig& config) {
  SelfPlay play(load_game("connect_four"), std::make_shared<MockEvaluator>(), config, ModelSpec{});
  Patient host;
  play.run(20, host);
  std::pair<int, int> most{0, 0};
  for (const FinishedGame& one : play.take_finished()) {
    for (std::size_t row = 0; row < one.positions; ++row) {
      const auto visits = std::span(one.visits).subspan(row * 7, 7);
      int& visits_of_kind = one.full[row] != 0 ? most.first : most.second;
      visits_of_kind = std::max(visits_of_kind, std::accumulate(visits.begin(), visits.end(), 0));
    }
  }
  return most;
}

TEST_CASE("self-play: clear_before_full clears the tree before a full search") {
  SelfPlayConfig config = small_config();
  config.search.solver = false;
  config.full_search_fraction = 0.4;
  config.fast_simulations = 5;
  CHECK(most_visits(config).first > 24);
  config.clear_before_full = true;
  const auto [full, fast] = most_visits(config);
  CHECK(full == 24);
  CHECK(fast > 5);  // fast searches reuse the tree
}

TEST_CASE("self-play: policy surprise uses the priors without noise") {
  SelfPlayConfig config = small_config();
  config.search.dirichlet_fraction = 1.0;
  config.search.root_policy_temperature = 2.0;
  config.full_search_fraction = 0.7;
  const auto game = load_game("tic_tac_toe");
  SelfPlay play(game, std::make_shared<UniformEvaluator>(), config, ModelSpec{});
  Patient host;
  play.run(20, host);
  int without = 0;
  for (const FinishedGame& one : play.take_finished()) {
    for (std::size_t row = 0; row < one.positions; ++row) {
      const auto visits = std::span(one.visits).subspan(row * 9, 9);
      const double total = std::accumulate(visits.begin(), visits.end(), 0.0);
      double expected = 0.0;
      for (const double n : visits) {
        if (n > 0) expected += n / total * std::log(n / total * (9 - one.ply[row]));
      }
      if (one.taught[row] == 0) ++without;
      if (one.taught[row] == 0) expected = 0.0;
      CHECK(one.surprise[row] == doctest::Approx(expected).epsilon(0.001));
    }
  }
  CHECK(without > 0);
}

TEST_CASE("self-play: fast searches use the unmodified root priors") {
  SelfPlayConfig config = small_config();
  config.search.root_policy_temperature = 1.25;
  const SelfPlayContext context(load_game("tic_tac_toe"), config, ModelSpec{});
  CHECK(context.search(true, true).root_policy_temperature == 1.25);
  CHECK(context.search(false, true).root_policy_temperature == 1.0);
  CHECK(context.search(false, true).dirichlet_fraction == 0.0);
}

TEST_CASE("self-play: lost positions have no policy target, drawn ones the drawing moves") {
  SelfPlayConfig config = small_config();
  config.search.simulations = 400;
  config.minimum_target_visits = 400;
  config.opening_random_moves = 6;
  SelfPlay play(load_game("tic_tac_toe"), std::make_shared<MockEvaluator>(), config, ModelSpec{});
  Patient host;
  play.run(60, host);
  std::size_t lost = 0;
  std::size_t drawn = 0;
  for (const FinishedGame& one : play.take_finished()) {
    for (std::size_t row = 0; row < one.positions; ++row) {
      CHECK(one.full[row] == 1);
      const auto visits = std::span(one.visits).subspan(row * 9, 9);
      CHECK(visits[one.action[row]] > 0);
      CHECK(one.taught[row] == (one.root_value[row] == -1.0F ? 0 : 1));
      lost += one.taught[row] == 0 ? 1 : 0;
      if (one.root_value[row] != 0.0F) continue;
      CHECK(*std::max_element(visits.begin(), visits.end()) == 1);
      ++drawn;
    }
  }
  CHECK(lost > 0);
  CHECK(drawn > 0);
}

TEST_CASE("self-play: a full search that compares too little has no policy target") {
  SelfPlayConfig config = small_config();
  config.full_search_fraction = 0.5;
  config.fast_simulations = 24;
  const auto games = [&](std::uint64_t least) {
    config.minimum_target_visits = least;
    SelfPlay play(load_game("connect_four"), std::make_shared<MockEvaluator>(), config,
                  ModelSpec{});
    Patient host;
    play.run(60, host);
    return play.take_finished();
  };
  const std::vector<FinishedGame> all = games(0);
  const std::vector<FinishedGame> enough = games(16);
  REQUIRE(all.size() == enough.size());
  std::size_t untaught = 0;
  for (std::size_t game = 0; game < all.size(); ++game) {
    REQUIRE(all[game].moves == enough[game].moves);
    for (std::size_t row = 0; row < all[game].positions; ++row) {
      if (all[game].root_value[row] == 0.0F) continue;  // targets of proven draws differ
      const auto visits_of = [&](const FinishedGame& one) {
        const auto visits = std::span(one.visits).subspan(row * 7, 7);
        return std::vector<std::uint16_t>(visits.begin(), visits.end());
      };
      CHECK(visits_of(all[game]) == visits_of(enough[game]));
      if (all[game].taught[row] == enough[game].taught[row]) continue;
      CHECK(all[game].taught[row] == 1);
      CHECK(enough[game].root_value[row] > -1.0F);
      ++untaught;
    }
  }
  CHECK(untaught > 0);
}

TEST_CASE("self-play: forced playouts visit likely moves more often, but not in targets") {
  const auto game = load_game("othello");
  SelfPlayConfig config = small_config();
  config.search.simulations = 200;
  config.search.solver = false;
  const auto mean_visits = [&](double k) {
    config.forced_playouts = k;
    SelfPlay play(game, std::make_shared<MockEvaluator>(), config, ModelSpec{});
    Patient host;
    play.run(2, host);
    std::uint64_t total = 0;
    std::size_t rows = 0;
    for (const FinishedGame& one : play.take_finished()) {
      total = std::accumulate(one.visits.begin(), one.visits.end(), total);
      rows += one.positions;
    }
    return static_cast<double>(total) / static_cast<double>(rows);
  };
  const double all = mean_visits(0.0);
  CHECK(mean_visits(2.0) < all);
}

TEST_CASE("self-play: with forced playouts every sampled move is in the target") {
  SelfPlayConfig config = small_config();
  config.search.simulations = 100;
  config.search.solver = false;
  config.temperature_moves = 100;
  config.forced_playouts = 2.0;
  SelfPlay play(load_game("othello"), std::make_shared<MockEvaluator>(), config, ModelSpec{});
  Patient host;
  play.run(4, host);
  for (const FinishedGame& one : play.take_finished()) {
    const std::size_t actions = one.visits.size() / one.positions;
    for (std::size_t row = 0; row < one.positions; ++row) {
      CHECK(one.visits[row * actions + one.action[row]] > 0);
    }
  }
}

TEST_CASE("self-play: a game that reaches max_plies is a draw, and the run continues") {
  SelfPlayConfig config = small_config();
  config.max_plies = 10;
  config.resign_off_fraction = 1.0;
  config.resign_threshold = -0.1;
  const auto game = load_game("connect_four");
  SelfPlay play(game, std::make_shared<MockEvaluator>(), config, ModelSpec{});
  Patient host;
  CHECK(play.run(20, host) == RunEnd::completed);
  std::size_t cut = 0;
  for (const FinishedGame& one : play.take_finished()) {
    CHECK(one.moves.size() <= 10);
    CHECK(one.moves.size() == one.positions);
    State state(game);
    for (const ActionId move : one.moves) state.apply_action(move);
    CHECK(one.cut_short == !state.position().outcome());
    if (!one.cut_short) continue;
    CHECK(one.moves.size() == 10);
    CHECK(one.returns == std::array{0.0F, 0.0F});
    ++cut;
  }
  CHECK(cut > 5);
  const SelfPlayCounters counters = play.counters();
  CHECK(counters.cut_short == cut);
  CHECK(counters.resignation.games == 20 - cut);
  config.opening_random_moves = 10;
  CHECK_THROWS_WITH_AS(validate(config), doctest::Contains("opening_random_moves"), ConfigError);
}

TEST_CASE("self-play: random openings are played but not recorded") {
  SelfPlayConfig config = small_config();
  config.opening_random_moves = 5;
  const auto game = load_game("connect_four");
  SelfPlay play(game, std::make_shared<MockEvaluator>(), config, ModelSpec{});
  Patient host;
  play.run(30, host);
  std::set<int> openings;
  for (const FinishedGame& one : play.take_finished()) {
    check_game(game, one, config);
    openings.insert(static_cast<int>(one.moves.size() - one.positions));
  }
  CHECK(*openings.begin() == 0);
  CHECK(*openings.rbegin() == 5);
}

TEST_CASE("self-play: a side below the threshold resigns, unless resignation is off") {
  SelfPlayConfig config = small_config();
  config.search.solver = false;
  config.resign_threshold = -0.1;  // reached soon, since the values of the mock are random
  config.resign_off_fraction = 0.5;
  config.resign_false_positives = 1.0;  // keeps the threshold fixed
  const auto game = load_game("connect_four");
  SelfPlay play(game, std::make_shared<MockEvaluator>(), config, ModelSpec{});
  Patient host;
  play.run(40, host);
  std::size_t resigned = 0;
  std::size_t played_on = 0;
  for (const FinishedGame& one : play.take_finished()) {
    check_game(game, one, config);
    if (one.resignation_off) {
      CHECK(one.resigned == -1);
      ++played_on;
    }
    if (one.resigned < 0) continue;
    ++resigned;
    CHECK(one.returns[static_cast<std::size_t>(one.resigned)] == -1.0F);
  }
  CHECK(resigned > 5);
  CHECK(played_on > 8);
  CHECK(play.counters().resigned == resigned);
  CHECK(play.counters().resignation.games == played_on);
}

TEST_CASE("resignation: the threshold falls until false resignations are rare enough") {
  Resignation resignation(-0.5, 0.05);
  for (int i = 0; i < 19; ++i) resignation.add(-0.9);
  CHECK(resignation.threshold() == -0.5);  // too few games to adjust it
  resignation.add(-0.9);
  CHECK(*resignation.threshold() == doctest::Approx(-0.9));
  CHECK(resignation.measured().in_vain == 0);
  for (int i = 0; i < 180; ++i) resignation.add(0.2);
  for (int i = 0; i < 200; ++i) resignation.add(0.9);  // 20 of 400 below: 5 %
  CHECK(resignation.threshold() == -0.5);
  CHECK(resignation.measured().games == 400);
  CHECK(resignation.measured().in_vain == 20);
  resignation.add(-0.8);
  CHECK(*resignation.threshold() == doctest::Approx(-0.8));
}

TEST_CASE("self-play: earlier games set the initial threshold") {
  SelfPlayConfig config = small_config();
  config.resign_threshold = -0.5;
  config.resign_off_fraction = 1.0;
  config.resign_false_positives = 0.05;
  const auto game = load_game("connect_four");
  const auto evaluator = std::make_shared<MockEvaluator>();
  SelfPlay first(game, evaluator, config, ModelSpec{});
  Patient host;
  first.run(30, host);
  std::vector<double> played_on;
  for (const FinishedGame& one : first.take_finished()) played_on.push_back(one.lowest.value());
  SelfPlay second(game, evaluator, config, ModelSpec{}, played_on);
  CHECK(second.counters().resignation.games == 30);
  CHECK(second.counters().resign_threshold == first.counters().resign_threshold);
}

TEST_CASE("resignation: without a threshold nobody resigns") {
  Resignation resignation({}, 0.05);
  for (int i = 0; i < 100; ++i) resignation.add(-1.0);
  CHECK(!resignation.threshold().has_value());
}

TEST_CASE("self-play: a ply beyond 16 bits is refused") {
  FinishedGame game;
  SearchedPosition position;
  position.action = 0;
  position.ply = 65'535;
  game.add(PackedShape{}, PlaneStack{}, position, 1);
  CHECK(game.ply == std::vector<std::uint16_t>{65'535});
  position.ply = 65'536;
  CHECK_THROWS_AS(game.add(PackedShape{}, PlaneStack{}, position, 1), ConfigError);
  CHECK(game.positions == 1);
}

TEST_CASE("self-play: a setting out of range is named") {
  SelfPlayConfig config = small_config();
  config.search.simulations.reset();
  CHECK_THROWS_WITH_AS(validate(config), doctest::Contains("simulations"), ConfigError);
  config = small_config();
  config.full_search_fraction = 0.0;
  CHECK_THROWS_WITH_AS(validate(config), doctest::Contains("full_search_fraction"), ConfigError);
  config = small_config();
  config.concurrent_games = 0;
  CHECK_THROWS_WITH_AS(validate(config), doctest::Contains("concurrent_games"), ConfigError);
  config = small_config();
  config.opening_random_moves = kMostPlies - 1;
  CHECK_NOTHROW(validate(config));
  config.opening_random_moves = kMostPlies;  // no position would be left to record
  CHECK_THROWS_WITH_AS(validate(config), doctest::Contains("opening_random_moves"), ConfigError);
}

TEST_CASE("visits beyond 16 bits are scaled down") {
  FinishedGame game;
  SearchedPosition position;
  position.actions = {1, 4};
  position.visits = {131'070, 65'535};
  PlaneStack planes;
  game.add(PackedShape{}, planes, position, 5);
  CHECK(game.visits == std::vector<std::uint16_t>{0, 65'535, 0, 0, 32'767});
}

TEST_SUITE("concurrent") {
  TEST_CASE("self-play: any number of threads works with batches, devices and immediate answers") {
    for (const int threads : {1, 2, 4}) {
      for (const Mock& mock : {Mock{}, Mock{.runs_on = on_device(2)}, Mock{.immediate = true},
                               Mock{.answered = 0.5}}) {
        CAPTURE(threads);
        check_all("tic_tac_toe", mock, small_config(threads), 40);
        check_all("connect_four", mock, small_config(threads), 12);
      }
    }
  }

  TEST_CASE("self-play: a stopped run resumes, also with another evaluator") {
    for (const int threads : {1, 4}) {
      const SelfPlayConfig config = small_config(threads);
      const auto game = load_game("connect_four");
      const Mock slow{.delay = std::chrono::microseconds(300)};
      SelfPlay play(game, std::make_shared<MockEvaluator>(slow), config, ModelSpec{});
      StoppingHost host(3);
      std::vector<FinishedGame> finished;
      const auto collect = [&] {
        for (FinishedGame& one : play.take_finished()) finished.push_back(std::move(one));
      };
      CHECK(play.run(20, host) == RunEnd::stopped);
      collect();
      const std::uint64_t begun = play.counters().begun;
      CHECK(begun < 20);
      play.replace_evaluator(std::make_shared<MockEvaluator>());
      Patient patient;
      CHECK(play.run(20 - begun, patient) == RunEnd::completed);
      collect();
      CHECK(finished.size() == 20);
      for (const FinishedGame& one : finished) check_game(game, one, config);
    }
  }

  TEST_CASE("self-play: a search may span several short runs") {
    for (const int threads : {1, 4}) {
      SelfPlayConfig config = small_config(threads);
      config.search.simulations = 100;
      config.concurrent_games = 16;
      const auto game = load_game("connect_four");
      const Mock slow{.delay = std::chrono::microseconds(200)};
      SelfPlay play(game, std::make_shared<MockEvaluator>(slow), config, ModelSpec{});
      std::vector<FinishedGame> finished;
      for (int turn = 0; turn < 3000 && finished.size() < 16; ++turn) {
        StoppingHost host(2);  // 5 ms each; all searches of a move take 40 ms
        play.run(16 - std::min<std::uint64_t>(16, play.counters().begun), host);
        for (FinishedGame& one : play.take_finished()) finished.push_back(std::move(one));
      }
      CHECK(finished.size() == 16);
      for (const FinishedGame& one : finished) check_game(game, one, config);
    }
  }

  TEST_CASE("self-play: a nested run is refused, and an early stop() still counts") {
    const auto game = load_game("connect_four");
    SelfPlay play(game, std::make_shared<MockEvaluator>(), small_config(2), ModelSpec{});
    class Nosy final : public Host {
     public:
      explicit Nosy(SelfPlay& play) : play_(play) {}
      bool poll() override {
        Patient host;
        CHECK_THROWS_AS(play_.run(1, host), EngineError);
        CHECK_THROWS_AS(play_.replace_evaluator(std::make_shared<MockEvaluator>()), EngineError);
        ++polls;
        return false;
      }
      int polls = 0;

     private:
      SelfPlay& play_;
    };
    Nosy nosy(play);
    CHECK(play.run(1'000'000, nosy) == RunEnd::stopped);
    CHECK(nosy.polls > 0);
    play.stop();
    Patient host;
    CHECK(play.run(0, host) == RunEnd::stopped);
  }

  TEST_CASE("self-play: the target of a proven draw has no losing move") {
    SelfPlayConfig config = small_config(2);
    config.search.simulations = 2000;
    config.opening_random_moves = 3;
    const auto game = load_game("tic_tac_toe");
    SelfPlay play(game, std::make_shared<MockEvaluator>(), config, ModelSpec{});
    Patient host;
    play.run(60, host);
    for (const FinishedGame& one : play.take_finished()) {
      // After the first proven draw both sides keep it.
      const auto known = std::find(one.root_value.begin(), one.root_value.end(), 0.0F);
      if (known != one.root_value.end()) CHECK(one.returns[0] == 0.0F);
    }
  }

  TEST_CASE("self-play: an exception of the evaluator ends the run but keeps the games") {
    const SelfPlayConfig config = small_config(3);
    const auto game = load_game("connect_four");
    const auto evaluator = std::make_shared<MockEvaluator>();
    evaluator->seen->fail_at = 20;
    SelfPlay play(game, evaluator, config, ModelSpec{});
    Patient host;
    CHECK_THROWS_AS(play.run(15, host), EvaluationError);
    const std::uint64_t begun = play.counters().begun;
    CHECK(play.run(15 - begun, host) == RunEnd::completed);
    const auto finished = play.take_finished();
    CHECK(finished.size() == 15);
    for (const FinishedGame& one : finished) check_game(game, one, config);
  }
}

}  // namespace
}  // namespace pyengine
