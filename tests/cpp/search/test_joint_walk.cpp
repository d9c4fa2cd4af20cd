/// A turn of joint walks.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <vector>

#include "search/rules/puct_allotter.h"
#include "search/run/tree_search.h"
#include "search_fixtures.h"
#include "tree_check.h"

namespace pyengine {
namespace {

using namespace search_test;

constexpr int kWalks = 24;

/// A tree of 4,000 simulations and a search that continues from it.
struct Turns {
  State state{load_game("gomoku", {{"board_size", 15LL}})};
  std::shared_ptr<MockEvaluator> evaluator = std::make_shared<MockEvaluator>();
  SearchConfig config;
  std::unique_ptr<Searcher> searcher;
  std::unique_ptr<BoundEvaluator> bound = evaluator->bind(state.game(), {});
  std::unique_ptr<TreeSearch> search;
  Worker worker;
  Slot slot;
  std::atomic<bool> stop{false};

  Turns() {
    config.simulations = 4000;
    config.threads = 1;
    config.in_flight = config.batch_size = 256;
    config.symmetry = SymmetryMode::none;
    config.cache_entries = 0;
    config.c_puct = 20.0;  // spread over many root moves
    searcher = std::make_unique<Searcher>(state.game(), evaluator, config);
    Patient host;
    searcher->search(state, config, host);
    search = std::make_unique<TreeSearch>(tree(), state, config, 4000, 1, *bound);
    worker.walker = make_walker(state.position());
    worker.selector.configure(config);
    worker.allocator = Allocator(tree().shared_arena());
    slot.batch = bound->make_batch(256);
    slot.flights.resize(256);
  }
  [[nodiscard]] Tree& tree() const { return const_cast<Tree&>(*searcher->tree()); }

  void gather(int joint_walks) {
    search->gather<Sharing::exclusive>(worker, slot, {kWalks, kWalks, &stop, nullptr, joint_walks});
  }
  /// The gathered leaves, by root move.
  [[nodiscard]] std::map<int, int> leaves() const {
    std::map<int, int> found;
    for (int i = 0; i < slot.batch->num_leaves; ++i) {
      ++found[slot.flights[static_cast<std::size_t>(i)].path[1]->action];
    }
    return found;
  }
  /// How often the root move changes between consecutive leaves.
  [[nodiscard]] int changes() const {
    int found = 0;
    for (int i = 1; i < slot.batch->num_leaves; ++i) {
      const Flight& before = slot.flights[static_cast<std::size_t>(i - 1)];
      found += slot.flights[static_cast<std::size_t>(i)].path[1] != before.path[1] ? 1 : 0;
    }
    return found;
  }
  void take_back() {
    for (int i = 0; i < slot.batch->num_leaves; ++i) {
      search->cancel<Sharing::exclusive>(slot.flights[static_cast<std::size_t>(i)]);
    }
  }
};

/// The number of visits that PUCT allots to each root move at once.
std::map<int, int> allotted(const Turns& turns) {
  const Node& root = turns.tree().root();
  const double n = puct::visits_of(root);
  PuctAllotter allotter;
  allotter.read(turns.tree(), root, turns.config,
                {puct::exploration_rate(turns.config, n), puct::growth(turns.config, n), 0.0,
                 loss_of(root.mover)},
                true);
  std::vector<Allotment> given;
  allotter.allot(kWalks, given);
  std::map<int, int> visits;
  for (const Allotment& one : given) {
    REQUIRE(one.to.child != nullptr);
    visits[one.to.child->action] = static_cast<int>(one.visits);
  }
  return visits;
}

TEST_CASE("joint walks gather for each root move the leaves that it is allotted") {
  Turns turns;
  const auto expected = allotted(turns);
  turns.gather(kWalks);
  REQUIRE(turns.search->collisions.load() == 0);
  CHECK(turns.leaves() == expected);
  CHECK(turns.changes() ==
        static_cast<int>(expected.size()) - 1);  // all leaves of a move are consecutive
  turns.take_back();
  const TreeCount count = check_tree(turns.tree());
  CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
}

TEST_CASE("joint walks gather nearly the same leaves as single walks") {
  Turns single;
  Turns joint;
  single.gather(1);
  joint.gather(kWalks);
  const auto one = single.leaves();
  const auto other = joint.leaves();
  int common = 0;
  for (const auto& [action, leaves] : one) {
    const auto found = other.find(action);
    if (found != other.end()) common += std::min(leaves, found->second);
  }
  CHECK(single.slot.batch->num_leaves == kWalks);
  CHECK(single.changes() > joint.changes());
  CHECK(common >= kWalks * 9 / 10);
}

}  // namespace
}  // namespace pyengine
