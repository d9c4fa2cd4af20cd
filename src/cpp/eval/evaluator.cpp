#include "eval/evaluator.h"

namespace pyengine {

std::unique_ptr<EvalBatch> BoundEvaluator::make_batch(int capacity) {
  auto batch = std::make_unique<EvalBatch>();
  batch->leaves.resize(static_cast<std::size_t>(capacity));
  batch->rows.reserve(static_cast<std::size_t>(capacity));
  batch->capacity = capacity;
  batch->bytes = static_cast<std::size_t>(capacity) * (sizeof(EvalLeaf) + sizeof(EvalRow));
  return batch;
}

}  // namespace pyengine
