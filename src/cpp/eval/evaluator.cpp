#include "eval/evaluator.h"

namespace pyengine {

EvalBatch::EvalBatch(int rows)
    : leaves(static_cast<std::size_t>(rows)),
      capacity(rows),
      bytes(static_cast<std::size_t>(rows) * sizeof(EvalLeaf)) {}

void EvalBatch::forget_positions() noexcept {
  for (EvalLeaf& leaf : leaves) leaf.position.reset();
}

std::unique_ptr<EvalBatch> BoundEvaluator::make_batch(int capacity) {
  return std::make_unique<EvalBatch>(capacity);
}

}  // namespace pyengine
