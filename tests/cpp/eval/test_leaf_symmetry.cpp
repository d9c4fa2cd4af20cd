/// The symmetry of the board under which a leaf is evaluated.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "eval/network/encoder.h"
#include "search_fixtures.h"

namespace pyengine {
namespace {

using namespace search_test;

constexpr int kSymmetries = 8;

/// The symmetry requested for each position, and the number of contradictory and of non-random
/// requests.
struct Asked {
  std::mutex mutex;
  std::map<std::uint64_t, int> symmetries;
  int requests = 0;
  int changed = 0;
};

/// Records the random symmetry of each leaf; a mock provides the answers.
class BoundRecorder final : public BoundEvaluator {
 public:
  BoundRecorder(const AnyGame& game, std::shared_ptr<Asked> asked)
      : encoder_(ModelSpec{}, game),
        mock_({.under_symmetries = true}, std::make_shared<Seen>(), kSymmetries),
        asked_(std::move(asked)) {}
  [[nodiscard]] EvaluatorTraits traits() const noexcept override { return mock_.traits(); }
  int request(EvalBatch& batch, const AnyPosition& position) override {
    const EvalLeaf& leaf = batch.next();
    PlaneStack planes;
    encoder_.open(position, leaf.legal, planes);
    record(planes.key[0], random_symmetry(planes, leaf.seed, kSymmetries),
           leaf.symmetry == LeafSymmetry::random);
    return mock_.request(batch, position);
  }
  void evaluate(EvalBatch& batch) override { mock_.evaluate(batch); }

 private:
  void record(std::uint64_t key, int symmetry, bool random) {
    const std::lock_guard lock(asked_->mutex);
    const auto [found, added] = asked_->symmetries.emplace(key, symmetry);
    ++asked_->requests;
    if (!random || (!added && found->second != symmetry)) ++asked_->changed;
  }

  Encoder encoder_;
  BoundMock mock_;
  std::shared_ptr<Asked> asked_;
};

class Recorder final : public Evaluator {
 public:
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                       const BindOptions&) override {
    return std::make_unique<BoundRecorder>(*game, asked);
  }
  std::shared_ptr<Asked> asked = std::make_shared<Asked>();
};

/// The requests of two searches of a Gomoku board.
std::shared_ptr<Asked> asked_with(std::uint64_t seed, int threads, std::uint64_t simulations) {
  const auto game = load_game("gomoku", {{"board_size", 9LL}});
  SearchConfig config;
  config.threads = threads;
  config.simulations = simulations;
  config.memory_limit = 64U << 20;
  config.cache_entries = 0;
  config.reuse_tree = false;
  config.seed = seed;
  const auto recorder = std::make_shared<Recorder>();
  Searcher searcher(game, recorder, config);
  Patient host;
  for (int search = 0; search < 2; ++search) searcher.search(State(game), config, host);
  return recorder->asked;
}

/// Pearson's chi-squared statistic of independence between rows and columns.
template <std::size_t R>
double dependence(const std::array<std::array<double, kSymmetries>, R>& table) {
  std::array<double, R> rows{};
  std::array<double, kSymmetries> columns{};
  double all = 0.0;
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t c = 0; c < kSymmetries; ++c) {
      rows[r] += table[r][c];
      columns[c] += table[r][c];
      all += table[r][c];
    }
  }
  double sum = 0.0;
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t c = 0; c < kSymmetries; ++c) {
      const double expected = rows[r] * columns[c] / all;
      sum += (table[r][c] - expected) * (table[r][c] - expected) / expected;
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("a recurring position is requested under the same random symmetry") {
  const auto asked = asked_with(0, 1, 3000);
  CHECK(asked->requests > static_cast<int>(asked->symmetries.size()) + 1000);
  CHECK(asked->changed == 0);
}

TEST_CASE("random symmetries are uniform over positions, in every set of the cache") {
  const auto asked = asked_with(0, 1, 20'000);
  std::array<double, kSymmetries> counts{};
  std::array<std::array<double, kSymmetries>, 16> by_set{};   // the high bits choose the set
  std::array<std::array<double, kSymmetries>, 16> by_lock{};  // by lock of the cache
  for (const auto& [key, symmetry] : asked->symmetries) {
    const auto k = static_cast<std::size_t>(symmetry);
    ++counts[k];
    ++by_set[key >> 60U][k];
    ++by_lock[key & 15U][k];
  }
  const double expected = static_cast<double>(asked->symmetries.size()) / kSymmetries;
  REQUIRE(expected > 1000);
  double sum = 0.0;
  for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
  CHECK(sum < 24.3);                  // 7 degrees of freedom: exceeded once in a thousand
  CHECK(dependence(by_set) < 153.0);  // 105 degrees of freedom
  CHECK(dependence(by_lock) < 153.0);
}

TEST_CASE("another seed gives seven in eight positions a different symmetry") {
  const auto first = asked_with(0, 1, 5000);
  const auto second = asked_with(1, 1, 5000);
  double both = 0.0;
  double same = 0.0;
  for (const auto& [key, symmetry] : first->symmetries) {
    const auto found = second->symmetries.find(key);
    if (found == second->symmetries.end()) continue;
    ++both;
    same += found->second == symmetry ? 1.0 : 0.0;
  }
  REQUIRE(both > 1000);
  CHECK(same / both == doctest::Approx(1.0 / kSymmetries).epsilon(0.15));
}

TEST_SUITE("concurrent") {
  TEST_CASE("a position gets the same random symmetry with any number of threads") {
    const auto one = asked_with(7, 1, 1000);
    const auto four = asked_with(7, 4, 1000);
    CHECK(four->changed == 0);
    int differs = 0;
    for (const auto& [key, symmetry] : four->symmetries) {
      const auto found = one->symmetries.find(key);
      if (found != one->symmetries.end() && found->second != symmetry) ++differs;
    }
    CHECK(differs == 0);
  }
}

}  // namespace pyengine
