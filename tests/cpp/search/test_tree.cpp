/// The tree: expansion, children in blocks, noise at the root, re-rooting.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/janitor.h"
#include "base/rng.h"
#include "games/any/registry.h"
#include "search/tree/tree.h"
#include "search_fixtures.h"
#include "tree_check.h"

namespace pyengine {
namespace {

using search_test::unit;

constexpr std::uint64_t kPoolBytes = 16 * kChunkBytes;

EvalLeaf leaf_with(int actions, std::uint64_t seed, int to_move = 0) {
  EvalLeaf leaf;
  double total = 0.0;
  for (int a = 0; a < actions; ++a) {
    leaf.legal.push_back(a * 3);
    leaf.priors.push_back(static_cast<float>(unit(seed + static_cast<std::uint64_t>(a))));
    total += leaf.priors.back();
  }
  for (float& prior : leaf.priors) prior = static_cast<float>(prior / total);
  leaf.value = 0.25F;
  leaf.to_move = to_move;
  return leaf;
}

struct Planted {
  std::shared_ptr<ChunkPool> pool = std::make_shared<ChunkPool>(kPoolBytes);
  std::unique_ptr<Tree> tree = std::make_unique<Tree>(pool);
  Allocator allocator{tree->shared_arena()};

  Node& child(Node& parent) {
    bool full = false;
    Node* made = tree->create_child(allocator, parent, full);
    REQUIRE(made != nullptr);
    tree->add_nodes(1);
    return *made;
  }
  void expand(Node& node, int actions, std::uint64_t seed = 1, int to_move = 0) {
    REQUIRE(tree->expand(allocator, node, leaf_with(actions, seed, to_move)));
    node.visits.fetch_add(1);
  }
  /// All children of `node`, then the first two, and so on.
  void grow(Node& node, int actions, int depth, std::uint64_t seed) {
    expand(node, actions, seed, depth % 2);
    std::vector<Node*> made;
    for (int a = 0; a < actions; ++a) made.push_back(&child(node));
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (depth > 0 && i < 2) {
        grow(*made[i], actions, depth - 1, search_test::mixed(seed + i));
      } else {
        made[i]->state.store(NodeState::fresh);
      }
      node.visits.fetch_add(made[i]->visits.load());
    }
  }
};

std::vector<const Node*> children_of(const Tree& tree, const Node& node) {
  std::vector<const Node*> all;
  for_each_child(tree.arena(), node, node.num_children.load(),
                 [&](const Node& child) { all.push_back(&child); });
  return all;
}

TEST_CASE("the fast loop over the children visits the same children") {
  Planted planted;
  planted.expand(planted.tree->root(), 45);
  for (int count = 1; count <= 45; ++count) {
    planted.child(planted.tree->root());
    std::vector<const Node*> met;
    for_each_child_fast(planted.tree->arena(), planted.tree->root(), count,
                        [&](const Node& child) { met.push_back(&child); });
    CHECK(met == children_of(*planted.tree, planted.tree->root()));
  }
}

TEST_CASE("addresses computed from a neighbour equal the block's own, across chunks") {
  const auto pool = std::make_shared<ChunkPool>(kPoolBytes);
  Allocator allocator(std::make_shared<Arena>(pool));
  const Arena& arena = *allocator.arena();
  const BlockIndex first = allocator.take(64);
  for (int i = 0; i < 40; ++i) {
    const BlockIndex other = allocator.take(Arena::kMaxUnits / 2);
    REQUIRE(other != 0);
    CHECK(arena.at_near<std::byte>(other, first, arena.at(first)) == arena.at(other));
    CHECK(arena.at_near<std::byte>(first, other, arena.at(other)) == arena.at(first));
  }
}

TEST_CASE("blocks of children hold 1, 1, 2, 4 ... 1024, 1024 nodes") {
  const std::vector<int> expected{1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024};
  for (std::size_t b = 0; b < expected.size(); ++b) {
    const int block = static_cast<int>(b);
    CHECK(block_capacity(block) == expected[b]);
    const std::size_t header = block == 0 ? sizeof(FirstBlock) : block < 4 ? 0 : sizeof(LaterBlock);
    CHECK(static_cast<std::size_t>(block_units(block)) * kUnitBytes ==
          header + static_cast<std::size_t>(expected[b]) * sizeof(Node));
    CHECK(block_units(block) <= Arena::kMaxUnits);
  }
}

TEST_CASE("the edges of an expanded node are its legal actions in search order") {
  Planted planted;
  planted.expand(planted.tree->root(), 400);
  const auto edges = planted.tree->edges(planted.tree->root());
  REQUIRE(edges.size() == 400);
  CHECK(std::is_sorted(edges.begin(), edges.end()));
  std::vector<int> actions;
  for (const Edge edge : edges) actions.push_back(edge.action());
  std::sort(actions.begin(), actions.end());
  for (int a = 0; a < 400; ++a) CHECK(actions[static_cast<std::size_t>(a)] == a * 3);
}

TEST_CASE("with equal priors the actions are ascending") {
  Planted planted;
  EvalLeaf leaf = leaf_with(7, 1);
  leaf.equal_priors = true;
  leaf.priors.clear();
  REQUIRE(planted.tree->expand(planted.allocator, planted.tree->root(), leaf));
  for (int a = 0; a < 7; ++a) {
    const Edge edge = planted.tree->edges(planted.tree->root())[static_cast<std::size_t>(a)];
    CHECK(edge.action() == a * 3);
    CHECK(edge.prior() == pack_prior(1.0F / 7.0F));
  }
}

TEST_CASE("children are created in edge order and never move") {
  Planted planted;
  Node& root = planted.tree->root();
  planted.expand(root, 2500, 3, 1);
  std::vector<const Node*> made;
  for (int i = 0; i < 2500; ++i) {
    made.push_back(&planted.child(root));
    REQUIRE(made.back()->state.load() == NodeState::claimed);
  }
  CHECK(children_of(*planted.tree, root) == made);
  for (std::size_t i = 0; i < made.size(); ++i) {
    const Edge edge = planted.tree->edges(root)[i];
    REQUIRE(made[i]->action == edge.action());
    REQUIRE(made[i]->prior == edge.prior());
    REQUIRE(made[i]->chooser == 1);
  }
  bool full = false;
  CHECK(planted.tree->create_child(planted.allocator, root, full) == nullptr);
  CHECK_FALSE(full);  // every move already has a child: not out of memory
}

TEST_CASE("at the memory limit nothing is created, and the existing tree stays usable") {
  const auto pool = std::make_shared<ChunkPool>(kChunkBytes);
  Tree tree(pool);
  Allocator allocator(tree.shared_arena());
  REQUIRE(tree.expand(allocator, tree.root(), leaf_with(300, 1)));
  while (allocator.take(500) != 0) {
  }
  while (allocator.take(1) != 0) {
  }
  bool full = false;
  CHECK(tree.create_child(allocator, tree.root(), full) == nullptr);
  CHECK(full);
  CHECK_FALSE(tree.root().locked.load());
  Node node;
  node.state.store(NodeState::claimed);
  CHECK_FALSE(tree.expand(allocator, node, leaf_with(300, 2)));
  CHECK(node.state.load() == NodeState::fresh);
  CHECK(node.num_edges == 0);
  CHECK(pool->bytes() == kChunkBytes);
}

TEST_CASE("moves with equal priors are stored as bits if that is smaller, and read the same") {
  Planted planted;
  Rng rng(7);
  for (const int stride : {1, 3, 40, 500}) {
    for (const int actions : {1, 2, 63, 64, 65, 130}) {
      CAPTURE(stride);
      CAPTURE(actions);
      EvalLeaf leaf;
      leaf.equal_priors = true;
      for (int a = 0; a < actions; ++a) {
        leaf.legal.push_back(stride * a +
                             static_cast<int>(rng.below(static_cast<unsigned>(stride))));
      }
      Node node;
      REQUIRE(planted.tree->expand(planted.allocator, node, leaf));
      CHECK((node.edges_are_bits != 0) == (leaf.legal[actions - 1] / 64 + 1 < edge_units(actions)));
      REQUIRE(node.num_edges == actions);
      const PackedPrior prior = pack_prior(1.0F / static_cast<float>(actions));
      for (int place = 0; place < actions; ++place) {
        const Edge edge = planted.tree->edge(node, place);
        CHECK(edge.action() == leaf.legal[place]);
        CHECK(edge.prior() == prior);
        CHECK(planted.tree->edge_prior(node, place) == prior);
      }
      const int units = stored_edge_units(planted.tree->arena(), node);
      const int words = leaf.legal[actions - 1] / 64 + 1;
      CHECK(units == (node.edges_are_bits ? words : edge_units(actions)));
    }
  }
}

TEST_CASE("a set of legal actions and a list of them give the same edges") {
  for (const char* name : {"go", "go(board_size=9)", "gomoku", "othello", "othello(board_size=10)",
                           "connect_four", "tic_tac_toe", "mnk(rows=4,columns=7,k=4)"}) {
    CAPTURE(name);
    const NamedParams named = parse_named_params(name);
    const auto position = load_game(named.name, named.params)->initial_position();
    Rng rng(3);
    while (!position->outcome()) {
      EvalLeaf leaf;
      leaf.equal_priors = true;
      position->legal_actions(leaf.legal);
      std::vector<Edge> listed(static_cast<std::size_t>(leaf.num_legal()));
      list_edges(leaf, listed);
      REQUIRE(position->legal_bits(leaf.legal_bits));
      leaf.has_legal_bits = true;
      REQUIRE(leaf.num_legal() == leaf.legal.size());
      std::vector<Edge> from_bits(listed.size());
      list_edges(leaf, from_bits);
      for (std::size_t i = 0; i < listed.size(); ++i) {
        REQUIRE(from_bits[i].action() == listed[i].action());
        REQUIRE(from_bits[i].prior() == listed[i].prior());
      }
      const auto place = static_cast<int>(rng.below(static_cast<unsigned>(leaf.legal.size())));
      position->play(leaf.legal[place]);
    }
  }
}

TEST_CASE("noise is mixed into the root's priors and removing it restores them") {
  for (const int created : {0, 1, 5, 40}) {
    CAPTURE(created);
    Planted planted;
    Node& root = planted.tree->root();
    planted.expand(root, 40, 9);
    for (int i = 0; i < created; ++i) planted.child(root);
    const std::vector<Edge> clean = planted.tree->edges(root);
    std::vector<double> noise(40);
    for (std::size_t i = 0; i < 40; ++i) noise[i] = unit(i + 500) / 20.0;

    search_test::mix_noise(*planted.tree, noise, 0.25);
    auto edges = planted.tree->edges(root);
    CHECK(planted.tree->root_is_sorted() == std::is_sorted(edges.begin(), edges.end()));
    CHECK(std::is_sorted(edges.begin() + created, edges.end()));
    for (std::size_t i = 0; i < 40; ++i) {
      const auto found = std::find_if(edges.begin(), edges.end(), [&](Edge edge) {
        return edge.action() == clean[i].action();
      });
      const double expected = 0.75 * unpack_prior(clean[i].prior()) + 0.25 * noise[i];
      CHECK(found->prior() == pack_prior(static_cast<float>(expected)));
    }
    const auto kids = children_of(*planted.tree, root);
    for (std::size_t i = 0; i < kids.size(); ++i) {
      CHECK(kids[i]->action == clean[i].action());  // their places are unchanged
      CHECK(kids[i]->prior == edges[i].prior());
    }

    planted.tree->clear_root_noise();
    edges = planted.tree->edges(root);
    CHECK(planted.tree->root_is_sorted());
    CHECK(std::equal(clean.begin(), clean.begin() + created, edges.begin(),
                     [](Edge a, Edge b) { return !(a < b) && !(b < a); }));
    for (std::size_t i = 0; i < 40; ++i) {
      CHECK(edges[i].action() == clean[i].action());
      CHECK(edges[i].prior() == clean[i].prior());
    }
  }
}

TEST_CASE("children created under noise keep their edge when the noise is removed") {
  Planted planted;
  Node& root = planted.tree->root();
  planted.expand(root, 30, 4);
  std::vector<double> noise(30, 0.0);
  noise[29] = 1.0;  // the worst move comes first now
  search_test::mix_noise(*planted.tree, noise, 0.9);
  const int favourite = planted.tree->edges(root)[0].action();
  CHECK(planted.child(root).action == favourite);
  planted.child(root);
  planted.tree->clear_root_noise();
  const auto edges = planted.tree->edges(root);
  const auto kids = children_of(*planted.tree, root);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(kids[i]->action == edges[i].action());
    CHECK(kids[i]->prior == edges[i].prior());
  }
  CHECK(std::is_sorted(edges.begin() + 2, edges.end()));
}

TEST_CASE("a root whose children were created under noise is distinguished from a sorted one") {
  Planted planted;
  Node& root = planted.tree->root();
  planted.expand(root, 30, 4);
  std::vector<double> noise(30, 0.0);
  noise[29] = 1.0;
  search_test::mix_noise(*planted.tree, noise, 0.9);
  planted.child(root);
  planted.tree->clear_root_noise();
  const auto edges = planted.tree->edges(root);
  // Selection relies on the order if root_is_sorted() is true.
  CHECK(planted.tree->root_is_sorted() == std::is_sorted(edges.begin(), edges.end()));
}

TEST_CASE("advancing keeps the subtree, counts its nodes and frees the rest for reuse") {
  Planted planted;
  planted.grow(planted.tree->root(), 9, 6, 1);
  Tree& tree = *planted.tree;
  const auto before = search_test::check_tree(tree, false);
  CHECK(before.nodes == tree.nodes());
  CHECK(before.wrong == 0);
  const Node* kept = children_of(tree, tree.root())[1];
  const std::uint32_t edges = kept->num_edges;
  const auto action = kept->action;
  CHECK_FALSE(tree.advance(static_cast<ActionId>(9999)));
  REQUIRE(tree.advance(action));
  wait_for_background();
  const auto after = search_test::check_tree(tree, false);
  CHECK(after.wrong == 0);
  CHECK(after.nodes == tree.nodes());
  CHECK(tree.root().num_edges == edges);

  // Dropped nodes are reused: the same tree grows again without new chunks.
  const std::uint64_t bytes = planted.pool->bytes();
  Allocator fresh(tree.shared_arena());
  std::uint64_t reused = 0;
  while (planted.pool->bytes() == bytes && reused < 100000 && fresh.take(edge_units(9)) != 0) {
    ++reused;
  }
  CHECK(reused >= before.expanded - after.expanded);
}

TEST_CASE("a chain of advances gives the same node count as a walk over the remaining tree") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Planted planted;
    Tree& tree = *planted.tree;
    planted.grow(tree.root(), 6, 8, seed);
    for (int step = 0; step < 8; ++step) {
      if (tree.root().num_children == 0) break;
      const int place = static_cast<int>(seed + static_cast<std::uint64_t>(step)) % 2;
      Node& kept = *child_at(tree.arena(), tree.root(), place);
      if ((seed + static_cast<std::uint64_t>(step)) % 3 == 0) kept.visits = 1U << 20;
      REQUIRE(tree.advance(kept.action));
      if (step % 3 == 0) wait_for_background();
    }
    wait_for_background();
    CHECK(search_test::check_tree(tree, false).nodes == tree.nodes());
  }
}

TEST_CASE(
    "nodes dropped by advance() are not counted, even before the background thread frees them") {
  for (const std::uint32_t visits : {1000U, 1U << 20}) {
    Planted planted;
    Tree& tree = *planted.tree;
    planted.grow(tree.root(), 9, 6, 1);
    Node& kept = *child_at(tree.arena(), tree.root(), 1);
    kept.visits = visits;
    REQUIRE(tree.advance(kept.action));
    const std::uint64_t reported = tree.nodes();
    const std::uint64_t counted = search_test::check_tree(tree, false).nodes;
    if (visits == 1000) CHECK(reported == counted);
    CHECK(reported <= std::max<std::uint64_t>(counted, visits));
    wait_for_background();
    CHECK(tree.nodes() == counted);
  }
}

TEST_CASE("a tree may be destroyed while the background thread still sorts its blocks") {
  for (int round = 0; round < 20; ++round) {
    Planted planted;
    planted.grow(planted.tree->root(), 8, 7, 1);
    planted.tree->advance(children_of(*planted.tree, planted.tree->root())[0]->action);
    planted.tree.reset();
  }
  wait_for_background();
}

TEST_CASE("advancing to an unevaluated child leaves an unevaluated root") {
  Planted planted;
  planted.grow(planted.tree->root(), 5, 1, 1);
  const auto kids = children_of(*planted.tree, planted.tree->root());
  REQUIRE(planted.tree->advance(kids[4]->action));
  wait_for_background();
  CHECK(planted.tree->root().state.load() == NodeState::fresh);
  CHECK(planted.tree->nodes() == 1);
}

}  // namespace
}  // namespace pyengine
