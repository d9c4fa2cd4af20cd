/// The steps of a simulation in the tree of each game: walking down, storing edges, backing up.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "eval/simple.h"
#include "leaves.h"
#include "search/rules/puct_rule.h"
#include "search/run/walker.h"
#include "search/searcher.h"
#include "search/tree/backup.h"
#include "search/tree/tree.h"
#include "support.h"

namespace pyengine::bench {
namespace {

constexpr std::uint64_t kSimulations = 10'000;
constexpr std::uint64_t kMemory = 64U << 20;

struct Quiet final : Host {
  bool poll() override { return true; }
};

/// A tree left by a search from the initial position.
struct Grown {
  std::shared_ptr<const AnyGame> game;
  State start;
  SearchConfig config;
  std::unique_ptr<Searcher> searcher;

  explicit Grown(const std::string& text) : game(game_of(text)), start(game) {
    config.threads = 1;
    config.solver = false;
    config.simulations = kSimulations;
    searcher = std::make_unique<Searcher>(game, std::make_shared<UniformEvaluator>(), config);
    Quiet host;
    const SearchResult result = searcher->search(start, config, host);
    std::uint64_t visits = 0;
    for (const std::uint32_t count : result.visits) visits += count;
    require(visits == kSimulations, "every simulation is one visit");
  }

  /// The searcher's tree, which no search uses any more.
  [[nodiscard]] Tree& tree() const { return const_cast<Tree&>(*searcher->tree()); }
};

/// The state of a worker.
struct Walking {
  PuctRule rule;
  Allocator allocator;
  std::unique_ptr<Walker> walker;
  Path path;

  explicit Walking(const Grown& grown)
      : allocator(grown.tree().shared_arena()), walker(make_walker(grown.start.position())) {
    rule.configure(grown.config);
  }
  Walk walk(const Grown& grown) {
    Tree& tree = grown.tree();
    return walker->walk(tree, {tree.root(), grown.start.position()}, {grown.config}, rule,
                        allocator, path);
  }
};

/// From the root to a leaf, selecting and playing moves. The leaf is the same each time, since
/// nothing is backed up; figures are per level.
void select(benchmark::State& state, const std::string& text) {
  const Grown grown(text);
  Walking walking(grown);
  const Walk first = walking.walk(grown);
  require(first.end != WalkEnd::collision, "the first walk ends at a leaf");
  const Path path = walking.path;
  for (auto _ : state) {
    benchmark::DoNotOptimize(walking.walk(grown).end);
  }
  require(walking.path == path, "without a back-up the same leaf is found");
  set_rate(state, static_cast<std::int64_t>(path.size()) - 1);
}

/// The whole path of a walk, one visit; figures are per node.
template <Sharing S>
void back_up_walk(benchmark::State& state, const std::string& text) {
  const Grown grown(text);
  Walking walking(grown);
  walking.walk(grown);
  const std::uint32_t before = grown.tree().root().visits.load();
  back_up<S>(walking.path, 0.25F);
  require(grown.tree().root().visits.load() == before + 1, "a back-up is one visit of the root");
  for (auto _ : state) back_up<S>(walking.path, 0.25F);
  set_rate(state, static_cast<std::int64_t>(walking.path.size()));
}

/// Node and edges of a leaf with a typical number of legal moves in mid-game.
void expand(benchmark::State& state, const AnyGame& game, bool equal_priors) {
  ActionList legal;
  middle_position(game)->legal_actions(legal);
  std::vector<EvalLeaf> leaves;
  for (std::uint64_t i = 0; i < 64; ++i) leaves.push_back(leaf_with(legal.size(), equal_priors, i));
  std::size_t i = 0;
  auto pool = std::make_shared<ChunkPool>(kMemory);
  auto tree = std::make_unique<Tree>(pool);
  Allocator allocator(tree->shared_arena());
  std::vector<Node> nodes(1024);
  std::size_t used = 0;
  for (auto _ : state) {
    if (used == nodes.size()) {  // drop a full tree
      state.PauseTiming();
      allocator = Allocator();
      tree = std::make_unique<Tree>(pool);
      allocator = Allocator(tree->shared_arena());
      nodes = std::vector<Node>(nodes.size());
      used = 0;
      state.ResumeTiming();
    }
    if (!tree->expand(allocator, nodes[used++], leaves[i++ % leaves.size()])) {
      throw WrongAnswer("wrong answer: there is no memory for the edges");
    }
  }
  require(nodes[0].num_edges == legal.size(), "every legal action has an edge");
  set_rate(state);
}

const bool registered = [] {
  for (const Subject& subject : kGames) {
    const std::string start = std::string("search/") + subject.name;
    const std::string game = subject.game;
    add(start + "/uniform/select", [=](auto& state) { select(state, game); });
    add(start + "/uniform/expand", [=](auto& state) { expand(state, *game_of(game), true); });
    add(start + "/network/expand", [=](auto& state) { expand(state, *game_of(game), false); });
    add(start + "/none/back_up,one_thread",
        [=](auto& state) { back_up_walk<Sharing::exclusive>(state, game); });
    add(start + "/none/back_up,shared",
        [=](auto& state) { back_up_walk<Sharing::shared>(state, game); });
  }
  return true;
}();

}  // namespace
}  // namespace pyengine::bench
