#include "search/rules/rule.h"

#include "search/rules/gumbel_plan.h"
#include "search/rules/gumbel_rule.h"
#include "search/rules/puct_rule.h"
#include "search/rules/ucb1.h"

namespace pyengine {

std::unique_ptr<Rule> make_rule(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::puct:
      return std::make_unique<PuctRule>();
    case Algorithm::gumbel:
      return std::make_unique<GumbelRule>();
    case Algorithm::uct:
    case Algorithm::flat_ucb:
      return std::make_unique<Ucb1Rule>();
  }
  return std::make_unique<PuctRule>();
}

std::unique_ptr<RootPlan> make_root_plan(const SearchConfig& config, Tree& tree,
                                         std::uint64_t budget, Rng& rng) {
  if (config.algorithm != Algorithm::gumbel) return nullptr;
  return make_gumbel_plan(config, tree, budget, rng);
}

}  // namespace pyengine
