#include "eval/ort/outputs.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/error.h"
#include "eval/ort/tensors.h"

namespace pyengine::ort {
namespace {

bool is_sign(float number) { return number == -1.0F || number == 0.0F || number == 1.0F; }

/// Runs a model for selected outputs, in calls of the size that it accepts.
class Caller {
 public:
  Caller(const LoadedModel& model, const std::string& input,
         const std::vector<std::string>& outputs)
      : model_(model),
        api_(model.library.api()),
        input_(input_of(model, input)),
        type_(input_type(model, input_, true)),
        memory_(cpu_memory(api_)) {
    for (const std::string& name : outputs) {
      const TensorInfo& output = tensor_named(model, model.outputs, "an output", name);
      types_.push_back(output_type(model, output));
      names_.push_back(output.name.c_str());
    }
  }

  [[nodiscard]] bool flat() const noexcept { return input_.shape.size() == 2; }
  /// Rows per call; the model's batch if it is fixed.
  [[nodiscard]] std::int64_t rows_of_call(std::int64_t rows) const noexcept {
    const bool fixed = !input_.shape.empty() && input_.shape.front() > 0;
    return fixed ? input_.shape.front() : rows;
  }

  /// Appends the first `used` rows of each output. `planes`: of those rows; `shape`: of the call.
  void run(std::span<const float> planes, const std::vector<std::int64_t>& shape, std::int64_t used,
           std::vector<OrtOutput>& results) {
    const auto rows = static_cast<std::size_t>(shape.front());
    const std::size_t row = planes.size() / static_cast<std::size_t>(used);
    require_fitting(planes);
    std::vector<std::byte> bytes(rows * row * size_of(type_));
    write_planes(planes, type_, bytes.data());
    const auto tensor = make_tensor(api_, memory_.get(), bytes.data(), shape, type_);
    const char* inputs[] = {input_.name.c_str()};
    const OrtValue* values[] = {tensor.get()};
    std::vector<OrtValue*> tensors(names_.size(), nullptr);
    check<EvaluationError>(api_,
                           api_.Run(model_.session.get(), nullptr, inputs, values, 1, names_.data(),
                                    names_.size(), tensors.data()),
                           "the network " + model_.path.string() + " failed");
    std::vector<Handle<OrtValue>> owned;
    owned.reserve(tensors.size());
    for (OrtValue* value : tensors)
      owned.emplace_back(value, Releaser<OrtValue>{api_.ReleaseValue});
    for (std::size_t i = 0; i < tensors.size(); ++i) add(tensors[i], types_[i], used, results[i]);
  }

 private:
  void require_fitting(std::span<const float> planes) const {
    if (type_ != ElementType::int8 || std::all_of(planes.begin(), planes.end(), is_sign)) return;
    throw ModelError("the input of " + model_.path.string() +
                     " is int8, but the planes contain values other than -1, 0 and 1");
  }

  void add(OrtValue* value, ElementType type, std::int64_t used, OrtOutput& output) const {
    std::vector<std::int64_t> shape = shape_of(api_, value);
    std::size_t row = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) row *= static_cast<std::size_t>(shape[i]);
    if (shape.empty() || shape.front() < used) {
      throw EvaluationError("the network " + model_.path.string() +
                            " failed: expected a row of each output for each position");
    }
    add_numbers(api_, value, type, row * static_cast<std::size_t>(used), output.numbers);
    const std::int64_t before = output.shape.empty() ? 0 : output.shape.front();
    output.shape = std::move(shape);
    output.shape.front() = before + used;
  }

  const LoadedModel& model_;
  const Api& api_;
  const TensorInfo& input_;
  const ElementType type_;
  Handle<OrtMemoryInfo> memory_;
  std::vector<const char*> names_;
  std::vector<ElementType> types_;
};

}  // namespace

std::vector<OrtOutput> run_outputs(const LoadedModel& model, std::span<const float> planes,
                                   const std::vector<std::int64_t>& shape, const std::string& input,
                                   const std::vector<std::string>& outputs) {
  if (model.forked()) {
    throw EvaluationError("the process was forked after the network " + model.path.string() +
                          " was loaded; create the evaluator in the new process");
  }
  Caller caller(model, input, outputs);
  std::vector<OrtOutput> results(outputs.size());
  const std::int64_t rows = shape.front();
  if (rows == 0) return results;
  const std::size_t row = planes.size() / static_cast<std::size_t>(rows);
  const std::int64_t most = caller.rows_of_call(rows);
  std::vector<std::int64_t> call = {most, static_cast<std::int64_t>(row)};
  if (!caller.flat()) call = with_rows(shape, static_cast<int>(most));
  for (std::int64_t start = 0; start < rows; start += most) {
    const std::int64_t used = std::min(most, rows - start);
    caller.run(
        planes.subspan(static_cast<std::size_t>(start) * row, static_cast<std::size_t>(used) * row),
        call, used, results);
  }
  return results;
}

}  // namespace pyengine::ort
