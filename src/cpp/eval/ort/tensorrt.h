/// What TensorRT is told beside a user's own options: which shapes one engine is for, and where it
/// is kept.
///
/// An engine takes minutes to build. As ONNX Runtime does it (by the source of 1.15 and the changes
/// since that are known to us; the options' names are in the library of 1.31.1):
///  - A session whose input's shape is fixed, or given by a profile, has its engine built, or read
///    from the cache, when it is opened. Without a profile the engine is built by the first call
///    and again by every call that is larger, or smaller, than all before.
///  - An engine's calls take turns under a mutex of the session: several threads may make them.
///  - The name of a cached engine says the file's name, the graph's names, the versions it was
///    compiled with and the kind of GPU: not the weights, and of the options only the precision.
///    An engine with another profile replaces it. Our folder's name says all of that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pyengine::ort {

/// Shapes that one engine is for.
struct EngineProfile {
  std::string input;                ///< name of the tensor
  std::vector<std::int64_t> shape;  ///< [0] is ignored
  int least = 1;                    ///< rows
  int usual = 1;                    ///< rows that it is fastest with
  int most = 1;                     ///< rows
};

/// The profile of an engine for batches of `limit` rows, which those of other sizes share: up to
/// the next power of two, 64 at least, but no more than `max_batch` (0 = no bound). So a model has
/// few engines whatever the sizes of its batches.
EngineProfile engine_profile(std::string input, std::vector<std::int64_t> shape, int limit,
                             int max_batch);

using ProviderOptions = std::map<std::string, std::string>;

/// Whether an option is given and on.
bool is_on(const ProviderOptions& options, const std::string& name);

/// Drops TensorRT's own CUDA graphs, which replay without reading what later calls bind. Returns
/// whether they were asked for.
bool drop_tensorrt_graphs(ProviderOptions& options);

/// Whether TensorRT's options can name the tensor.
bool profile_can_name(const std::string& input);

/// Adds our options to the user's, which win. `cache`: folder of this model's engines, empty =
/// none; the timings of layers, which all models have in common, go to its parent folder.
ProviderOptions tensorrt_options(ProviderOptions given, const std::optional<EngineProfile>& profile,
                                 const std::filesystem::path& cache);

/// Makes the folders that the options name; false where one cannot be had.
bool make_cache_folders(const ProviderOptions& options);

/// Removes the engines and timings that were cached, as after an error in reading them: a process
/// may have been killed while it wrote one. Returns whether there were any.
bool forget_engines(const std::filesystem::path& cache);

}  // namespace pyengine::ort
