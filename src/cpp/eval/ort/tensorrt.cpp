#include "eval/ort/tensorrt.h"

#include <algorithm>
#include <array>
#include <bit>
#include <system_error>
#include <utility>

namespace pyengine::ort {
namespace {

constexpr int kLeastLimit = 64;  // rows: the default of evaluate()

constexpr const char* kEngineFolder = "trt_engine_cache_path";
constexpr const char* kTimingFolder = "trt_timing_cache_path";
constexpr std::array kProfileKeys = {"trt_profile_min_shapes", "trt_profile_opt_shapes",
                                     "trt_profile_max_shapes"};

std::string dimensions_of(const EngineProfile& profile) {
  std::string text;
  for (std::size_t i = 1; i < profile.shape.size(); ++i) {
    text += 'x' + std::to_string(profile.shape[i]);
  }
  return text;
}

std::string shapes_text(const EngineProfile& profile, int rows) {
  return profile.input + ':' + std::to_string(rows) + dimensions_of(profile);
}

/// FNV-1a (Fowler, Noll, Vo): the same in every build, because it names folders.
std::string fingerprint(const ProviderOptions& options) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  const auto add = [&](const std::string& text) {
    for (const char c : text + '\n') {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    }
  };
  for (const auto& [key, value] : options) {
    add(key);
    add(value);
  }
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(hash >> shift) & 15U];
  return digits;
}

/// Subfolder for the engine's profile and the options that it was built with.
std::string folder_name(const ProviderOptions& options,
                        const std::optional<EngineProfile>& profile) {
  if (!profile) return "fixed-" + fingerprint(options);
  return "rows" + std::to_string(profile->usual) + "of" + std::to_string(profile->most) +
      dimensions_of(*profile) + '-' + fingerprint(options);
}

bool is_cached_file(const std::filesystem::path& path) {
  const auto kind = path.extension();
  return kind == ".engine" || kind == ".profile" || kind == ".timing";
}

template <class Iterator>
bool remove_cached(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (Iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (is_cached_file(at->path())) files.push_back(at->path());
  }
  bool removed = false;
  for (const auto& path : files) removed = std::filesystem::remove(path, error) || removed;
  return removed;
}

}  // namespace

EngineProfile engine_profile(std::string input, std::vector<std::int64_t> shape, int limit,
                             int max_batch) {
  const int rounded = static_cast<int>(std::bit_ceil(static_cast<unsigned>(limit)));
  int most = std::max(kLeastLimit, rounded);
  if (max_batch > 0) most = std::max(limit, std::min(most, max_batch));
  return {std::move(input), std::move(shape), 1, limit, most};
}

bool is_on(const ProviderOptions& options, const std::string& name) {
  const auto option = options.find(name);
  if (option == options.end()) return false;
  return option->second == "1" || option->second == "true" || option->second == "True";
}

bool drop_tensorrt_graphs(ProviderOptions& options) {
  const std::string name = "trt_cuda_graph_enable";
  const bool was_on = is_on(options, name);
  options.erase(name);
  return was_on;
}

bool profile_can_name(const std::string& input) {
  return input.find_first_of(",:") == std::string::npos;
}

ProviderOptions tensorrt_options(ProviderOptions user_options,
                                 const std::optional<EngineProfile>& profile,
                                 const std::filesystem::path& cache) {
  ProviderOptions options = user_options;
  const bool own_profile = std::any_of(kProfileKeys.begin(), kProfileKeys.end(),
                                       [&](const char* key) { return user_options.contains(key); });
  if (profile && !own_profile && profile_can_name(profile->input)) {  // all three or none
    options[kProfileKeys[0]] = shapes_text(*profile, profile->least);
    options[kProfileKeys[1]] = shapes_text(*profile, profile->usual);
    options[kProfileKeys[2]] = shapes_text(*profile, profile->most);
  }
  if (cache.empty()) return options;
  options.emplace("trt_engine_cache_enable", "1");
  options.emplace(kEngineFolder, (cache / folder_name(user_options, profile)).string());
  options.emplace("trt_timing_cache_enable", "1");
  options.emplace(kTimingFolder, cache.parent_path().string());
  return options;
}

bool make_cache_folders(const ProviderOptions& options) {
  for (const char* key : {kTimingFolder, kEngineFolder}) {
    const auto folder = options.find(key);
    if (folder == options.end()) continue;
    std::error_code error;
    std::filesystem::create_directories(folder->second, error);
    if (error) return false;
  }
  return true;
}

bool forget_engines(const std::filesystem::path& cache) {
  if (cache.empty()) return false;
  const bool engines = remove_cached<std::filesystem::recursive_directory_iterator>(cache);
  return remove_cached<std::filesystem::directory_iterator>(cache.parent_path()) || engines;
}

}  // namespace pyengine::ort
