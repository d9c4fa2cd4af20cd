/// Options for TensorRT in addition to the user's: the shapes that an engine serves and the folder
/// of the engine cache.
///
/// An engine takes minutes to build. This is how ONNX Runtime builds it (according to the source of
/// 1.15 and later changes known to us; the names of the options are those of 1.31.1):
///  - If the input's shape is fixed or given by a profile, the engine is built, or read from the
///    cache, when the session is opened. Without a profile the first call builds the engine, and
///    every call that is larger or smaller than all earlier ones builds it again.
///  - Several threads may call an engine: a mutex of the session serialises the calls.
///  - The name of a cached engine contains the file's name, the graph's names, the versions it was
///    compiled with and the kind of GPU, but not the weights, and of the options only the
///    precision. An engine with another profile replaces it. Therefore our folder's name contains
///    all of these.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pyengine::ort {

/// The shapes that one engine serves.
struct EngineProfile {
  std::string input;                ///< name of the tensor
  std::vector<std::int64_t> shape;  ///< [0] is ignored
  int least = 1;                    ///< rows
  int usual = 1;                    ///< rows that it is optimised for
  int most = 1;                     ///< rows
};

/// The profile of an engine for batches of `limit` rows, shared with other sizes: up to the next
/// power of two, at least 64, but at most `max_batch` (0 = unlimited). So a model has few engines
/// whatever its batch sizes.
EngineProfile engine_profile(std::string input, std::vector<std::int64_t> shape, int limit,
                             int max_batch);

using ProviderOptions = std::map<std::string, std::string>;

/// Whether an option is present and on.
bool is_on(const ProviderOptions& options, const std::string& name);

/// Removes the options for TensorRT's own CUDA graphs, which would replay without reading the
/// bindings of later calls. Returns whether they were on.
bool drop_tensorrt_graphs(ProviderOptions& options);

/// Whether TensorRT's options can express the tensor's name.
bool profile_can_name(const std::string& input);

/// Adds our options to the user's, which take precedence. `cache`: folder of this model's engines,
/// or empty; layer timings, which all models share, go to its parent folder.
ProviderOptions tensorrt_options(ProviderOptions user_options,
                                 const std::optional<EngineProfile>& profile,
                                 const std::filesystem::path& cache);

/// Creates the folders that the options name; returns false if one cannot be created.
bool make_cache_folders(const ProviderOptions& options);

/// Removes cached engines and timings, for example after a read error: a process may have been
/// killed while writing one. Returns whether there were any.
bool forget_engines(const std::filesystem::path& cache);

}  // namespace pyengine::ort
