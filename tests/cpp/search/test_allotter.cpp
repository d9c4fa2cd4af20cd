/// Distributing many visits among a node's moves at once, compared with one at a time.
#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "random_node.h"
#include "search/rules/puct_allotter.h"
#include "search/rules/puct_rule.h"
#include "search_fixtures.h"

namespace pyengine {
namespace {

using search_test::mixed;
using search_test::RandomNode;

/// Visits by action.
using Counts = std::map<int, std::uint32_t>;

void set_kind(SearchConfig& config, std::uint64_t i) {
  config.fpu = static_cast<FirstPlay>(i % 3);
  config.fpu_value = i % 5 == 0 ? -1.0 : 0.25;
  config.collision = static_cast<CollisionRule>(i / 3 % 2);
  config.virtual_loss = i % 7 == 0 ? 3.0 : 1.0;
}

puct::Parent parent_of(const RandomNode& c) {
  const Node& root = c.tree.root();
  const double n = puct::visits_of(root);
  puct::Parent parent{puct::exploration_rate(c.config, n), puct::growth(c.config, n)};
  if (c.config.collision == CollisionRule::virtual_loss) parent.loss = c.config.virtual_loss;
  if (c.config.solver) parent.lost = loss_of(root.mover);
  return parent;
}

/// The allotments by action, for children and for the edges that come next.
Counts counts_of(const RandomNode& c, const std::vector<Allotment>& given) {
  const auto edges = c.tree.edges(c.tree.root());
  auto next = static_cast<std::size_t>(c.tree.root().num_children.load());
  Counts counts;
  for (const Allotment& one : given) {
    const int action = one.to.child != nullptr ? one.to.child->action : edges[next++].action();
    CHECK(counts[action] == 0);
    counts[action] += one.visits;
  }
  return counts;
}

Counts at_once(RandomNode& c, std::uint32_t visits) {
  PuctAllotter allotter;
  std::vector<Allotment> given;
  allotter.read(c.tree, c.tree.root(), c.config, parent_of(c), true);
  allotter.allot(visits, given);
  return counts_of(c, given);
}

/// PUCT's choices one at a time. Each leaves a leaf in flight, which does not count in n.
Counts one_by_one(RandomNode& c, std::uint32_t visits) {
  PuctRule rule;
  rule.configure(c.config);
  Counts counts;
  for (std::uint32_t i = 0; i < visits; ++i) {
    const Selection chosen = rule.choose_at_root(c.tree, {c.config}, true);
    Node* child = chosen.child;
    bool full = false;
    if (child == nullptr) child = c.tree.create_child(c.allocator, c.tree.root(), full);
    REQUIRE(child != nullptr);
    ++child->in_flight;
    ++counts[child->action];
  }
  return counts;
}

TEST_CASE("visits distributed at once are those that PUCT distributes one at a time") {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    CAPTURE(i);
    const int actions = 1 + static_cast<int>(mixed(i) % 40);
    const int children = static_cast<int>(mixed(i + 1) % static_cast<std::uint64_t>(actions + 1));
    const auto visits = static_cast<std::uint32_t>(1 + mixed(i + 2) % 60);
    RandomNode c(actions, children, i, i % 3 == 0);
    set_kind(c.config, i);
    const Counts given = at_once(c, visits);
    CHECK(given == one_by_one(c, visits));
  }
}

TEST_CASE("if no child may be created, the visits go to the existing children") {
  RandomNode c(30, 5, 1, false);
  PuctAllotter allotter;
  std::vector<Allotment> given;
  allotter.read(c.tree, c.tree.root(), c.config, parent_of(c), false);
  CHECK(allotter.allot(100, given));
  std::uint32_t sum = 0;
  for (const Allotment& one : given) {
    CHECK(one.to.child != nullptr);
    sum += one.visits;
  }
  CHECK(sum == 100);
  RandomNode none(30, 0, 1, false);
  given.clear();
  allotter.read(none.tree, none.tree.root(), none.config, parent_of(none), false);
  CHECK_FALSE(allotter.allot(100, given));
  CHECK(given.empty());
}

TEST_CASE("a lost move gets no visit, and a known draw is left to the solver") {
  for (std::uint64_t i = 0; i < 200; ++i) {
    CAPTURE(i);
    RandomNode c(10, 10, i, false);
    c.config.solver = true;
    const int keep = static_cast<int>(mixed(i) % 12);  // 10 and 11: no move
    int place = 0;
    for_each_child(c.tree.arena(), c.tree.root(), 10, [&](Node& child) {
      child.proof = place == keep ? Proof::none : loss_of(c.tree.root().mover);
      if (place == keep && i % 2 == 0) child.proof = Proof::draw;
      ++place;
    });
    const Counts given = at_once(c, 20);
    if (keep >= 10 || i % 2 == 0) {
      CHECK(given.empty());
    } else {
      REQUIRE(given.size() == 1);
      CHECK(given.begin()->second == 20);
    }
  }
}

TEST_CASE("a rule distributes few visits at once if n is small, and at least one") {
  RandomNode c(30, 5, 3, false);
  Node& root = c.tree.root();
  PuctRule rule;
  rule.configure(c.config);
  const auto given_by = [&](std::uint32_t n) {
    root.visits = n;
    root.in_flight = 100;
    std::vector<Allotment> given;
    rule.allot(c.tree, root, {c.config}, 100, true, given);
    std::uint32_t sum = 0;
    for (const Allotment& one : given) sum += one.visits;
    return sum;
  };
  CHECK(given_by(1) == 1);
  CHECK(given_by(160) == 10);
  CHECK(given_by(1600) == 100);
  CHECK(given_by(16000) == 100);
}

TEST_CASE("walks that reach a root together follow its own constants") {
  for (std::uint64_t i = 0; i < 100; ++i) {
    CAPTURE(i);
    const auto given_with = [&](const SearchConfig& config) {
      RandomNode c(30, 20, i, false);
      c.tree.root().visits = 10000;
      c.tree.root().in_flight = 40;
      PuctRule rule;
      rule.configure(config);
      std::vector<Allotment> given;
      rule.allot(c.tree, c.tree.root(), {config}, 40, true, given);
      Counts counts;
      for (const Allotment& one : given) {
        counts[one.to.child != nullptr ? one.to.child->action : -1] = one.visits;
      }
      return counts;
    };
    SearchConfig config;
    config.solver = false;
    config.root_c_puct = 4.0;
    config.root_fpu_value = -0.5;
    CHECK(given_with(config) == given_with(at_root(config)));
  }
}

TEST_CASE("walks waiting at a node do not count as its visits") {
  for (std::uint64_t i = 0; i < 300; ++i) {
    CAPTURE(i);
    RandomNode c(30, 20, i, false);
    c.tree.root().visits = 10;
    PuctRule rule;
    rule.configure(c.config);
    const Selection before = rule.choose_at_root(c.tree, {c.config}, true);
    c.tree.root().in_flight += 50;
    std::vector<Allotment> given;
    rule.allot(c.tree, c.tree.root(), {c.config}, 50, true, given);
    REQUIRE(given.size() == 1);
    CHECK(given[0].visits == 1);
    CHECK(given[0].to.child == before.child);
    CHECK(given[0].to.outcome == before.outcome);
  }
}

TEST_CASE("one in four walks that reach a root together skips a known draw") {
  for (const std::uint32_t walks : {16U, 17U, 64U}) {
    CAPTURE(walks);
    RandomNode c(10, 10, 5, false);
    c.config.solver = true;
    Node& root = c.tree.root();
    root.visits = 1000;
    Node& draw = *child_at(c.tree.arena(), root, 0);
    draw.visits = 500;
    draw.value_sum = std::int64_t{500} << 24;
    draw.proof = Proof::draw;
    root.in_flight = walks;
    PuctRule rule;
    rule.configure(c.config);
    std::uint32_t passed = 0;
    for (std::uint32_t left = walks; left > 0; --left) {
      std::vector<Allotment> given;
      rule.allot(c.tree, root, {c.config}, left, true, given);
      REQUIRE(given.size() == 1);
      REQUIRE(given[0].visits == 1);
      passed += given[0].to.by_turns ? 1U : 0U;
      CHECK((given[0].to.child == &draw) == !given[0].to.by_turns);
    }
    CHECK(passed == (walks + 3) / 4);
  }
}

TEST_CASE("visits are distributed until a known draw comes up") {
  int cases = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    CAPTURE(i);
    constexpr std::uint32_t kVisits = 20;
    RandomNode c(10, 10, i, false);
    std::vector<int> order;  // PUCT's choices
    {
      RandomNode same(10, 10, i, false);
      for (std::uint32_t k = 0; k < kVisits; ++k) {
        order.push_back(one_by_one(same, 1).begin()->first);
      }
    }
    const int draw = order.back();
    c.config.solver = true;
    for_each_child(c.tree.arena(), c.tree.root(), 10, [&](Node& child) {
      if (child.action == draw) child.proof = Proof::draw;
    });
    Counts expected;
    for (const int action : order) {
      if (action == draw) break;
      ++expected[action];
    }
    cases += expected.empty() ? 0 : 1;
    CHECK(at_once(c, kVisits) == expected);
  }
  CHECK(cases > 20);
}

}  // namespace
}  // namespace pyengine
