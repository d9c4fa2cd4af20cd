/// Root priors of a search: temperature and both kinds of noise.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "base/janitor.h"
#include "search/run/root_priors.h"
#include "search_fixtures.h"

namespace pyengine {
namespace {

using search_test::Mock;
using search_test::MockEvaluator;
using search_test::Patient;
using search_test::unit;

double sum(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

/// The formula, computed move by move.
std::vector<double> shaped(const std::vector<double>& priors, double total) {
  const auto moves = static_cast<double>(priors.size());
  double mean = 0.0;
  for (const double p : priors) mean += std::log(std::fmin(p, 0.01) + 1e-20) / moves;
  std::vector<double> share;
  for (const double p : priors) {
    share.push_back(std::fmax(0.0, std::log(std::fmin(p, 0.01) + 1e-20) - mean));
  }
  const double all = sum(share);
  std::vector<double> found;
  for (const double x : share) found.push_back(total * (0.5 / moves + 0.5 * x / all));
  return found;
}

TEST_CASE("the concentrations of uniform noise are alpha, or 10 over the number of moves") {
  SearchConfig config;
  const std::vector<double> priors = {0.7, 0.2, 0.1, 0.0};
  CHECK(noise_concentrations(config, priors) == std::vector<double>(4, 2.5));
  config.dirichlet_alpha = 0.03;
  CHECK(noise_concentrations(config, priors) == std::vector<double>(4, 0.03));
}

TEST_CASE("half of the concentration of shaped noise goes to the moves that stand out") {
  SearchConfig config;
  config.dirichlet_shaped = true;
  for (std::uint64_t i = 0; i < 50; ++i) {
    CAPTURE(i);
    std::vector<double> priors;
    for (std::uint64_t a = 0; a < 30; ++a) priors.push_back(std::pow(unit(31 * i + a), 8.0));
    for (double& p : priors) p /= sum(priors);
    const auto found = noise_concentrations(config, priors);
    const auto expected = shaped(priors, 10.0);
    CHECK(sum(found) == doctest::Approx(10.0));
    for (std::size_t a = 0; a < priors.size(); ++a) {
      CHECK(found[a] == doctest::Approx(expected[a]));
      CHECK(found[a] >= 0.5 * 10.0 / 30.0);
    }
  }
}

TEST_CASE("shaped noise has the same concentration for all likely moves and for equal priors") {
  SearchConfig config;
  config.dirichlet_shaped = true;
  config.dirichlet_alpha = 1.0;
  const auto two = noise_concentrations(config, std::vector<double>{0.9, 0.0998, 0.0001, 0.0001});
  CHECK(two[0] == doctest::Approx(1.5));
  CHECK(two[1] == doctest::Approx(1.5));
  CHECK(two[2] == doctest::Approx(0.5));
  CHECK(noise_concentrations(config, std::vector<double>(4, 0.25)) == std::vector<double>(4, 1.0));
}

TEST_CASE("equal concentrations reproduce the noise of a seed") {
  Rng rng(3, 1);
  Rng same(3, 1);
  std::vector<double> expected(5);
  double total = 0.0;
  for (double& x : expected) total += x = same.gamma(2.0);
  for (double& x : expected) x /= total;
  CHECK(dirichlet(rng, std::vector<double>(5, 2.0)) == expected);
}

/// Priors of Connect Four's initial position in a search with these settings, and without noise.
struct Searched {
  std::vector<float> clean;
  std::vector<float> found;
};

Searched searched(SearchConfig config) {
  const auto game = load_game("connect_four");
  config.threads = 1;
  config.simulations = 50;
  config.memory_limit = 64U << 20;
  Searcher searcher(game, std::make_shared<MockEvaluator>(Mock{}), config);
  SearchConfig plain = config;
  plain.root_policy_temperature = 1.0;
  plain.dirichlet_fraction = 0.0;
  Patient host;
  Searched both;
  both.clean = searcher.search(State(game), plain, host).priors;
  both.found = searcher.search(State(game), config, host).priors;
  CHECK(searcher.search(State(game), plain, host).priors == both.clean);
  wait_for_background();
  return both;
}

TEST_CASE("the temperature flattens the root's priors for the search that sets it") {
  for (const double temperature : {0.5, 1.1, 1.25, 4.0}) {
    CAPTURE(temperature);
    SearchConfig config;
    config.root_policy_temperature = temperature;
    const Searched both = searched(config);
    std::vector<double> expected;
    for (const float p : both.clean) expected.push_back(std::pow(p, 1.0 / temperature));
    const double total = sum(expected);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(both.found[i] == doctest::Approx(expected[i] / total).epsilon(0.001));
    }
  }
}

TEST_CASE("noise is mixed into the priors after the temperature") {
  SearchConfig config;
  config.root_policy_temperature = 1000.0;
  config.dirichlet_fraction = 0.25;
  config.dirichlet_alpha = 0.03;
  const Searched both = searched(config);
  for (const float p : both.found) CHECK(p >= doctest::Approx(0.75 / 7).epsilon(0.02));
}

TEST_CASE("rules without priors ignore noise") {
  SearchConfig config;
  config.algorithm = Algorithm::uct;
  config.dirichlet_fraction = 0.5;
  const Searched both = searched(config);
  CHECK(both.found == both.clean);
}

TEST_CASE("searches other than PUCT reject settings that change the root's priors") {
  for (const Algorithm algorithm : {Algorithm::gumbel, Algorithm::uct, Algorithm::flat_ucb}) {
    SearchConfig config;
    config.algorithm = algorithm;
    validate(config);
    config.root_policy_temperature = 1.1;
    CHECK_THROWS_WITH_AS(validate(config),
                         "root_policy_temperature: expected 1 unless algorithm is puct, got 1.1",
                         ConfigError);
    config.root_policy_temperature = 1.0;
    config.dirichlet_shaped = true;
    CHECK_THROWS_WITH_AS(validate(config),
                         "dirichlet_shaped: expected False unless algorithm is puct, got True",
                         ConfigError);
  }
}

}  // namespace
}  // namespace pyengine
