#include "search/rules/rule.h"

#include "search/rules/puct_rule.h"
#include "search/rules/ucb1.h"

namespace pyengine {

std::unique_ptr<Rule> make_rule(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::puct:
      return std::make_unique<PuctRule>();
    case Algorithm::gumbel:
      break;
    case Algorithm::uct:
    case Algorithm::flat_ucb:
      return std::make_unique<Ucb1Rule>();
  }
  return std::make_unique<PuctRule>();
}

}  // namespace pyengine
