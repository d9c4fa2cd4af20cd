#include "kept_evaluator.h"

#include "interpreter.h"

namespace pyengine::bindings {

KeptEvaluator::KeptEvaluator(const Pointer& made) : core_(core_of(made)), made_(keeper_of(made)) {}

KeptEvaluator::~KeptEvaluator() {
  drop(made_.release().ptr());
  for (py::object& part : parts_) drop(part.release().ptr());
}

int KeptEvaluator::traverse(const Visit& visit) const {
  if (const int stop = visit(made_)) return stop;
  for (const py::object& part : parts_) {
    if (const int stop = visit(part)) return stop;
  }
  return function_ ? function_->traverse(visit) : 0;
}

void KeptEvaluator::clear() {
  const py::object made = std::exchange(made_, {});
  const std::vector<py::object> parts = std::exchange(parts_, {});
  if (function_) function_->clear();
}

std::shared_ptr<Evaluator> core_of(const std::shared_ptr<Evaluator>& evaluator) {
  const auto* bound = dynamic_cast<const KeptEvaluator*>(evaluator.get());
  return bound == nullptr ? evaluator : bound->core();
}

py::object keeper_of(const std::shared_ptr<Evaluator>& evaluator) {
  const auto* bound = dynamic_cast<const KeptEvaluator*>(evaluator.get());
  return bound != nullptr && bound->made() ? bound->made() : py::cast(evaluator);
}

int traverse_evaluator(const Evaluator& evaluator, const Visit& visit) {
  const auto* bound = dynamic_cast<const KeptEvaluator*>(&evaluator);
  return bound == nullptr ? 0 : bound->traverse(visit);
}

void clear_evaluator(Evaluator& evaluator) {
  if (auto* bound = dynamic_cast<KeptEvaluator*>(&evaluator)) bound->clear();
}

}  // namespace pyengine::bindings
