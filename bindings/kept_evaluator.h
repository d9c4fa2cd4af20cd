/// An evaluator as Python has it: with the references that Python's collector is to see.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "callback_function.h"
#include "collected.h"
#include "eval/evaluator.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// Engines use core(), and keep what keeper_of() returns for as long.
class KeptEvaluator final : public Evaluator {
 public:
  using Pointer = std::shared_ptr<Evaluator>;

  /// An evaluator that calls `function`, alone.
  KeptEvaluator(Pointer core, CallbackFunction function)
      : core_(std::move(core)), function_(std::move(function)) {}
  /// One made of others.
  KeptEvaluator(Pointer core, std::vector<py::object> parts)
      : core_(std::move(core)), parts_(std::move(parts)) {}
  /// The evaluator of a subclass in Python: the same as `made`.
  explicit KeptEvaluator(const Pointer& made);
  ~KeptEvaluator() override;
  KeptEvaluator(const KeptEvaluator&) = delete;
  KeptEvaluator& operator=(const KeptEvaluator&) = delete;

  [[nodiscard]] int device_batches() const noexcept override { return core_->device_batches(); }
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
  py::object made_;  ///< null but for a subclass's
};

/// The evaluator without the references, for C++.
[[nodiscard]] std::shared_ptr<Evaluator> core_of(const std::shared_ptr<Evaluator>& evaluator);
/// The bound object to keep with core_of(). It does not lead to an object of a subclass, which may
/// keep whoever keeps it.
[[nodiscard]] py::object keeper_of(const std::shared_ptr<Evaluator>& evaluator);

int traverse_evaluator(const Evaluator& evaluator, const Visit& visit);
void clear_evaluator(Evaluator& evaluator);

}  // namespace pyengine::bindings
