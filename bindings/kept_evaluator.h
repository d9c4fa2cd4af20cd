/// A Python evaluator with the references that the garbage collector must see.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "callback_function.h"
#include "collected.h"
#include "eval/evaluator.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// Engines use core(), and keep the result of keeper_of() alive while they do.
class KeptEvaluator final : public Evaluator {
 public:
  using Pointer = std::shared_ptr<Evaluator>;

  /// An evaluator that calls `function`.
  KeptEvaluator(Pointer core, CallbackFunction function)
      : core_(std::move(core)), function_(std::move(function)) {}
  /// An evaluator that consists of other evaluators.
  KeptEvaluator(Pointer core, std::vector<py::object> parts)
      : core_(std::move(core)), parts_(std::move(parts)) {}
  /// The evaluator of a Python subclass; equivalent to `made`.
  explicit KeptEvaluator(const Pointer& made);
  ~KeptEvaluator() override;
  KeptEvaluator(const KeptEvaluator&) = delete;
  KeptEvaluator& operator=(const KeptEvaluator&) = delete;

  [[nodiscard]] int device_batches() const noexcept override { return core_->device_batches(); }
  [[nodiscard]] std::string provider() const override { return core_->provider(); }
  [[nodiscard]] std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                                     const BindOptions& options) override {
    return core_->bind(std::move(game), options);
  }

  [[nodiscard]] const Pointer& core() const noexcept { return core_; }
  [[nodiscard]] const py::object& made() const noexcept { return made_; }
  [[nodiscard]] int traverse(const Visit& visit) const;
  void clear();

 private:
  Pointer core_;
  std::optional<CallbackFunction> function_;
  std::vector<py::object> parts_;
  py::object made_;  ///< nullptr unless this is a subclass
};

/// The C++ evaluator without the references.
[[nodiscard]] std::shared_ptr<Evaluator> core_of(const std::shared_ptr<Evaluator>& evaluator);
/// The bound object that must be kept alive with core_of(). It does not refer to an object of a
/// subclass, which may refer to its owner.
[[nodiscard]] py::object keeper_of(const std::shared_ptr<Evaluator>& evaluator);

int traverse_evaluator(const Evaluator& evaluator, const Visit& visit);
void clear_evaluator(Evaluator& evaluator);

}  // namespace pyengine::bindings
