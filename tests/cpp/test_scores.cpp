/// Scores eight at a time against the portable loop.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "search/scores.h"

namespace pyengine {
namespace {

/// Nodes with every kind of statistics that a search leaves, values beyond 2^53 units included.
std::vector<Node> random_nodes(int count, std::uint64_t seed) {
  std::vector<Node> nodes(static_cast<std::size_t>(count));
  Rng rng(seed);
  for (Node& node : nodes) {
    node.visits = rng.below(4) == 0 ? 0U : rng.below(rng.below(2) == 0 ? 100U : 4'000'000'000U);
    node.in_flight = rng.below(3) == 0 ? rng.below(9) : 0U;
    const double mean = 2.0 * rng.uniform() - 1.0;
    node.value_sum = static_cast<std::int64_t>(mean * 0x1p24 * node.visits.load());
    node.prior = static_cast<PackedPrior>(rng.below(5) == 0 ? 0U : rng.below(0x10000U));
    const Proof proofs[] = {Proof::none, Proof::none, Proof::loss, Proof::draw, Proof::win};
    node.proof = proofs[rng.below(5)];
    node.action = static_cast<ActionId>(rng.below(0x10000U));
    node.state = NodeState::expanded;
    node.chooser = rng.below(2) & 1U;
    node.mover = rng.below(2) & 1U;
  }
  return nodes;
}

struct Scores {
  std::vector<double> scores;
  std::vector<int> unvisited;
  double visited_prior = 0.0;
};

Scores scores_by(ScoreNodes scorer, const std::vector<Node>& nodes, int count,
                 const ScoreTask& task) {
  Scores found;
  found.scores.resize(nodes.size());
  found.unvisited.reserve(nodes.size());
  found.visited_prior =
      scorer(nodes.data(), 1000, count, task, found.scores.data(), found.unvisited);
  found.scores.resize(static_cast<std::size_t>(count));
  return found;
}

TEST_CASE("scores of eight children at a time are bit for bit those of the portable loop") {
  const ScoreNodes wide = wide_score_nodes();
  if (wide == nullptr) {
    MESSAGE("SKIPPED: this processor or build has no AVX-512");
    return;
  }
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::vector<Node> nodes = random_nodes(208, seed);
    const int count = 1 + static_cast<int>(seed % 200);
    ScoreTask task{1.25 + static_cast<double>(seed) / 7, static_cast<double>(seed * 3 + 1)};
    if (seed % 2 == 1) task.loss = seed % 4 == 1 ? 1.0 : 0.3;
    if (seed % 3 != 0) task.lost = seed % 3 == 1 ? Proof::loss : Proof::win;
    const Scores eights = scores_by(wide, nodes, count, task);
    const Scores singles = scores_by(&score_nodes, nodes, count, task);
    CHECK(eights.scores == singles.scores);
    CHECK(eights.unvisited == singles.unvisited);
    CHECK(eights.visited_prior == singles.visited_prior);
  }
}

}  // namespace
}  // namespace pyengine
