/// PuctRule against the formula of docs/search-rules.md, "PUCT", over all legal actions.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "random_node.h"
#include "search/rules/open_moves.h"
#include "search/rules/puct_rule.h"
#include "search_fixtures.h"

namespace pyengine {
namespace {

using Choice = Selection::Outcome;
using search_test::mixed;
using search_test::RandomNode;
using search_test::unit;

struct Candidate {
  double score;
  Edge edge;
};

/// Q of one child, for the player to move at the node.
double q_of(const SearchConfig& config, const Node& child, double first_play) {
  const double visits = child.visits.load();
  const double sum = static_cast<double>(child.value_sum.load()) * 0x1p-24;
  const double losses = config.collision == CollisionRule::virtual_loss
      ? config.virtual_loss * child.in_flight.load()
      : 0.0;
  return visits + losses == 0.0 ? first_play : (sum - losses) / (visits + losses);
}

/// The action that the formula selects among all legal ones.
int naive_choice(const RandomNode& c) {
  const Node& root = c.tree.root();
  const auto edges = c.tree.edges(root);
  std::vector<const Node*> children;
  for_each_child(c.tree.arena(), root, root.num_children.load(),
                 [&](const Node& child) { children.push_back(&child); });
  const double n = static_cast<double>(root.visits.load()) + root.in_flight.load();
  double visited = 0.0;
  for (const Node* child : children) {
    if (child->visits.load() > 0) visited += unpack_prior(child->prior);
  }
  double value = static_cast<double>(root.value_sum.load()) * 0x1p-24 / root.visits.load();
  if (root.chooser != root.mover) value = -value;
  double first_play = c.config.fpu_value;
  if (c.config.fpu == FirstPlay::parent) first_play = value;
  if (c.config.fpu == FirstPlay::reduction) {
    first_play = value - c.config.fpu_value * std::sqrt(visited);
  }
  double rate = c.config.c_puct;
  if (c.config.c_puct_base) {
    const double base = *c.config.c_puct_base;
    rate = c.config.c_puct + c.config.c_puct_factor * std::log((1.0 + n + base) / base);
  }
  std::optional<Candidate> best;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Node* child = i < children.size() ? children[i] : nullptr;
    const double total = child == nullptr
        ? 0.0
        : static_cast<double>(child->visits.load()) + child->in_flight.load();
    double q = child == nullptr ? first_play : q_of(c.config, *child, first_play);
    if (child != nullptr && c.config.solver && child->proof.load() == loss_of(root.mover)) {
      q = -std::numeric_limits<double>::infinity();
    }
    const double score = q + rate * unpack_prior(edges[i].prior()) * std::sqrt(n) / (1.0 + total);
    if (!best || score > best->score || (score == best->score && edges[i] < best->edge)) {
      best = {score, edges[i]};
    }
  }
  return best->edge.action();
}

int chosen_by(ScanChildren wide, RandomNode& c) {
  PuctRule rule(wide);
  rule.configure(c.config);
  const Selection selection = rule.choose_at_root(c.tree, {c.config}, true);
  REQUIRE(selection.outcome != Choice::nothing);
  CHECK((selection.child != nullptr) == (selection.outcome == Choice::child));
  if (selection.child != nullptr) return selection.child->action;
  const int next = c.tree.root().num_children.load();
  return c.tree.edges(c.tree.root())[static_cast<std::size_t>(next)].action();
}

/// The choice, which must be the same for the portable and the wide scan.
int chosen(RandomNode& c) {
  const int portable = chosen_by(nullptr, c);
  CHECK(chosen_by(wide_scan_children(), c) == portable);
  return portable;
}

void set_formula(SearchConfig& config, std::uint64_t i) {
  config.fpu = static_cast<FirstPlay>(i % 3);
  config.fpu_value = i % 5 == 0 ? -1.0 : 0.25;
  config.collision = static_cast<CollisionRule>(i / 3 % 2);
  config.virtual_loss = i % 7 == 0 ? 3.0 : 1.0;
  if (i % 4 == 0) config.c_puct_base.reset();
  if (i % 4 == 1) config.c_puct_base = 100.0;
  config.c_puct_factor = i % 2 == 0 ? 1.0 : 2.0;
}

TEST_CASE("the selected child is the one that maximises the formula over all legal actions") {
  for (std::uint64_t i = 0; i < 3000; ++i) {
    CAPTURE(i);
    const int actions = 1 + static_cast<int>(mixed(i) % 40);
    const int children = static_cast<int>(mixed(i + 1) % static_cast<std::uint64_t>(actions + 1));
    RandomNode c(actions, children, i, i % 3 == 0);
    set_formula(c.config, i);
    REQUIRE(chosen(c) == naive_choice(c));
  }
}

TEST_CASE("the choice is right among 400 children, if all are visited or all but one") {
  for (std::uint64_t i = 0; i < 60; ++i) {
    CAPTURE(i);
    RandomNode c(400, i % 2 == 0 ? 400 : 399, i, i % 4 == 0);
    set_formula(c.config, i);
    REQUIRE(chosen(c) == naive_choice(c));
  }
}

TEST_CASE("at a root with noise, ties go to the larger prior, then to the smaller action") {
  for (std::uint64_t i = 0; i < 1500; ++i) {
    CAPTURE(i);
    const int actions = 2 + static_cast<int>(mixed(i) % 20);
    RandomNode c(actions, static_cast<int>(mixed(i + 1) % static_cast<std::uint64_t>(actions + 1)),
                 i, true);
    set_formula(c.config, i);
    std::vector<double> noise(static_cast<std::size_t>(actions));
    for (std::size_t a = 0; a < noise.size(); ++a) noise[a] = std::ceil(unit(i + a * 31) * 3) / 16;
    search_test::mix_noise(c.tree, noise, 0.5);
    REQUIRE(chosen(c) == naive_choice(c));
  }
}

TEST_CASE("with the solver a lost move is selected only if no other is left") {
  for (std::uint64_t i = 0; i < 500; ++i) {
    CAPTURE(i);
    RandomNode c(10, 10, i, i % 3 == 0);
    const int keep = static_cast<int>(mixed(i) % 11);  // 10: all are lost
    int place = 0;
    for_each_child(c.tree.arena(), c.tree.root(), 10, [&](Node& child) {
      const Proof lost = c.tree.root().mover == 0 ? Proof::loss : Proof::win;
      if (place++ != keep) child.proof = lost;
    });
    const int choice = chosen(c);
    if (keep < 10) {
      CHECK(choice == c.tree.edges(c.tree.root())[static_cast<std::size_t>(keep)].action());
    }
    c.config.solver = false;
    CHECK(chosen(c) == naive_choice(c));
  }
}

TEST_CASE("virtual visits and virtual losses differ only in Q") {
  RandomNode c(2, 1, 4, false);
  Node* child = nullptr;
  for_each_child(c.tree.arena(), c.tree.root(), 1, [&](Node& node) { child = &node; });
  child->visits = 4;
  child->value_sum = 4 << 24;
  child->in_flight = 2;
  c.config.c_puct = 1e-9;
  c.config.c_puct_base.reset();
  c.config.fpu = FirstPlay::value;
  c.config.fpu_value = 0.5;
  CHECK(chosen(c) == child->action);  // 4 / 4
  c.config.collision = CollisionRule::virtual_loss;
  CHECK(chosen(c) != child->action);  // (4 - 2) / 6
}

TEST_CASE("among unproven moves PUCT's choice is taken, and none if all are proven") {
  for (std::uint64_t i = 0; i < 500; ++i) {
    CAPTURE(i);
    RandomNode c(12, i % 2 == 0 ? 12 : 9, i, false);
    c.config.solver = false;
    for_each_child(c.tree.arena(), c.tree.root(), c.tree.root().num_children.load(),
                   [](Node& child) { child.in_flight = 0; });
    const int best = naive_choice(c);
    const Selection open =
        choose_open_move(c.config, c.tree, c.tree.root(), puct::visits_of(c.tree.root()), true);
    REQUIRE(open.outcome != Choice::nothing);
    if (open.child != nullptr) {
      CHECK(open.child->action == best);
      open.child->proof = Proof::draw;
      const Selection next =
          choose_open_move(c.config, c.tree, c.tree.root(), puct::visits_of(c.tree.root()), true);
      CHECK(next.child != open.child);
    }
    for_each_child(c.tree.arena(), c.tree.root(), c.tree.root().num_children.load(),
                   [](Node& child) { child.proof = Proof::draw; });
    CHECK(choose_open_move(c.config, c.tree, c.tree.root(), puct::visits_of(c.tree.root()), true)
              .outcome == (i % 2 == 0 ? Choice::nothing : Choice::new_child));
    CHECK(choose_open_move(c.config, c.tree, c.tree.root(), puct::visits_of(c.tree.root()), false)
              .outcome == Choice::nothing);
  }
}

TEST_CASE("exploration follows the standard deviation, shrunk towards 0.4") {
  struct Case {
    double mean, mean_square, visits, factor;
  };
  const Case cases[] = {
      {0.3, 0.09, 1, 1.0},  // a single value says nothing
      {0.0, 0.16, 2, 1.0 + 0.5 * (std::sqrt(0.64 / 3) / 0.4 - 1.0)},
      {0.0, 1.0, 1e9, 1.75},  // s = 1
      {0.5, 0.25, 1e9, 0.5},  // s = 0
      {0.5, 0.2, 1e9, 0.5},   // rounding: never below 0
  };
  SearchConfig config;
  config.c_puct_stdev = 0.5;
  for (const Case& c : cases) {
    CHECK(puct::stdev_factor(config, c.mean, c.mean_square, c.visits) ==
          doctest::Approx(c.factor).epsilon(1e-4));
  }
}

TEST_CASE("nothing is selected if there is no child and none may be created") {
  RandomNode c(5, 0, 1, false);
  PuctRule rule;
  rule.configure(c.config);
  CHECK(rule.choose(c.tree, c.tree.root(), false).outcome == Choice::nothing);
  CHECK(rule.choose(c.tree, c.tree.root(), true).outcome == Choice::new_child);
}

TEST_CASE("the exploration rate follows changes of its constants") {
  PuctRule rule;
  RandomNode c(30, 20, 5, false);
  for (const double c_puct : {0.1, 5.0, 0.1}) {
    c.config.c_puct = c_puct;
    rule.configure(c.config);
    const Selection selection = rule.choose(c.tree, c.tree.root(), true);
    const int action = selection.child != nullptr
        ? selection.child->action
        : c.tree.edges(c.tree.root())[static_cast<std::size_t>(20)].action();
    CHECK(action == naive_choice(c));
  }
}

}  // namespace
}  // namespace pyengine
