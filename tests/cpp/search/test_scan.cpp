/// Every scan matches puct::score() bit for bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/rng.h"
#include "search/rules/scan.h"
#include "search/tree/tree.h"

namespace pyengine {
namespace {

/// A node whose children have every kind of statistics that a search produces, including values
/// beyond 2^53 units.
struct Family {
  std::shared_ptr<ChunkPool> pool = std::make_shared<ChunkPool>(4 * kChunkBytes);
  Tree tree{pool};
  Allocator allocator{tree.shared_arena()};
  int count;

  Family(int children, std::uint64_t seed) : count(children) {
    EvalLeaf leaf;
    leaf.equal_priors = true;
    for (int a = 0; a < children; ++a) leaf.legal.push_back(a);
    REQUIRE(tree.expand(allocator, tree.root(), leaf));
    Rng rng(seed);
    for (int i = 0; i < children; ++i) {
      bool full = false;
      Node* child = tree.create_child(allocator, tree.root(), full);
      REQUIRE(child != nullptr);
      fill(*child, rng);
    }
  }

  static void fill(Node& node, Rng& rng) {
    node.visits = rng.below(4) == 0 ? 0U : rng.below(rng.below(2) == 0 ? 100U : 4'000'000'000U);
    node.in_flight = rng.below(3) == 0 ? rng.below(9) : 0U;
    // Few distinct values, so there are ties.
    const double mean = rng.below(2) == 0 ? 0.5 : 2.0 * rng.uniform() - 1.0;
    node.value_sum = static_cast<std::int64_t>(mean * 0x1p24 * node.visits.load());
    node.prior = static_cast<PackedPrior>(rng.below(5) == 0 ? 0U : rng.below(0x10000U));
    const Proof proofs[] = {Proof::none, Proof::none, Proof::loss, Proof::draw, Proof::win};
    node.proof = proofs[rng.below(5)];
    node.state = NodeState::expanded;
    node.mover = rng.below(2) & 1U;
  }
};

puct::Parent parent_of(std::uint64_t seed) {
  puct::Parent parent{1.25 + static_cast<double>(seed) / 7, static_cast<double>(seed * 3 + 1)};
  if (seed % 2 == 1) parent.loss = seed % 4 == 1 ? 1.0 : 0.3;
  if (seed % 3 != 0) parent.lost = seed % 3 == 1 ? Proof::loss : Proof::win;
  return parent;
}

/// The result of a scan, computed with the scalar function.
Scan naive_scan(const Family& family, const puct::Parent& parent,
                std::vector<Unvisited>& unvisited) {
  Scan best;
  const Arena& arena = family.tree.arena();
  best.child = child_at(arena, family.tree.root(), 0);
  for (int place = 0; place < family.count; ++place) {
    Node* child = child_at(arena, family.tree.root(), place);
    if (child->visits != 0) best.visited_prior += unpack_prior(child->prior);
    const double score = puct::score_of(*child, parent, 0.0);
    const bool lost = parent.lost != Proof::none && child->proof == parent.lost;
    if (!lost && child->visits == 0 && (parent.loss == 0.0 || child->in_flight == 0)) {
      unvisited.push_back({place, score});
    } else if (score > best.score) {
      best.score = score;
      best.place = place;
      best.child = child;
    }
  }
  return best;
}

/// The scans available on this processor and in this build.
std::vector<ScanChildren> every_scan() {
  std::vector<ScanChildren> scans{&scan_children};
  for (const ScanChildren wide : {avx512_scan_children(), avx2_scan_children()}) {
    if (wide != nullptr) scans.push_back(wide);
  }
  return scans;
}

void check_equal(const Scan& a, const Scan& b) {
  CHECK(a.child == b.child);
  CHECK(a.place == b.place);
  CHECK(a.score == b.score);
  CHECK(a.visited_prior == b.visited_prior);
}

void check_against_naive(ScanChildren scan) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    CAPTURE(seed);
    const Family family(1 + static_cast<int>(seed < 300 ? seed % 20 : seed % 200), seed);
    const puct::Parent parent = parent_of(seed);
    std::vector<Unvisited> expected_unvisited;
    const Scan expected = naive_scan(family, parent, expected_unvisited);
    std::vector<Unvisited> unvisited;
    const Scan found =
        scan(family.tree.arena(), family.tree.root(), family.count, parent, unvisited);
    check_equal(found, expected);
    std::sort(unvisited.begin(), unvisited.end(),
              [](const Unvisited& a, const Unvisited& b) { return a.place < b.place; });
    REQUIRE(unvisited.size() == expected_unvisited.size());
    for (std::size_t i = 0; i < unvisited.size(); ++i) {
      CHECK(unvisited[i].place == expected_unvisited[i].place);
      CHECK(unvisited[i].bonus == expected_unvisited[i].bonus);
    }
  }
}

TEST_CASE("the portable scan matches puct::score() bit for bit") {
  check_against_naive(&scan_children);
}

TEST_CASE("the scan of eight children at a time matches puct::score() bit for bit") {
  if (avx512_scan_children() == nullptr) {
    MESSAGE("SKIPPED: this processor or build has no AVX-512");
    return;
  }
  check_against_naive(avx512_scan_children());
}

TEST_CASE("the scan of four children at a time matches puct::score() bit for bit") {
  if (avx2_scan_children() == nullptr) {
    MESSAGE("SKIPPED: this processor or build has no AVX2");
    return;
  }
  check_against_naive(avx2_scan_children());
}

TEST_CASE("the wide scan is the widest available") {
  const ScanChildren eights = avx512_scan_children();
  CHECK((wide_scan_children() == (eights != nullptr ? eights : avx2_scan_children())));
}

TEST_CASE("sums of values are rounded once, for any size and sign") {
  // One unit below, at and above what 53 bits represent exactly.
  const std::int64_t sums[] = {0,
                               -1,
                               (std::int64_t{1} << 31) - 1,
                               std::int64_t{1} << 32,
                               -(std::int64_t{1} << 32) - 1,
                               (std::int64_t{1} << 53) + 1,
                               -(std::int64_t{1} << 53) - 1,
                               (std::int64_t{1} << 54) + 3,
                               (std::int64_t{1} << 56) - 1,
                               -(std::int64_t{1} << 56) + 1};
  for (const std::int64_t sum : sums) {
    CAPTURE(sum);
    Family family(13, 1);
    for_each_child(family.tree.arena(), family.tree.root(), family.count, [](Node& child) {
      child.visits = 1;
      child.value_sum = -(std::int64_t{1} << 60);
    });
    child_at(family.tree.arena(), family.tree.root(), 12)->value_sum = sum;
    const puct::Parent parent{0.0, 2.0};
    std::vector<Unvisited> unvisited;
    const Scan expected = naive_scan(family, parent, unvisited);
    CHECK(expected.score == static_cast<double>(sum) * kValueUnit);
    for (const ScanChildren scan : every_scan()) {
      check_equal(scan(family.tree.arena(), family.tree.root(), family.count, parent, unvisited),
                  expected);
    }
    CHECK(unvisited.empty());
  }
}

TEST_CASE("if all children are lost, they score -infinity and the first is chosen") {
  Family family(30, 1);
  for_each_child(family.tree.arena(), family.tree.root(), 30,
                 [](Node& child) { child.proof = Proof::loss; });
  puct::Parent parent{1.0, 2.0};
  parent.lost = Proof::loss;
  for (const ScanChildren scan : every_scan()) {
    std::vector<Unvisited> unvisited;
    const Scan found = scan(family.tree.arena(), family.tree.root(), 30, parent, unvisited);
    CHECK(found.place == 0);
    CHECK(found.score == -std::numeric_limits<double>::infinity());
    CHECK(unvisited.empty());
  }
}

}  // namespace
}  // namespace pyengine
