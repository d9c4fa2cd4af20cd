/// The steps of a simulation, and whole simulations with a free evaluator.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "eval/simple.h"
#include "leaves.h"
#include "search/rules/puct_rule.h"
#include "search/searcher.h"
#include "search/tree/backup.h"
#include "search/tree/tree.h"
#include "support.h"

namespace pyengine::bench {
namespace {

constexpr std::uint64_t kMemory = 64U << 20;

/// A tree consisting of a root with visited children.
struct Wide {
  std::shared_ptr<ChunkPool> pool = std::make_shared<ChunkPool>(kMemory);
  Tree tree{pool};
  Allocator allocator{tree.shared_arena()};
  SearchConfig config;
  PuctRule rule;

  explicit Wide(int children) {
    Node& root = tree.root();
    require(tree.expand(allocator, root, leaf_with(children, false)), "the root is expanded");
    Rng rng(4);
    std::uint32_t visits = 1;
    for (int i = 0; i < children; ++i) {
      bool full = false;
      Node* child = tree.create_child(allocator, root, full);
      require(child != nullptr, "a child is created");
      child->visits = 1 + rng.below(100);
      child->value_sum = to_fixed(static_cast<float>(rng.uniform() - 0.5)) *
          static_cast<std::int64_t>(child->visits.load());
      visits += child->visits.load();
    }
    root.visits = visits;
    rule.configure(config);
  }

  /// The child with the largest score, one at a time.
  [[nodiscard]] const Node* naive_choice() const {
    const Node& root = tree.root();
    const double n = root.visits.load();
    const puct::Parent parent{puct::exploration_rate(config, n), std::sqrt(n)};
    const Node* best = nullptr;
    double most = 0.0;
    for_each_child(tree.arena(), root, root.num_children.load(), [&](const Node& child) {
      const double score = puct::score_of(child, parent, 0.0);
      if (best == nullptr || score > most) {
        best = &child;
        most = score;
      }
    });
    return best;
  }
};

void select(benchmark::State& state, int children) {
  Wide wide(children);
  Node& root = wide.tree.root();
  const Selection chosen = wide.rule.choose(wide.tree, root, true);
  require(chosen.child == wide.naive_choice(), "the child with the largest score is chosen");
  for (auto _ : state) {
    benchmark::DoNotOptimize(wide.rule.choose(wide.tree, root, true).child);
  }
  set_rate(state);
}

void expand(benchmark::State& state, int actions, bool equal_priors) {
  const auto pool = std::make_shared<ChunkPool>(kMemory);
  Tree tree(pool);
  Allocator allocator(tree.shared_arena());
  // Many leaves, because branch prediction learns the comparisons of a single one.
  std::vector<EvalLeaf> leaves;
  for (std::uint64_t i = 0; i < 512; ++i) leaves.push_back(leaf_with(actions, equal_priors, i));
  Node node;
  for (const EvalLeaf& leaf : leaves) {
    require(tree.expand(allocator, node, leaf), "there is memory");
    const auto edges = tree.edges(node);
    require(static_cast<int>(edges.size()) == actions, "every legal action has an edge");
    require(std::is_sorted(edges.begin(), edges.end()), "the edges are sorted");
    allocator.give(node.edges, stored_edge_units(tree.arena(), node));
  }
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(tree.expand(allocator, node, leaves[i]));
    allocator.give(node.edges, stored_edge_units(tree.arena(), node));
    i = (i + 1) % leaves.size();
  }
  set_rate(state);
}

template <Sharing S>
void back_up_path(benchmark::State& state, std::size_t depth) {
  std::vector<Node> nodes(depth);
  Path path;
  for (std::size_t i = 0; i < depth; ++i) {
    nodes[i].chooser = i % 2 == 0;
    path.push_back(&nodes[i]);
  }
  back_up<S>(path, 0.25F);
  require(nodes[0].mean_for_chooser() == -0.25, "a value is turned for the second player");
  require(nodes[1].mean_for_chooser() == 0.25, "a value is kept for the first player");
  for (auto _ : state) back_up<S>(path, 0.25F);
  set_rate(state);
}

struct Quiet final : Host {
  bool poll() override { return true; }
};

/// Simulations of a fresh search from the initial position, with a new tree and memory.
void simulate(benchmark::State& state, const std::string& text, std::uint64_t simulations) {
  const auto game = game_of(text);
  SearchConfig config;
  config.threads = 1;
  config.solver = false;
  config.simulations = simulations;
  const State start(game);
  Quiet host;
  for (auto _ : state) {
    Searcher searcher(game, std::make_shared<UniformEvaluator>(), config);
    const SearchResult result = searcher.search(start, config, host);
    std::uint64_t visits = 0;
    for (const std::uint32_t count : result.visits) visits += count;
    require(visits == simulations, "every simulation is one visit");
  }
  set_rate(state, static_cast<std::int64_t>(simulations));
}

const bool registered = [] {
  for (const int children : {2, 7, 33, 225, 362}) {
    add("search/none/none/select,children=" + std::to_string(children),
        [=](auto& state) { select(state, children); });
  }
  for (const int actions : {7, 82, 362}) {
    const std::string knob = "expand,actions=" + std::to_string(actions);
    add("search/none/network/" + knob, [=](auto& state) { expand(state, actions, false); });
    add("search/none/uniform/" + knob, [=](auto& state) { expand(state, actions, true); });
  }
  add("search/none/none/back_up,depth=16,one_thread",
      [](auto& state) { back_up_path<Sharing::exclusive>(state, 16); });
  add("search/none/none/back_up,depth=16,shared",
      [](auto& state) { back_up_path<Sharing::shared>(state, 16); });
  for (const Subject& subject : kGames) {
    const std::string game = subject.game;
    add(std::string("search/") + subject.name + "/uniform/simulations=10000",
        [=](auto& state) { simulate(state, game, 10'000); });
  }
  return true;
}();

}  // namespace
}  // namespace pyengine::bench
