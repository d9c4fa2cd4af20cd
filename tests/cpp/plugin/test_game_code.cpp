#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <typeinfo>
#include <vector>

#include "base/error.h"
#include "eval/simple.h"
#include "exact/alphabeta/solver.h"
#include "games/any/registry.h"
#include "messages.h"
#include "plugin/game.h"
#include "plugin/module.h"
#include "search/searcher.h"

using namespace pyengine;

namespace {

constexpr const char* kPython = "cpython-test";

/// Players take one or two of the stones; whoever takes the last one wins. The stones that are left
/// are shown on a board of one row.
class Heap {
 public:
  struct Params {
    int stones = 7;
    friend bool operator==(const Params&, const Params&) = default;
  };
  static constexpr std::string_view kName = "heap_of_test";
  template <class Field>
  static void fields(Params& params, Field&& field) {
    field("stones", params.stones, 1, 20);
  }
  static Params parse(const ParamMap& given) { return parse_fields<Heap>(given); }
  static ParamMap describe(const Params& params) { return describe_fields<Heap>(params); }
  static GameShape shape(const Params& params) {
    return {
        .rows = 1, .columns = params.stones, .num_actions = 2, .max_game_length = params.stones};
  }

  Heap() = default;
  explicit Heap(const Params& params) : params_(params), left_(params.stones) {}

  [[nodiscard]] const Params& params() const noexcept { return params_; }
  [[nodiscard]] int to_move() const noexcept { return to_move_; }
  [[nodiscard]] std::optional<Outcome> outcome() const noexcept {
    if (left_ > 0) return std::nullopt;
    return Outcome{to_move_ == 1 ? 1.0F : -1.0F};
  }
  void legal_actions(ActionList& moves) const {
    moves.clear();
    for (int action = 0; action < std::min(2, left_); ++action) moves.push_back(action);
  }
  [[nodiscard]] bool is_legal(Action action) const noexcept {
    return action >= 0 && action < std::min(2, left_);
  }
  void play(Action action) noexcept {
    left_ -= action + 1;
    to_move_ = 1 - to_move_;
  }
  [[nodiscard]] std::uint64_t hash() const noexcept {
    return mix64(static_cast<std::uint64_t>(2 * left_ + to_move_));
  }
  void stones(int /*t*/, BoardBits& first, BoardBits& second) const noexcept {
    first = second = BoardBits{};
    for (int point = 0; point < left_; ++point) first.set(point);
  }
  [[nodiscard]] Action last_move(int /*t*/) const noexcept { return kNoAction; }
  /// With a multiple of three the player to move loses.
  [[nodiscard]] std::pair<int, int> outcome_bounds() const noexcept {
    return left_ % 3 == 0 ? std::pair(-1, -1) : std::pair(1, 1);
  }
  [[nodiscard]] int move_order(Action action) const noexcept { return action; }
  friend bool operator==(const Heap&, const Heap&) = default;

 private:
  Params params_;
  int left_ = 0;
  int to_move_ = 0;
};

/// What the game's module would hand over.
const GameCapsule& capsule() {
  static const std::string own = fingerprint(kPython);
  static const GameCapsule content{own.c_str(), kBuiltWith, &game_code<Heap>()};
  return content;
}

struct Quiet final : Host {
  bool poll() override { return true; }
};

/// The same class name in the same namespace, as two packages could have.
GameCode code_named(std::string_view name) {
  GameCode code = game_code<Heap>();
  code.name = name;
  return code;
}

}  // namespace

TEST_CASE("a game outside the list is loaded, searched and solved") {
  add_game(capsule(), Heap::kName, kPython);
  const auto game = load_game("heap_of_test", {{"stones", 8LL}});
  CHECK(game->to_string() == "heap_of_test(stones=8)");
  const State start(game);

  SearchConfig config;
  config.simulations = 500;
  Searcher searcher(game, std::make_shared<RolloutEvaluator>(), config);
  Quiet host;
  const SearchResult result = searcher.search(start, config, host);
  CHECK(result.action == 1);  // leaves six
  CHECK(result.proven == 1);

  Solver solver(game, 1U << 16);
  const SolveResult solved = solver.solve(start, {}, [] { return true; });
  CHECK(solved.exact);
  CHECK(solved.value == 1.0);
  CHECK(solved.pv.front() == 1);
}

TEST_CASE("adding the same code twice changes nothing") {
  add_game(capsule(), Heap::kName, kPython);
  CHECK_NOTHROW(add_game(capsule(), Heap::kName, kPython));
}

TEST_CASE("games with a name or a class that is taken are refused") {
  add_game(capsule(), Heap::kName, kPython);
  const auto message = [](const GameCode& code, std::string_view name) {
    const GameCapsule other{capsule().fingerprint, capsule().built_with, &code};
    return message_of<ConfigError>([&] { add_game(other, name, kPython); });
  };
  const GameCode same_class = code_named("another_heap");
  CHECK(mentions(message(same_class, "another_heap"), "the class of the game \"heap_of_test\""));
  CHECK(message(same_class, "heap") == "expected the game \"heap\", got \"another_heap\"");
  GameCode built_in = code_named("go");
  built_in.position = &typeid(Heap);  // a class of another name
  CHECK(message(built_in, "go") == "another game has the name \"go\"");
  const auto names = registered_games();
  CHECK(std::find(names.begin(), names.end(), "another_heap") == names.end());
}

TEST_CASE("a module built for another engine is refused with both sides") {
  std::string other = fingerprint(kPython);
  other.insert(std::string("headers: ").size(), "other ");
  const GameCapsule old{other.c_str(), "tcc 1", nullptr};
  const std::string message = message_of<ConfigError>([&] { add_game(old, "heap", kPython); });
  CHECK(message.find("headers: other " PYENGINE_HEADERS " there, " PYENGINE_HEADERS " here") !=
        std::string::npos);
  CHECK(message.find("built with tcc 1, this is pyengine ") != std::string::npos);
  CHECK(message.find("sizes") == std::string::npos);  // which are equal

  const GameCapsule unreadable{"a text of another kind", "tcc 1", nullptr};
  CHECK_THROWS_AS(add_game(unreadable, "heap", kPython), ConfigError);
}

namespace {

/// A draw at a ply that hash() does not tell, unless player 0 reaches place 3, by steps of 1 or 2,
/// or back by 1. The key is that of a game of which several paths lead to a place.
class Walkabout {
 public:
  struct Params {
    friend bool operator==(const Params&, const Params&) = default;
  };
  static constexpr std::string_view kName = "walkabout_of_test";
  static Params parse(const ParamMap&) { return {}; }
  static ParamMap describe(const Params&) { return {}; }
  static GameShape shape(const Params&) {
    return {.rows = 1, .columns = 9, .num_actions = 3, .max_game_length = 6};
  }
  Walkabout() = default;
  explicit Walkabout(const Params&) {}
  [[nodiscard]] const Params& params() const noexcept { return params_; }
  [[nodiscard]] int to_move() const noexcept { return ply_ % 2; }
  [[nodiscard]] std::optional<Outcome> outcome() const noexcept {
    if (place_ == 5) return Outcome{ply_ % 2 == 1 ? 1.0F : -1.0F};
    if (ply_ == 6) return Outcome{half_ ? 0.5F : 0.0F};
    return std::nullopt;
  }
  void legal_actions(ActionList& moves) const {
    moves.clear();
    for (int action = 0; action < 3; ++action) {
      if (is_legal(action)) moves.push_back(action);
    }
  }
  [[nodiscard]] bool is_legal(Action action) const noexcept {
    return action >= 0 && action < 3 && after(action) >= 0 && after(action) <= 5;
  }
  void play(Action action) noexcept {
    place_ = after(action);
    ++ply_;
  }
  [[nodiscard]] std::uint64_t hash() const noexcept {
    return mix64(static_cast<std::uint64_t>(2 * place_ + to_move()));
  }
  void stones(int, BoardBits& first, BoardBits& second) const noexcept { first = second = {}; }
  [[nodiscard]] Action last_move(int) const noexcept { return kNoAction; }
  friend bool operator==(const Walkabout&, const Walkabout&) = default;

  void end_in_half() noexcept { half_ = true; }

 private:
  [[nodiscard]] int after(Action action) const noexcept {
    return place_ + (action == 2 ? -1 : action + 1);
  }
  Params params_;
  int place_ = 0;
  int ply_ = 0;
  bool half_ = false;
};

int minimax(const Walkabout& position) {
  if (const auto outcome = position.outcome()) return static_cast<int>(outcome->first);
  const int sign = position.to_move() == 0 ? 1 : -1;
  int best = -1;
  ActionList moves;
  position.legal_actions(moves);
  for (const ActionId action : moves) {
    Walkabout next = position;
    next.play(action);
    best = std::max(best, sign * minimax(next));
  }
  return sign * best;
}

}  // namespace

TEST_CASE("solve distinguishes positions whose futures depend on the ply") {
  alphabeta::Table table(1U << 16);
  const alphabeta::Call call{table, {}, [] { return true; }};
  ActionList moves;
  std::vector<Walkabout> open{Walkabout()};
  while (!open.empty()) {
    const Walkabout position = open.back();
    open.pop_back();
    const int sign = position.to_move() == 0 ? 1 : -1;
    CHECK(alphabeta::solve_as_played(call, position).value == sign * minimax(position));
    position.legal_actions(moves);
    for (const ActionId action : moves) {
      open.push_back(position);
      open.back().play(action);
      if (open.back().outcome()) open.pop_back();
    }
    table.clear();
  }
}

TEST_CASE("solve refuses outcomes between a draw and a win") {
  alphabeta::Table table(1U << 16);
  const alphabeta::Call call{table, {}, [] { return true; }};
  Walkabout position;
  position.end_in_half();
  CHECK_THROWS_AS(alphabeta::solve_as_played(call, position), EngineError);
}
