#include "search/rules/forced.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "search/rules/select.h"

namespace pyengine {

Node* forced_child(Tree& tree, double k, bool solver) noexcept {
  const Node& root = tree.root();
  const double n = static_cast<double>(root.visits.load(std::memory_order_relaxed)) +
      root.in_flight.load(std::memory_order_relaxed);
  Node* found = nullptr;
  for_each_child(
      tree.arena(), root, root.num_children.load(std::memory_order_acquire), [&](Node& child) {
        if (found != nullptr) return;
        const std::uint32_t completed = child.visits.load(std::memory_order_relaxed);
        if (completed == 0) return;
        const double visits =
            static_cast<double>(completed) + child.in_flight.load(std::memory_order_relaxed);
        if (visits * visits >= k * unpack_prior(child.prior) * n) return;
        const Proof proof = child.proof.load(std::memory_order_relaxed);
        if (solver && is_lost_for(proof, root.mover)) return;
        found = &child;
      });
  return found;
}

std::vector<std::uint32_t> without_forced(const SearchResult& result, double k,
                                          const SearchConfig& config) {
  std::vector<std::uint32_t> visits = result.visits;
  const auto most = std::max_element(visits.begin(), visits.end());
  if (most == visits.end() || *most == 0) return visits;
  const auto best = static_cast<std::size_t>(most - visits.begin());
  const double total = std::accumulate(visits.begin(), visits.end(), 0.0);
  const double scale = exploration_rate(config, 1.0 + total) * std::sqrt(1.0 + total);
  const double goal =
      result.q[best] + scale * static_cast<double>(result.priors[best]) / (1.0 + visits[best]);
  for (std::size_t i = 0; i < visits.size(); ++i) {
    if (i == best || visits[i] == 0) continue;
    const double prior = result.priors[i];
    const double forced = std::floor(std::sqrt(k * prior * total));
    double least = std::max(0.0, visits[i] - forced);
    const double gap = goal - result.q[i];
    if (gap <= 0.0) continue;  // what it is worth speaks for it
    least = std::clamp(std::ceil(scale * prior / gap - 1.0), least, static_cast<double>(visits[i]));
    visits[i] = least <= 1.0 ? 0 : static_cast<std::uint32_t>(least);
  }
  return visits;
}

}  // namespace pyengine
