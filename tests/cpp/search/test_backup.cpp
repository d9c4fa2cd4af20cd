/// Back-ups along a path, marks, and proofs propagated to the root.
#include <doctest/doctest.h>

#include <memory>
#include <thread>
#include <vector>

#include "chain.h"
#include "search/tree/backup.h"
#include "search_fixtures.h"

namespace pyengine {
namespace {

using search_test::Chain;

TEST_CASE(
    "a value counts for the player who moved to the node, even if a player moves twice in a row") {
  Chain chain({0, 0, 1, 1, 0});
  back_up<Sharing::exclusive>(chain.path, 0.5F);
  CHECK(chain.mean(0) == -0.5);  // nobody moved here; by convention, the other player
  CHECK(chain.mean(1) == 0.5);   // player 0 moved here
  CHECK(chain.mean(2) == 0.5);   // and again
  CHECK(chain.mean(3) == -0.5);
  CHECK(chain.mean(4) == -0.5);
  back_up<Sharing::shared>(chain.path, -1.0F);
  CHECK(chain.mean(1) == -0.25);
  CHECK(chain.nodes[4]->visits.load() == 2);
}

TEST_CASE("if PUCT selected a known draw, the nodes above get the draw instead of the value") {
  Chain chain({0, 1, 0, 1});
  back_up<Sharing::shared>(chain.path, 1.0F, 2);
  for (const auto& node : chain.nodes) CHECK(node->visits.load() == 1);
  CHECK(chain.mean(0) == 0.0);
  CHECK(chain.mean(1) == 0.0);
  CHECK(chain.mean(2) == -1.0);
  CHECK(chain.mean(3) == 1.0);
  back_up_draw<Sharing::shared>(chain.path, {1.0F, 0.25F, 2});
  CHECK(chain.mean(0) == -0.25);
  CHECK(chain.mean(1) == 0.25);
  CHECK(chain.mean(2) == -1.0);
}

TEST_CASE("unmarking removes exactly the marks that were added") {
  Chain chain({0, 1, 0});
  mark<Sharing::shared>(chain.path);
  mark<Sharing::exclusive>(chain.path);
  CHECK(chain.nodes[2]->in_flight.load() == 2);
  unmark<Sharing::exclusive>(chain.path);
  unmark<Sharing::shared>(chain.path);
  for (const auto& node : chain.nodes) CHECK(node->in_flight.load() == 0);
}

/// A root with `counts.size()` moves and counts[i] moves below move i; 0 = not expanded.
struct Bush {
  std::shared_ptr<ChunkPool> pool = std::make_shared<ChunkPool>(4 * kChunkBytes);
  Tree tree{pool};
  Allocator allocator{tree.shared_arena()};
  std::vector<Node*> children;
  std::vector<std::vector<Node*>> grandchildren;

  Bush(const std::vector<int>& counts, int root_mover, int child_mover) {
    expand(tree.root(), static_cast<int>(counts.size()), root_mover);
    for (const int count : counts) {
      children.push_back(create(tree.root()));
      grandchildren.emplace_back();
      if (count == 0) continue;
      expand(*children.back(), count, child_mover);
      for (int i = 0; i < count; ++i) grandchildren.back().push_back(create(*children.back()));
    }
  }
  void expand(Node& node, int actions, int mover) {
    EvalLeaf leaf;
    leaf.to_move = mover;
    leaf.equal_priors = true;
    for (int a = 0; a < actions; ++a) leaf.legal.push_back(a);
    REQUIRE(tree.expand(allocator, node, leaf));
  }
  Node* create(Node& parent) {
    bool full = false;
    return tree.create_child(allocator, parent, full);
  }
  void over(std::size_t i, std::size_t j, float value_for_first) {
    prove(tree, {&tree.root(), children[i], grandchildren[i][j]}, value_for_first);
  }
};

TEST_CASE("one winning move proves a node even if other moves are not evaluated") {
  Bush bush({3, 3}, 0, 1);
  bush.over(0, 1, -1.0F);  // player 1 is to move at the child and wins
  CHECK(bush.children[0]->proof.load() == Proof::loss);
  CHECK(bush.tree.root().proof.load() == Proof::none);
  bush.over(1, 0, -1.0F);
  CHECK(bush.tree.root().proof.load() == Proof::loss);  // both moves of player 0 lose
}

TEST_CASE("a loss or draw is proven only by all moves, and the best of them counts") {
  Bush bush({3}, 0, 1);
  bush.over(0, 0, 1.0F);
  bush.over(0, 1, 0.0F);
  CHECK(bush.children[0]->proof.load() == Proof::none);
  bush.over(0, 2, 1.0F);
  CHECK(bush.children[0]->proof.load() == Proof::draw);  // player 1 takes the draw
  CHECK(bush.tree.root().proof.load() == Proof::draw);
}

TEST_CASE("if a player moves twice in a row, that player chooses at both nodes") {
  Bush bush({2, 2}, 0, 0);
  bush.over(0, 1, 1.0F);
  CHECK(bush.children[0]->proof.load() == Proof::win);
  CHECK(bush.tree.root().proof.load() == Proof::win);
}

TEST_CASE("a node with moves that have no child is not proven lost") {
  Bush bush({0}, 0, 1);
  Tree& tree = bush.tree;
  bush.expand(*bush.children[0], 3, 1);
  Node* first = bush.create(*bush.children[0]);
  Node* second = bush.create(*bush.children[0]);
  prove(tree, {&tree.root(), bush.children[0], first}, 1.0F);
  prove(tree, {&tree.root(), bush.children[0], second}, 1.0F);
  CHECK(bush.children[0]->proof.load() == Proof::none);
}

TEST_CASE("an outcome between win and draw proves nothing") {
  Bush bush({1}, 0, 1);
  bush.over(0, 0, 0.5F);
  CHECK(bush.grandchildren[0][0]->proof.load() == Proof::none);
  CHECK(bush.tree.root().proof.load() == Proof::none);
}

TEST_SUITE("concurrent") {
  TEST_CASE("if two workers prove the last two moves, exactly one of them proves the node") {
    for (int round = 0; round < 300; ++round) {
      Bush bush({2}, 0, 1);
      std::thread other([&] { bush.over(0, 0, 1.0F); });
      bush.over(0, 1, 1.0F);
      other.join();
      REQUIRE(bush.children[0]->proof.load() == Proof::win);
      REQUIRE(bush.tree.root().proof.load() == Proof::win);
    }
  }

  TEST_CASE("concurrent back-ups lose no visit") {
    Chain chain({0, 1, 0, 1});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5000; ++i) {
          mark<Sharing::shared>(chain.path);
          back_up<Sharing::shared>(chain.path, i % 2 == 0 ? 1.0F : -0.5F);
          unmark<Sharing::shared>(chain.path);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& node : chain.nodes) {
      CHECK(node->visits.load() == 20000);
      CHECK(node->in_flight.load() == 0);
      CHECK(std::abs(node->mean_for_chooser()) == 0.25);
    }
  }
}

}  // namespace
}  // namespace pyengine
