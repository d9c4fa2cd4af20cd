/// The options for TensorRT: one engine for many batch sizes, cached on disk in separate folders.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "eval/ort/tensorrt.h"

using namespace pyengine::ort;

namespace {

EngineProfile profile_of(int limit, int max_batch = 0) {
  return engine_profile("planes", {-1, 3, 9, 9}, limit, max_batch);
}

std::string engine_folder(const ProviderOptions& given, const EngineProfile& profile) {
  return tensorrt_options(given, profile, "/cache/model").at("trt_engine_cache_path");
}

}  // namespace

TEST_CASE("tensorrt: one profile serves all sizes of a batch") {
  const ProviderOptions options = tensorrt_options({}, profile_of(768), {});
  CHECK(options.at("trt_profile_min_shapes") == "planes:1x3x9x9");
  CHECK(options.at("trt_profile_opt_shapes") == "planes:768x3x9x9");
  CHECK(options.at("trt_profile_max_shapes") == "planes:1024x3x9x9");
  CHECK(options.size() == 3);
}

TEST_CASE(
    "tensorrt: its own CUDA graphs are disabled, and the caller learns whether they were on") {
  for (const char* value : {"1", "true", "True", "0"}) {
    ProviderOptions options = {{"trt_cuda_graph_enable", value}, {"trt_fp16_enable", "1"}};
    CHECK(drop_tensorrt_graphs(options) == (std::string(value) != "0"));
    CHECK(options == ProviderOptions{{"trt_fp16_enable", "1"}});
    CHECK(!drop_tensorrt_graphs(options));
  }
}

TEST_CASE("tensorrt: profiles of all batches up to 4,096 rows have seven upper ends") {
  std::map<int, int> ends;
  for (int limit = 1; limit <= 4096; ++limit) {
    const EngineProfile profile = profile_of(limit);
    REQUIRE(profile.usual == limit);
    REQUIRE(profile.most >= limit);
    ++ends[profile.most];
  }
  CHECK(ends.size() == 7);
  CHECK(profile_of(100, 100).most == 100);
  CHECK(profile_of(24, 32).most == 32);
}

TEST_CASE("tensorrt: engines and timings are cached in the given folder") {
  const ProviderOptions options = tensorrt_options({}, profile_of(64), "/cache/model");
  CHECK(options.at("trt_engine_cache_enable") == "1");
  CHECK(options.at("trt_engine_cache_path").starts_with("/cache/model/rows64of64x3x9x9-"));
  CHECK(options.at("trt_timing_cache_enable") == "1");
  CHECK(options.at("trt_timing_cache_path") == "/cache");
  CHECK(tensorrt_options({}, {}, "/cache/model").count("trt_profile_min_shapes") == 0);
}

TEST_CASE("tensorrt: engines of different shapes, sizes or options have separate folders") {
  const std::string usual = engine_folder({}, profile_of(64));
  CHECK(usual == engine_folder({}, profile_of(64)));
  CHECK(usual != engine_folder({}, profile_of(65)));
  CHECK(usual != engine_folder({}, engine_profile("planes", {-1, 3, 9, 10}, 64, 0)));
  CHECK(usual != engine_folder({{"trt_builder_optimization_level", "5"}}, profile_of(64)));
  CHECK(engine_folder({{"a", "bc"}}, profile_of(64)) !=
        engine_folder({{"ab", "c"}}, profile_of(64)));
}

TEST_CASE("tensorrt: a user's options take precedence, and one shape option disables all of ours") {
  const ProviderOptions given = {{"trt_engine_cache_enable", "0"},
                                 {"trt_engine_cache_path", "/mine"},
                                 {"trt_fp16_enable", "1"},
                                 {"trt_profile_max_shapes", "planes:9x3x9x9"}};
  const ProviderOptions options = tensorrt_options(given, profile_of(64), "/cache/model");
  for (const auto& [key, value] : given) CHECK(options.at(key) == value);
  CHECK(options.count("trt_profile_min_shapes") == 0);
  CHECK(options.count("trt_profile_opt_shapes") == 0);
}

TEST_CASE("tensorrt: a name that the options cannot express is left out") {
  CHECK(profile_can_name("planes"));
  CHECK(!profile_can_name("input:0"));
  CHECK(!profile_can_name("a,b"));
  const auto profile = engine_profile("input:0", {-1, 3, 9, 9}, 64, 0);
  CHECK(tensorrt_options({}, profile, {}).empty());
}

TEST_CASE("tensorrt: a damaged cache is removed, and nothing else") {
  const auto root = std::filesystem::temp_directory_path() / "pyengine_test_ort_tensorrt";
  std::filesystem::remove_all(root);
  const auto options = tensorrt_options({}, profile_of(64), root / "model");
  CHECK(!forget_engines(root / "model"));
  CHECK(make_cache_folders(options));
  const std::filesystem::path folder = options.at("trt_engine_cache_path");
  CHECK(std::filesystem::is_directory(folder));
  for (const auto& path :
       {folder / "k.engine", folder / "k.profile", root / "sm90.timing", root / "notes.txt"}) {
    std::ofstream(path) << "x";
  }
  CHECK(forget_engines(root / "model"));
  CHECK(!std::filesystem::exists(folder / "k.engine"));
  CHECK(!std::filesystem::exists(folder / "k.profile"));
  CHECK(!std::filesystem::exists(root / "sm90.timing"));
  CHECK(std::filesystem::exists(root / "notes.txt"));
  CHECK(!forget_engines(root / "model"));
  CHECK(!forget_engines({}));
  CHECK(!make_cache_folders({{"trt_engine_cache_path", (root / "notes.txt" / "x").string()}}));
  std::filesystem::remove_all(root);
}
