/// ONNX models run by ONNX Runtime. Only this folder sees that library.
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

/// A provider and its options, which ONNX Runtime reads itself.
struct OrtProvider {
  /// "CPUExecutionProvider", "CUDAExecutionProvider", "TensorrtExecutionProvider", or cpu, cuda,
  /// tensorrt.
  std::string name;
  std::map<std::string, std::string> options;  ///< device_id counts before that of OrtOptions
  friend bool operator==(const OrtProvider&, const OrtProvider&) = default;
};

/// Where and how a model runs.
struct OrtOptions {
  std::filesystem::path library;       ///< of ONNX Runtime, found by the caller
  std::vector<OrtProvider> providers;  ///< in order of preference; none = CUDA, else CPU
  int device_id = 0;                   ///< of the GPU, >= 0
  int max_batch = 0;  ///< most rows of one call of the library; 0 = the whole batch
  int threads = 0;    ///< within one call on the CPU; 0 = 1, since every search thread makes calls
  bool as_device = false;  ///< the CPU is called as a GPU is: for tests where there is none
  /// One session serves batches of all sizes, as TensorRT's does; else each size has its own.
  bool one_session = false;
  /// Seconds of a call on a device by its rows, in the place of measured ones: for tests.
  std::map<int, double> call_seconds;
  /// The processor stands in for a GPU with CUDA graphs, for tests: "working", "refused" by the
  /// library, "stale", whose replays do not read what is copied in, "uncopied", which takes no
  /// copies, or "uncaptured", whose captures fail.
  std::string graphs;
  /// Folder of this model's TensorRT engines, which take minutes to build; empty = none is kept.
  /// The timings of layers, which all models have in common, go to its parent folder.
  std::filesystem::path engine_cache;
  /// The operator that makes each output, as far as the caller knows.
  std::map<std::string, std::string> last_operators;
  /// Files that the model reads weights from, beside its own.
  std::vector<std::filesystem::path> weights;
  friend bool operator==(const OrtOptions&, const OrtOptions&) = default;
};

/// An output as the network gave it.
struct OrtOutput {
  std::vector<std::int64_t> shape;
  std::vector<float> numbers;
};

/// A model file opened by ONNX Runtime.
///
/// After a fork the child's evaluators made before it throw EvaluationError; new ones work.
class OrtModel : public NetworkSource {
 public:
  [[nodiscard]] virtual std::span<const TensorInfo> inputs() const noexcept = 0;
  [[nodiscard]] virtual std::span<const TensorInfo> outputs() const noexcept = 0;
  /// The spec of a model that says nothing of itself, from its shapes, its last operators and a
  /// trial run, where the shapes allow one. Throws ModelError listing what was seen.
  [[nodiscard]] virtual ModelSpec infer_spec() = 0;
  /// An entry of the file's metadata.
  [[nodiscard]] virtual std::optional<std::string> metadata(const std::string& key) const = 0;
  [[nodiscard]] virtual const std::string& provider() const noexcept = 0;
  /// With what is known of CUDA graphs, where they were asked for.
  [[nodiscard]] virtual std::string provider_text() const = 0;
  /// Whether the files are, in their times and contents, as they were when it was opened.
  [[nodiscard]] virtual bool unchanged() const = 0;
  /// Sessions of the library that are open.
  [[nodiscard]] virtual int num_sessions() const = 0;
  /// Why that provider: "named", or what kept the GPU from being used.
  [[nodiscard]] virtual const std::string& provider_reason() const noexcept = 0;
  /// On the CPU: runs rows of planes through the input and returns the outputs of these names.
  /// `shape`: of the planes; an input of two dimensions gets them flat. `input`: a name, or empty
  /// for the only one. Throws ModelError for a name that the model lacks, and EvaluationError.
  [[nodiscard]] virtual std::vector<OrtOutput> run(std::span<const float> planes,
                                                   const std::vector<std::int64_t>& shape,
                                                   const std::string& input,
                                                   const std::vector<std::string>& outputs) = 0;
};

/// Opens a model; one that is open with the same options shares its sessions. Throws ModelError for
/// a file that is missing, damaged or no ONNX, and for a provider that was named and cannot be had,
/// with the library's own reason; ConfigError for a bad option.
std::shared_ptr<OrtModel> open_onnx(const std::filesystem::path& path, const OrtOptions& options);

/// What is known of the library itself.
struct OrtReport {
  std::string version;
  std::string build_info;
  std::vector<std::string> available;  ///< providers it was built with
};
OrtReport ort_report(const std::filesystem::path& library);

/// Why a provider cannot be had on this machine; empty when it can.
std::string ort_provider_problem(const std::filesystem::path& library, const std::string& provider,
                                 int device_id);

}  // namespace pyengine
