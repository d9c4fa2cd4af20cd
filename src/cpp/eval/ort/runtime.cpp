#include "eval/ort/runtime.h"

#include <system_error>
#include <utility>

#include "base/error.h"
#include "eval/ort/network.h"
#include "eval/ort/open_models.h"
#include "eval/ort/outputs.h"

namespace pyengine {
namespace {

class OpenModel final : public OrtModel {
 public:
  explicit OpenModel(std::shared_ptr<ort::LoadedModel> model) : model_(std::move(model)) {}

  [[nodiscard]] std::span<const TensorInfo> inputs() const noexcept override {
    return model_->inputs;
  }
  [[nodiscard]] std::span<const TensorInfo> outputs() const noexcept override {
    return model_->outputs;
  }
  [[nodiscard]] ModelSpec infer_spec() override { return ort::infer_spec(model_); }
  [[nodiscard]] std::optional<std::string> metadata(const std::string& key) const override {
    return ort::session_metadata(model_->library.api(), model_->session.get(), key);
  }
  [[nodiscard]] const std::string& provider() const noexcept override { return model_->provider; }
  [[nodiscard]] std::string provider_text() const override { return model_->provider_text(); }
  [[nodiscard]] bool unchanged() const override { return model_->unchanged(); }
  [[nodiscard]] int num_sessions() const override { return model_->num_sessions(); }
  [[nodiscard]] int device_batches() const noexcept override { return model_->device_batches(); }
  [[nodiscard]] const std::string& provider_reason() const noexcept override {
    return model_->reason;
  }
  [[nodiscard]] std::shared_ptr<RawNetwork> fit(const ModelSpec& spec,
                                                const NetworkShape& shape) override {
    return ort::fit_network(model_, spec, shape);
  }
  [[nodiscard]] std::vector<OrtOutput> run(std::span<const float> planes,
                                           const std::vector<std::int64_t>& shape,
                                           const std::string& input,
                                           const std::vector<std::string>& outputs) override {
    return ort::run_outputs(*model_, planes, shape, input, outputs);
  }

 private:
  std::shared_ptr<ort::LoadedModel> model_;
};

void check_option(const char* name, int value) {
  if (value >= 0) return;
  throw ConfigError(std::string(name) + " must not be negative, got " + std::to_string(value));
}

void check_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  const std::string expected = "expected an ONNX file at " + path.string() + ", got ";
  if (!std::filesystem::exists(status)) throw ModelError(expected + "nothing");
  if (std::filesystem::is_directory(status)) throw ModelError(expected + "a directory");
  if (!std::filesystem::is_regular_file(status)) throw ModelError(expected + "no regular file");
  if (std::filesystem::file_size(path, error) == 0) throw ModelError(expected + "an empty file");
}

}  // namespace

std::shared_ptr<OrtModel> open_onnx(const std::filesystem::path& path, const OrtOptions& options) {
  check_option("device_id", options.device_id);
  check_option("max_batch", options.max_batch);
  check_option("threads", options.threads);
  check_file(path);
  const ort::Library& library = ort::load(options.library);
  return std::make_shared<OpenModel>(ort::open_shared(library, path, options));
}

OrtReport ort_report(const std::filesystem::path& library) {
  const ort::Library& loaded = ort::load(library);
  return {loaded.version(), loaded.build_info(), loaded.available_providers()};
}

std::string ort_provider_problem(const std::filesystem::path& library, const std::string& provider,
                                 int device_id) {
  const ort::Library& loaded = ort::load(library);
  OrtOptions options;
  options.device_id = device_id;
  try {
    static_cast<void>(ort::make_options(loaded, {{provider, {}}}, options));
  } catch (const ModelError& error) {
    return error.what();
  }
  return {};
}

}  // namespace pyengine
