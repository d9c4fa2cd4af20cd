/// One search with the evaluator that costs nothing, for valgrind to count its instructions.
/// Usage: pyengine_instructions GAME SIMULATIONS, as in
///   valgrind --tool=callgrind --toggle-collect=measured_search pyengine_instructions go 5000
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include "eval/simple.h"
#include "games/any/registry.h"
#include "search/searcher.h"

namespace {

using pyengine::Host;
using pyengine::SearchConfig;
using pyengine::Searcher;
using pyengine::SearchResult;
using pyengine::State;

struct Quiet final : Host {
  bool poll() override { return true; }
};

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __VERSION__;
#elif defined(__GNUC__)
constexpr const char* kCompiler = "gcc " __VERSION__;
#else
constexpr const char* kCompiler = "unknown";
#endif

}  // namespace

/// What is counted: the tree and its memory are new, result and search included.
extern "C" __attribute__((noinline)) void measured_search(Searcher* searcher, const State* start,
                                                          const SearchConfig* config, Host* host,
                                                          SearchResult* result) {
  *result = searcher->search(*start, *config, *host);
}

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: %s GAME SIMULATIONS\n", words[0]);
    return 2;
  }
  try {
    const pyengine::NamedParams named = pyengine::parse_named_params(words[1]);
    const auto game = pyengine::load_game(named.name, named.params);
    SearchConfig config;
    config.threads = 1;
    config.solver = false;
    config.simulations = std::strtoull(words[2], nullptr, 10);
    Searcher searcher(game, std::make_shared<pyengine::UniformEvaluator>(), config);
    const State start(game);
    Quiet host;
    SearchResult result;
    measured_search(&searcher, &start, &config, &host, &result);
    std::uint64_t visits = 0;
    for (const std::uint32_t some : result.visits) visits += some;
    if (visits != *config.simulations) {
      std::fprintf(stderr, "expected as many visits as simulations, found %llu\n",
                   static_cast<unsigned long long>(visits));
      return 1;
    }
    std::printf("%s\n", kCompiler);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
