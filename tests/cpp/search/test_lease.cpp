/// Leases: how a tree is divided among workers, and what other workers see of it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "chain.h"
#include "eval/simple.h"
#include "search/run/lease.h"
#include "search_fixtures.h"
#include "tree_check.h"

namespace pyengine {
namespace {

using namespace search_test;

SearchConfig config_of(int threads, std::uint64_t simulations) {
  SearchConfig config;
  config.threads = threads;
  config.simulations = simulations;
  config.memory_limit = 64U << 20;
  return config;
}

/// The numbers of the leaves requested by a search.
struct Numbers {
  std::mutex mutex;
  std::vector<std::uint64_t> seen;
  std::size_t fail_at = 0;  ///< requests before one throws; 0 = never
};

/// An evaluator that records the leaf numbers and whose playouts count as brief on any machine.
class BoundNumbered final : public BoundEvaluator {
 public:
  BoundNumbered(std::unique_ptr<BoundEvaluator> asked, std::shared_ptr<Numbers> numbers)
      : asked_(std::move(asked)), numbers_(std::move(numbers)) {}
  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    EvaluatorTraits traits = asked_->traits();
    if (traits.on_the_spot()) traits.answering = Answering::brief;
    return traits;
  }
  [[nodiscard]] std::unique_ptr<EvalBatch> make_batch(int capacity) override {
    return asked_->make_batch(capacity);
  }
  int request(EvalBatch& batch, const AnyPosition& position) override {
    write_down(batch);
    return asked_->request(batch, position);
  }
  void evaluate(EvalBatch& batch) override { asked_->evaluate(batch); }
  void decode(EvalBatch& batch) override { asked_->decode(batch); }

 private:
  void write_down(EvalBatch& batch) {
    const std::lock_guard lock(numbers_->mutex);
    numbers_->seen.push_back(batch.next().number);
    if (numbers_->seen.size() == numbers_->fail_at) throw EvaluationError("numbered: fails");
  }

  std::unique_ptr<BoundEvaluator> asked_;
  std::shared_ptr<Numbers> numbers_;
};

class Numbered final : public Evaluator {
 public:
  Numbered(std::shared_ptr<Evaluator> asked, std::shared_ptr<Numbers> numbers)
      : asked_(std::move(asked)), numbers_(std::move(numbers)) {}
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                       const BindOptions& options) override {
    return std::make_unique<BoundNumbered>(asked_->bind(std::move(game), options), numbers_);
  }

 private:
  std::shared_ptr<Evaluator> asked_;
  std::shared_ptr<Numbers> numbers_;
};

std::shared_ptr<Evaluator> numbered(const std::shared_ptr<Numbers>& numbers, bool playouts) {
  if (!playouts) return std::make_shared<Numbered>(std::make_shared<UniformEvaluator>(), numbers);
  return std::make_shared<Numbered>(std::make_shared<RolloutEvaluator>(), numbers);
}

/// For a new search from the start of the game.
SearchResult searched(const std::string& game, const std::shared_ptr<Evaluator>& evaluator,
                      const SearchConfig& config) {
  Searcher searcher(load_game(game), evaluator, config);
  Patient host;
  const SearchResult result = searcher.search(State(searcher.game()), config, host);
  const TreeCount count = check_tree(*searcher.tree(), !config.solver);
  CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
  return result;
}

TEST_CASE(
    "a lease has a sixteenth of the visits of its top, and all leases a share of the root's") {
  for (const std::uint32_t visits : {3000U, 50000U, 4000000000U}) {
    for (const int workers : {2, 16, 128}) {
      const LeaseTerms terms = lease_terms(visits, workers, 8);
      CHECK(terms.most >= 1);
      CHECK(terms.most <= std::max(1U, visits / static_cast<std::uint32_t>(64 * workers)));
      CHECK(lease_simulations(160, terms) <= 10);
      CHECK(lease_simulations(visits, terms) == terms.most);
    }
  }
}

TEST_CASE("the path to a subtree continues to a child with enough visits") {
  const LeaseTerms terms = lease_terms(64000, 2, 8);  // at most 500 simulations
  CHECK(leads_on(10000, false, 8000, terms));
  CHECK_FALSE(leads_on(10000, false, 7000, terms));  // the node leaves enough to the other worker
  CHECK(leads_on(10000, true, 7000, terms));         // another worker is below it
  CHECK(leads_on(60000, false, 128, terms));         // nobody could work beside it
  CHECK_FALSE(leads_on(60000, false, 127, terms));   // not worth the walk
}

TEST_CASE("in a small tree the root is leased, regardless of its children's visits") {
  for (const std::uint32_t visits : {1U, 100U, 2000U}) {
    const LeaseTerms terms = lease_terms(visits, 4, 8);
    CHECK_FALSE(leads_on(visits, false, visits - 1, terms));
    CHECK(most_leases(visits) == 1);
  }
  CHECK(most_leases(1U << 20) > 100);
}

TEST_CASE("a leased subtree counts on the path above it when the lease ends, and not before") {
  Chain chain({0, 1, 1, 0});
  const Path below(chain.path.begin() + 2, chain.path.end());
  {
    const Path to_top(chain.path.begin(), chain.path.begin() + 3);
    const Lease lease(to_top, 10, {.draw = 0.25F, .drawn = 1});
    REQUIRE(lease.taken());
    CHECK(chain.nodes[0]->in_flight.load() == 10);
    CHECK(chain.nodes[2]->in_flight.load() == 10);
    CHECK(chain.nodes[3]->in_flight.load() == 0);
    back_up<Sharing::exclusive>(below, 0.5F);
    back_up<Sharing::exclusive>(below, 1.0F);
    CHECK(chain.nodes[0]->visits.load() == 0);
  }
  for (const auto& node : chain.nodes) {
    CHECK(node->visits.load() == 2);
    CHECK(node->in_flight.load() == 0);
    CHECK_FALSE(node->locked.load());
  }
  CHECK(chain.mean(0) == -0.25);  // the rule skipped a known draw there
  CHECK(chain.mean(1) == 0.75);
  CHECK(chain.mean(2) == -0.75);
}

TEST_CASE("a subtree is not leased twice, nor below or above a leased one") {
  Chain chain({0, 1, 0});
  const Path to_root(chain.path.begin(), chain.path.begin() + 1);
  const Path to_child(chain.path.begin(), chain.path.begin() + 2);
  for (const Path& first : {to_root, to_child, chain.path}) {
    const Lease taken(first, 5, {});
    REQUIRE(taken.taken());
    for (const Path& second : {to_root, to_child, chain.path})
      CHECK_FALSE(Lease(second, 7, {}).taken());
    CHECK(chain.nodes[0]->in_flight.load() == (first.size() == 1 ? 0 : 5));
  }
  CHECK(Lease(to_root, 7, {}).taken());
}

TEST_CASE("there are as many workers as will find subtrees, and one for a small tree") {
  CHECK(workers_for(8191, 64) == 1);
  CHECK(workers_for(8192, 64) == 5);
  CHECK(workers_for(8192, 2) == 2);
  CHECK(workers_for(~std::uint64_t{0}, 64) == 64);
}

TEST_CASE("a small tree is searched as with one thread") {
  for (const char* game : {"tic_tac_toe", "connect_four", "gomoku"}) {
    for (const Algorithm algorithm : {Algorithm::puct, Algorithm::uct}) {
      const auto visits = [&](int threads) {
        SearchConfig config = config_of(threads, 5000);
        config.algorithm = algorithm;
        return searched(game, numbered(std::make_shared<Numbers>(), true), config).visits;
      };
      CHECK(visits(4) == visits(1));
    }
  }
}

TEST_CASE("with a proven draw at the root, visits alternate between it and other moves") {
  const auto game = load_game("connect_four");
  State state(game);
  for (const Action action :
       {2, 6, 6, 6, 6, 0, 5, 2, 6, 4, 0, 0, 5, 3, 4, 5, 1, 3, 4, 4, 2, 0, 4}) {
    state.apply_action(action);
  }
  for (const int threads : {1, 3, 3, 3, 3}) {
    const SearchConfig config = config_of(threads, 300000);
    Searcher searcher(game, std::make_shared<UniformEvaluator>(), config);
    Patient host;
    const SearchResult result = searcher.search(state, config, host);
    CHECK(result.action == 0);  // the draw
    // About 60,000, and 47,000 if other processes keep a worker with a lease from running. When a
    // lease follows the choice, one search in four has fewer than 30,000.
    CHECK(result.visits.front() > 30000);
  }
}

TEST_SUITE("concurrent") {
  TEST_CASE("no two workers lease overlapping subtrees") {
    Chain chain({0, 1, 0, 1});
    int worked = 0;  // not locked: TSan sees two concurrent writers
    const auto work = [&](std::size_t nodes) {
      const Path path(chain.path.begin(), chain.path.begin() + static_cast<std::ptrdiff_t>(nodes));
      const Path top(1, path.back());
      for (int i = 0; i < 3000; ++i) {
        const Lease lease(path, 3, {});
        if (!lease.taken()) continue;
        back_up<Sharing::exclusive>(top, 1.0F);
        ++worked;
      }
    };
    std::vector<std::thread> threads;
    for (const std::size_t nodes : {2U, 3U, 4U}) threads.emplace_back(work, nodes);
    for (std::thread& thread : threads) thread.join();
    CHECK(chain.nodes[0]->visits.load() == chain.nodes[1]->visits.load());
    CHECK(chain.nodes[0]->visits.load() == static_cast<std::uint32_t>(worked));
    for (const auto& node : chain.nodes) CHECK(node->in_flight.load() == 0);
  }

  TEST_CASE("workers with separate subtrees complete all simulations, for any rule and game") {
    for (const char* game : {"connect_four", "gomoku", "othello"}) {
      for (const Algorithm algorithm : {Algorithm::puct, Algorithm::uct}) {
        for (const bool solver : {false, true}) {
          CAPTURE(game);
          SearchConfig config = config_of(4, 12000);
          config.algorithm = algorithm;
          config.solver = solver;
          const auto result = searched(game, std::make_shared<UniformEvaluator>(), config);
          CHECK(result.simulations == 12000);
          CHECK(total(result.visits) == 12000);
        }
      }
    }
  }

  TEST_CASE("leaves of different subtrees have different numbers") {
    for (const bool playouts : {false, true}) {
      const auto numbers = std::make_shared<Numbers>();
      SearchConfig config = config_of(4, 20000);
      config.in_flight = 1;  // does not limit leases: none of their leaves waits
      const auto result = searched("gomoku", numbered(numbers, playouts), config);
      CHECK(total(result.visits) == 20000);
      std::sort(numbers->seen.begin(), numbers->seen.end());
      CHECK(numbers->seen.size() <= 20001);  // including the root; terminal nodes have no number
      CHECK(numbers->seen.size() > 19000);
      CHECK(std::adjacent_find(numbers->seen.begin(), numbers->seen.end()) == numbers->seen.end());
    }
  }

  TEST_CASE(
      "an exception from the evaluator in a leased subtree ends the search and leaves a valid "
      "tree") {
    SearchConfig config = config_of(4, 40000);
    const auto numbers = std::make_shared<Numbers>();
    Searcher searcher(load_game("gomoku"), numbered(numbers, false), config);
    const State state(searcher.game());
    Patient host;
    for (const std::size_t at : {3000U, 9000U, 20000U}) {
      numbers->fail_at = at;
      CHECK_THROWS_AS(searcher.search(state, config, host), EvaluationError);
      const TreeCount count = check_tree(*searcher.tree(), true);
      CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
    }
    numbers->fail_at = 0;
    CHECK(searcher.search(state, config, host).simulations == 40000);
  }

  TEST_CASE("a small game is proven by workers with separate subtrees") {
    SearchConfig config = config_of(4, 1U << 20);
    config.memory_limit = 256U << 20;
    const auto result = searched("tic_tac_toe", std::make_shared<RolloutEvaluator>(), config);
    CHECK(result.proven == 0);
  }

  TEST_CASE("workers with separate subtrees can be stopped and continue in the same tree") {
    const SearchConfig config = config_of(4, 20000);
    Searcher searcher(load_game("othello"), std::make_shared<UniformEvaluator>(), config);
    State state(searcher.game());
    for (int polls = 1; polls < 12; ++polls) {
      StoppingHost host(polls);
      const SearchResult result = searcher.search(state, config, host);
      CHECK(result.simulations <= 20000);
      const TreeCount count = check_tree(*searcher.tree(), true);
      CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
      state.apply_action(result.action);
      searcher.advance(result.action);
    }
  }

  TEST_CASE("leased subtrees stay within the memory limit") {
    SearchConfig config = config_of(3, 60000);
    config.memory_limit = 8U << 20;
    config.solver = false;
    Searcher searcher(load_game("gomoku"), std::make_shared<UniformEvaluator>(), config);
    Patient host;
    const auto result = searcher.search(State(searcher.game()), config, host);
    CHECK(total(result.visits) == 60000);
    CHECK(check_tree(*searcher.tree(), false).wrong == 0);
    CHECK(searcher.stats().bytes <= config.memory_limit);
  }
}

}  // namespace
}  // namespace pyengine
