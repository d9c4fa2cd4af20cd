/// A search or playouts, whose instructions valgrind counts. Usage: pyengine_instructions
/// search|uct|playouts GAME COUNT, as in valgrind --tool=callgrind --toggle-collect='measured_*'
/// pyengine_instructions search go 5000. search: PUCT with the free evaluator; uct: UCT with one
/// playout per leaf; playouts: from the start of the game. The game "hex" is compiled into this
/// program, and "outside:hex" is the same code loaded from a library.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/rng.h"
#include "eval/simple.h"
#include "games/any/registry.h"
#include "plugin/game_code.h"
#include "search/searcher.h"

extern "C" const pyengine::GameCapsule* pyengine_game_capsule(const char* python_abi);

namespace {

using pyengine::AnyGame;
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

/// The measured function: includes a new tree and memory, the search and its result.
extern "C" __attribute__((noinline)) void measured_search(Searcher* searcher, const State* start,
                                                          const SearchConfig* config, Host* host,
                                                          SearchResult* result) {
  *result = searcher->search(*start, *config, *host);
}

/// The measured function, from the initial position; returns the sum of the outcomes.
extern "C" __attribute__((noinline)) double measured_playouts(const pyengine::AnyPosition* start,
                                                              std::uint64_t count) {
  pyengine::PlayoutSpace space;
  double sum = 0.0;
  for (std::uint64_t i = 0; i < count; ++i) {
    pyengine::Rng rng(1, i);
    sum += start->play_out(rng, space).outcome.first;
  }
  return sum;
}

namespace {

void search(const std::shared_ptr<const AnyGame>& game, bool uct, std::uint64_t simulations) {
  SearchConfig config;
  config.threads = 1;
  config.solver = false;
  config.simulations = simulations;
  std::shared_ptr<pyengine::Evaluator> evaluator = std::make_shared<pyengine::UniformEvaluator>();
  if (uct) {
    config.algorithm = pyengine::Algorithm::uct;
    evaluator = std::make_shared<pyengine::RolloutEvaluator>();
  }
  Searcher searcher(game, evaluator, config);
  const State start(game);
  Quiet host;
  SearchResult result;
  measured_search(&searcher, &start, &config, &host, &result);
  std::uint64_t visits = 0;
  for (const std::uint32_t some : result.visits) visits += some;
  if (visits != simulations) {
    throw std::runtime_error("expected as many visits as simulations, got " +
                             std::to_string(visits));
  }
}

void play_out(const AnyGame& game, std::uint64_t count) {
  const double sum = measured_playouts(game.initial_position().get(), count);
  if (sum > static_cast<double>(count) || -sum > static_cast<double>(count)) {
    throw std::runtime_error("expected outcomes from -1 to 1, got the sum " + std::to_string(sum));
  }
}

void add_outside_hex() {
  void* library = dlopen(PYENGINE_OUTSIDE_HEX, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  using Exported = const pyengine::GameCapsule* (*)();
  const auto exported = reinterpret_cast<Exported>(dlsym(library, "exported_game"));
  pyengine::add_game(*exported(), "hex", "");
}

void measure(std::string_view what, std::string game_text, std::uint64_t count) {
  constexpr std::string_view kOutside = "outside:";
  if (game_text.starts_with(kOutside)) {
    game_text.erase(0, kOutside.size());
    add_outside_hex();
  } else if (game_text.starts_with("hex")) {
    pyengine::add_game(*pyengine_game_capsule(""), "hex", "");
  }
  const pyengine::NamedParams named = pyengine::parse_named_params(game_text);
  const auto game = pyengine::load_game(named.name, named.params);
  if (what == "playouts") {
    play_out(*game, count);
  } else if (what == "search" || what == "uct") {
    search(game, what == "uct", count);
  } else {
    throw std::runtime_error("expected search, uct or playouts, got " + std::string(what));
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::fprintf(stderr, "usage: %s search|uct|playouts GAME COUNT\n", words[0]);
    return 2;
  }
  try {
    measure(words[1], words[2], std::strtoull(words[3], nullptr, 10));
    std::printf("%s\n", kCompiler);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
