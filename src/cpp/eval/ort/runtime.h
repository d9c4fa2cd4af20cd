/// ONNX models run by ONNX Runtime. Only this folder uses that library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/network/network.h"

namespace pyengine {

/// A provider and its options, which are passed to ONNX Runtime.
struct OrtProvider {
  /// "CPUExecutionProvider", "CUDAExecutionProvider", "TensorrtExecutionProvider", or cpu, cuda,
  /// tensorrt.
  std::string name;
  std::map<std::string, std::string>
      options;  ///< device_id takes precedence over that of OrtOptions
  friend bool operator==(const OrtProvider&, const OrtProvider&) = default;
};

/// Where and how a model runs.
struct OrtOptions {
  std::filesystem::path library;       ///< path of ONNX Runtime's library
  std::vector<OrtProvider> providers;  ///< in order of preference; empty = CUDA, else CPU
  int device_id = 0;                   ///< of the GPU, >= 0
  int max_batch = 0;  ///< maximum rows per call of the library; 0 = the whole batch
  int threads = 0;    ///< of one call on the CPU; 0 means 1, since every search thread makes calls
  bool as_device = false;  ///< treat the CPU as a GPU, for tests without one
  /// One session serves batches of all sizes, as with TensorRT; otherwise each size has one.
  bool one_session = false;
  /// Seconds of a call on a device by rows, replacing measurements in tests.
  std::map<int, double> call_seconds;
  /// For tests, the processor acts as a GPU with CUDA graphs: "working", "refused" by the library,
  /// "stale" (replays ignore new inputs), "uncopied" (rejects copies) or "uncaptured" (captures
  /// fail).
  std::string graphs;
  /// Folder of this model's TensorRT engines, which take minutes to build; empty = no cache. Layer
  /// timings, which all models share, go to its parent folder.
  std::filesystem::path engine_cache;
  /// The operator that computes each output, if the caller knows it.
  std::map<std::string, std::string> last_operators;
  /// Files with external weights of the model.
  std::vector<std::filesystem::path> weights;
  friend bool operator==(const OrtOptions&, const OrtOptions&) = default;
};

/// An output of a network, unprocessed.
struct OrtOutput {
  std::vector<std::int64_t> shape;
  std::vector<float> numbers;
};

/// A model file opened by ONNX Runtime. After a fork, the child's copies of existing evaluators
/// throw EvaluationError; new ones work.
class OrtModel : public NetworkSource {
 public:
  [[nodiscard]] virtual std::span<const TensorInfo> inputs() const noexcept = 0;
  [[nodiscard]] virtual std::span<const TensorInfo> outputs() const noexcept = 0;
  /// Infers the spec of a model without one from its shapes, its last operators and, if the shapes
  /// allow, a trial run. Throws ModelError listing the inputs and outputs.
  [[nodiscard]] virtual ModelSpec infer_spec() = 0;
  /// An entry of the file's metadata.
  [[nodiscard]] virtual std::optional<std::string> metadata(const std::string& key) const = 0;
  [[nodiscard]] virtual const std::string& provider() const noexcept = 0;
  /// The provider, with a note on CUDA graphs if they were requested.
  [[nodiscard]] std::string provider_text() const override = 0;
  /// Whether the files have the same times and contents as when the model was opened.
  [[nodiscard]] virtual bool unchanged() const = 0;
  /// Number of open sessions.
  [[nodiscard]] virtual int num_sessions() const = 0;
  /// Why the provider was chosen: "named", or what prevented the use of the GPU.
  [[nodiscard]] virtual const std::string& provider_reason() const noexcept = 0;
  /// On the CPU: runs rows of planes through the input and returns the named outputs. `shape`: of
  /// the planes; a two-dimensional input gets them flattened. `input`: a name, or empty for the
  /// only one. Throws ModelError for a missing name, and EvaluationError.
  [[nodiscard]] virtual std::vector<OrtOutput> run(std::span<const float> planes,
                                                   const std::vector<std::int64_t>& shape,
                                                   const std::string& input,
                                                   const std::vector<std::string>& outputs) = 0;
};

/// Opens a model, sharing the sessions of one that is open with the same options. Throws ModelError
/// for a missing, damaged or non-ONNX file and, with the library's reason, for a named provider
/// that is not available; throws ConfigError for an invalid option.
std::shared_ptr<OrtModel> open_onnx(const std::filesystem::path& path, const OrtOptions& options);

/// Facts about the loaded library.
struct OrtReport {
  std::string version;
  std::string build_info;
  std::vector<std::string> available;  ///< providers it was built with
};
OrtReport ort_report(const std::filesystem::path& library);

/// Why a provider is not available on this machine; empty if it is.
std::string ort_provider_problem(const std::filesystem::path& library, const std::string& provider,
                                 int device_id);

}  // namespace pyengine
