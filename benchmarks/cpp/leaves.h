/// Evaluated leaves, as an evaluator gives them to the search.
#pragma once

#include <cstdint>

#include "base/rng.h"
#include "eval/evaluator.h"

namespace pyengine::bench {

/// An evaluated leaf with `actions` legal actions.
inline EvalLeaf leaf_with(int actions, bool equal_priors, std::uint64_t seed = 3) {
  EvalLeaf leaf;
  Rng rng(seed);
  double total = 0.0;
  for (int a = 0; a < actions; ++a) {
    leaf.legal.push_back(a);
    leaf.priors.push_back(static_cast<float>(rng.gamma(0.3)));
    total += leaf.priors.back();
  }
  for (float& prior : leaf.priors) prior = static_cast<float>(prior / total);
  leaf.equal_priors = equal_priors;
  return leaf;
}

}  // namespace pyengine::bench
