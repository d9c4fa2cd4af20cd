#include "selfplay/policy_target.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "search/rules/puct.h"

namespace pyengine {

std::vector<std::uint32_t> without_forced(const SearchResult& result, double k,
                                          const SearchConfig& config) {
  std::vector<std::uint32_t> visits = result.visits;
  const auto most = std::max_element(visits.begin(), visits.end());
  if (most == visits.end() || *most == 0) return visits;
  const auto best = static_cast<std::size_t>(most - visits.begin());
  const double total = std::accumulate(visits.begin(), visits.end(), 0.0);
  const double n = 1.0 + total;
  const double rate = puct::exploration_rate(at_root(config), n) * result.root.stdev_factor;
  const puct::Parent root = puct::with_one_factor({rate, puct::growth(config, n)});
  const double goal = result.q[best] + puct::bonus(root, result.priors[best], visits[best]);
  for (std::size_t i = 0; i < visits.size(); ++i) {
    if (i == best || visits[i] == 0) continue;
    const double prior = result.priors[i];
    const double forced = std::floor(std::sqrt(k * prior * total));
    const double least = std::max(0.0, visits[i] - forced);
    const double gap = goal - result.q[i];
    if (gap <= 0.0) continue;  // PUCT chooses the move for its value alone
    const double remaining = std::clamp(std::ceil(puct::visits_at(root, prior, gap)), least,
                                        static_cast<double>(visits[i]));
    visits[i] = remaining <= 1.0 ? 0 : static_cast<std::uint32_t>(remaining);
  }
  return visits;
}

namespace {

std::vector<std::uint32_t> improved_policy_in_units(const SearchResult& result) {
  const std::vector<double> weights = improved_policy_of_good_moves(result);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::uint32_t> units(weights.size());
  std::transform(weights.begin(), weights.end(), units.begin(), [&](double weight) {
    return static_cast<std::uint32_t>(std::lround(kPolicyUnits * weight / total));
  });
  return units;
}

std::vector<std::uint32_t> visits_taught(const SearchResult& result, const SearchConfig& config) {
  if (config.algorithm == Algorithm::gumbel) return improved_policy_in_units(result);
  if (config.forced_playouts == 0.0) return visits_of_good_moves(result);
  SearchResult good = result;
  good.visits = visits_of_good_moves(result);
  return without_forced(good, config.forced_playouts, config);
}

/// One visit for each selected move.
template <typename Entry>
std::vector<std::uint32_t> once_where(const std::vector<Entry>& of_moves, Entry selected) {
  std::vector<std::uint32_t> visits(of_moves.size());
  std::transform(of_moves.begin(), of_moves.end(), visits.begin(),
                 [&](Entry entry) { return entry == selected ? 1U : 0U; });
  return visits;
}

}  // namespace

std::vector<std::uint32_t> policy_target(const SearchResult& result, const SearchConfig& config,
                                         std::uint64_t least) {
  if (result.proven == 1) return once_where(result.actions, result.action);
  std::vector<std::uint32_t> target = visits_taught(result, config);
  const auto total = std::accumulate(target.begin(), target.end(), std::uint64_t{0});
  if (result.proven == 0 && total < least) return once_where(result.proofs, std::int8_t{0});
  return target;
}

bool compares_too_little(const SearchResult& result, const SearchConfig& config,
                         std::uint64_t least) {
  if (result.proven || config.algorithm == Algorithm::gumbel) return false;
  const std::vector<std::uint32_t> good = visits_of_good_moves(result);
  const auto compared = std::accumulate(good.begin(), good.end(), std::uint64_t{0});
  const auto all = std::accumulate(result.visits.begin(), result.visits.end(), std::uint64_t{0});
  return compared < least && 2 * compared < all;
}

double policy_surprise(const SearchResult& result, const std::vector<std::uint32_t>& target,
                       std::vector<Edge> priors) {
  constexpr double kLeast = 0x1p-32;  // prior of an edge that is stored as 0
  std::sort(priors.begin(), priors.end(),
            [](Edge a, Edge b) { return a.action() < b.action(); });  // the order of result.actions
  const double total = std::accumulate(target.begin(), target.end(), 0.0);
  double surprise = 0.0;
  for (std::size_t i = 0; i < result.actions.size(); ++i) {
    if (target[i] == 0) continue;
    const double share = target[i] / total;
    const double prior = std::max<double>(unpack_prior(priors[i].prior()), kLeast);
    surprise += share * std::log(share / prior);
  }
  return std::max(0.0, surprise);
}

Action taught_move(const SearchResult& result, const std::vector<std::uint32_t>& target,
                   const SearchConfig& config, Rng rng) {
  const bool drawn = config.forced_playouts > 0.0 && config.temperature > 0.0 && result.proven != 1;
  if (!drawn) return result.action;
  const std::vector<double> weights(target.begin(), target.end());
  const std::vector<double> chances = at_temperature(weights, config.temperature);
  return result.actions[draw(chances, rng.uniform())];
}

}  // namespace pyengine
