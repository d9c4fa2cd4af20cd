#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "games/any/foreign.h"
#include "games/any/registry.h"
#include "games/any/state.h"
#include "games/common/perft.h"
#include "games/list.h"
#include "messages.h"

using namespace pyengine;

namespace {

State played(const char* name, const ParamMap& params, int plies, Rng& rng) {
  State state(load_game(name, params));
  ActionList moves;
  for (int ply = 0; ply < plies && !state.position().outcome(); ++ply) {
    state.position().legal_actions(moves);
    state.apply_action(
        moves[static_cast<int>(rng.below(static_cast<std::uint32_t>(moves.size())))]);
  }
  return state;
}

/// Counters of Race's states, and promises that they break on request.
struct Script {
  int alive = 0;
  int entered = 0;            ///< enter() minus leave()
  std::string fail;           ///< the function that throws
  long long player_at_4 = 0;  ///< current_player() when the count is 4; 0 = correct
  std::vector<long long> legal{2, 0, 1};
  std::array<double, 2> win{1.0, -1.0};
  std::optional<std::array<double, 2>> library;          ///< returns of the game's own playout
  std::function<void(std::string_view verb)> meanwhile;  ///< called while a function runs
};

/// Count to 7 by steps of 1 (action 0) or 2 (action 1), or add 1 and move again (action 2).
class RaceState final : public ForeignState {
 public:
  explicit RaceState(Script& script) : script_(script) { ++script_.alive; }
  ~RaceState() override { --script_.alive; }

  [[nodiscard]] std::unique_ptr<ForeignState> clone() const override {
    check("clone");
    auto copy = std::make_unique<RaceState>(script_);
    copy->count_ = count_;
    copy->player_ = player_;
    return copy;
  }
  [[nodiscard]] bool is_terminal() const override {
    check("is_terminal");
    return count_ >= 7;
  }
  [[nodiscard]] long long current_player() const override {
    check("current_player");
    return count_ == 4 && script_.player_at_4 != 0 ? script_.player_at_4 : player_;
  }
  [[nodiscard]] std::array<double, 2> returns() const override {
    check("returns");
    return player_ == 1 ? script_.win : std::array{script_.win[1], script_.win[0]};
  }
  void legal_actions(std::vector<long long>& actions) const override {
    check("legal_actions");
    actions = script_.legal;
  }
  void apply_action(Action action) override {
    check("apply_action");
    count_ += action == 1 ? 2 : 1;
    if (action != 2 || count_ >= 7) player_ = 1 - player_;
  }
  [[nodiscard]] std::optional<std::array<double, 2>> play_out(
      Rng& /*rng*/, int /*to_move*/, std::uint64_t /*origin*/) const override {
    check("play_out");
    return script_.library;
  }
  [[nodiscard]] bool has_text() const noexcept override { return true; }
  [[nodiscard]] std::string to_string() const override { return std::to_string(count_); }
  void observation(std::span<float> planes) const override {
    planes[0] = static_cast<float>(count_);
  }
  [[nodiscard]] std::optional<bool> equals(const ForeignState& /*other*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint64_t> hash() const override { return std::nullopt; }

 private:
  void check(const char* verb) const {
    if (script_.fail == verb) throw std::domain_error(verb);
    if (script_.meanwhile) script_.meanwhile(verb);
  }
  Script& script_;
  int count_ = 0;
  int player_ = 0;
};

class RaceRules final : public ForeignRules {
 public:
  explicit RaceRules(Script& script, double most = 1.0)
      : ForeignRules({.name = "race",
                      .text = "test:race",
                      .params = {},
                      .shape = {.rows = 1, .columns = 3, .num_actions = 3, .max_game_length = 7},
                      .observation_shape = {1, 1, 1},
                      .max_utility = most}),
        script_(script) {}
  [[nodiscard]] std::unique_ptr<ForeignState> initial_state() const override {
    return std::make_unique<RaceState>(script_);
  }
  [[nodiscard]] int enter() const noexcept override { return ++script_.entered; }
  void leave(int token) const noexcept override {
    CHECK(token == script_.entered);
    --script_.entered;
  }

 private:
  Script& script_;
};

std::shared_ptr<const AnyGame> race(Script& script, double most = 1.0) {
  return std::make_shared<ForeignGame>(std::make_shared<RaceRules>(script, most));
}

State race_state(Script& script, const std::vector<Action>& moves, double most = 1.0) {
  State state(race(script, most));
  for (const Action move : moves) state.apply_action(move);
  return state;
}

}  // namespace

TEST_CASE("every registered game loads with its defaults and has a readable description") {
  for (const std::string_view name : registered_games()) {
    const auto game = load_game(name);
    const NamedParams named = parse_named_params(game->to_string());
    CHECK(named.name == name);
    CHECK(load_game(named.name, named.params)->to_string() == game->to_string());
    CHECK(same_game(*game, *load_game(name)));
  }
}

TEST_CASE("the error for an unknown game lists the known ones") {
  const auto message = message_of<ConfigError>([] { load_game("chess"); });
  CHECK(mentions(message, "\"chess\""));
  CHECK(mentions(message, "connect_four, go, gomoku"));
}

TEST_CASE("the registry chooses the type for the board size") {
  CHECK(dynamic_cast<const PositionOf<Othello>*>(&State(load_game("othello")).position()));
  const auto large = load_game("othello", {{"board_size", 10LL}});
  CHECK(dynamic_cast<const PositionOf<OthelloLarge>*>(large->initial_position().get()));
  const auto go9 = load_game("go", {{"board_size", 9LL}});
  CHECK(dynamic_cast<const PositionOf<Go9>*>(go9->initial_position().get()));
  const auto go10 = load_game("go", {{"rows", 2LL}, {"columns", 10LL}});
  CHECK(dynamic_cast<const PositionOf<Go13>*>(go10->initial_position().get()));
  CHECK(dynamic_cast<const PositionOf<Go19>*>(load_game("go")->initial_position().get()));
}

TEST_CASE("an illegal action is rejected and does not change the state") {
  State state(load_game("tic_tac_toe"));
  state.apply_action(4);
  for (const Action action : {4, -1, 9, 1 << 20}) {
    const auto message = message_of<IllegalActionError>([&] { state.apply_action(action); });
    CHECK(mentions(message, std::to_string(action)));
  }
  CHECK(state.history() == std::vector<ActionId>{4});
}

TEST_CASE("undoing all actions restores the start") {
  Rng rng(1);
  for (const std::string_view name : registered_games()) {
    State state = played(std::string(name).c_str(), {}, 20, rng);
    const State start(state.game());
    while (!state.history().empty()) state.undo_action();
    CHECK(state == start);
    CHECK(state.position().equals(start.position()));
    CHECK(mentions(message_of<ConfigError>([&] { state.undo_action(); }), "undo_action"));
  }
}

TEST_CASE("a serialised state reads back as the same state") {
  Rng rng(2);
  for (const std::string_view name : registered_games()) {
    for (const int plies : {0, 1, 15, 1000}) {
      const State state = played(std::string(name).c_str(), {}, plies, rng);
      const State again = State::deserialize(state.game(), state.serialize());
      CHECK(again == state);
      CHECK(again.position().equals(state.position()));
      CHECK(again.serialize() == state.serialize());
    }
  }
}

TEST_CASE("a given board with a ko survives serialisation") {
  const auto game = load_game("go", {{"board_size", 5LL}});
  const std::vector<std::string> rows{".XO..", "X.XO.", ".XO..", ".....", "....."};
  State state(game, read_board(*game, rows, 1, "B4"));
  CHECK_FALSE(state.position().is_legal(game->string_to_action("B4")));
  state.apply_action(game->string_to_action("E1"));
  const State again = State::deserialize(game, state.serialize());
  CHECK(again == state);
  CHECK(again.start()->ko == game->string_to_action("B4"));
}

TEST_CASE("states are equal if game, start and actions are") {
  const auto game = load_game("tic_tac_toe");
  const std::vector<std::string> empty{"...", "...", "..."};
  State a(game);
  State b(load_game("tic_tac_toe"));
  CHECK(a == b);
  CHECK_FALSE(a == State(game, read_board(*game, empty, 0)));
  CHECK_FALSE(a == State(load_game("mnk")));
  a.apply_action(0);
  CHECK_FALSE(a == b);
  const State copy = a;
  a.apply_action(1);
  CHECK(copy.history().size() == 1);
}

TEST_CASE("a position returned by a search becomes a state with its history") {
  const auto game = load_game("connect_four");
  auto position = game->initial_position();
  position->play(3);
  position->play(2);
  const State state(game, std::nullopt, std::move(position), {3, 2});
  State expected(game);
  expected.apply_action(3);
  expected.apply_action(2);
  CHECK(state == expected);
  CHECK(state.serialize() == expected.serialize());
}

TEST_CASE("perft counts finished games once or not at all") {
  const State state(load_game("tic_tac_toe"));
  CHECK(perft(state.position(), 0) == 1);
  CHECK(perft(state.position(), 5) == 15120);
  CHECK(perft(state.position(), 9) == 255168);
  CHECK(perft(state.position(), 9, PerftEnds::skip) == 127872);
  CHECK(mentions(message_of<ConfigError>([&] { perft(state.position(), -1); }), "depth"));
}

TEST_CASE("a foreign game plays like a built-in one, even if players move twice in a row") {
  Script script;
  State state = race_state(script, {2, 2, 1, 0, 2});
  CHECK(state.position().to_move() == 0);
  ActionList moves;
  state.position().legal_actions(moves);
  CHECK(std::vector<int>(moves.begin(), moves.end()) == std::vector<int>{0, 1, 2});
  state.apply_action(0);
  REQUIRE(state.position().outcome().has_value());
  CHECK(state.position().outcome()->first == 1.0F);
  CHECK(state.position().to_string() == "7");
  std::array<float, 1> planes{};
  CHECK(state.position().observation(planes));
  CHECK(planes[0] == 7.0F);
}

TEST_CASE("returns of a foreign game are divided by its max_utility") {
  Script script;
  script.win = {10.0, -10.0};
  const State state = race_state(script, {1, 1, 1, 0}, 40.0);
  CHECK(state.position().outcome()->first == -0.25F);
}

TEST_CASE("a foreign game that breaks a promise is rejected by name") {
  Script script;
  const auto refusal = [&](auto&& change) {
    script = Script{};
    State state = race_state(script, {1, 0});
    change();
    return message_of<ConfigError>([&] { perft(state.position(), 5); });
  };
  CHECK(mentions(refusal([&] { script.player_at_4 = -1; }), "chance"));
  CHECK(mentions(refusal([&] { script.player_at_4 = -2; }), "simultaneous"));
  CHECK(mentions(refusal([&] { script.player_at_4 = 3; }), "two-player"));
  CHECK(mentions(refusal([&] { script.legal = {}; }), "empty"));
  CHECK(mentions(refusal([&] { script.legal = {0, 3}; }), "0..2"));
  CHECK(mentions(refusal([&] { script.legal = {-1}; }), "got -1"));
  CHECK(mentions(refusal([&] { script.legal = {1, 1}; }), "twice"));
  CHECK(mentions(refusal([&] { script.win = {1.0, 0.0}; }), "zero-sum"));
  CHECK(mentions(refusal([&] { script.win = {2.0, -2.0}; }), "max_utility"));
  CHECK(mentions(refusal([&] { script.win = {std::nan(""), 0.0}; }), "finite"));
}

TEST_CASE("exceptions of foreign code propagate unchanged and the state is intact") {
  for (const char* verb :
       {"clone", "is_terminal", "current_player", "legal_actions", "apply_action"}) {
    Script script;
    State state = race_state(script, {1});
    const std::uint64_t expected = perft(state.position(), 4);
    script.fail = verb;
    for (int i = 0; i < 2; ++i) {
      CHECK(message_of<std::domain_error>([&] { state.apply_action(0); }) == verb);
      CHECK(message_of<std::domain_error>([&] { perft(state.position(), 4); }) == verb);
    }
    script.fail = "";
    CHECK(state.history().size() == 1);
    CHECK(perft(state.position(), 4) == expected);
  }
}

TEST_CASE("a move made during a foreign game's call frees nothing that is in use") {
  for (const std::string_view during : {"clone", "legal_actions", "apply_action"}) {
    Script script;
    State state = race_state(script, {1});
    bool played = false;
    script.meanwhile = [&](std::string_view verb) {
      if (verb != during || std::exchange(played, true)) return;
      state.apply_action(1);
    };
    CHECK(mentions(message_of<EngineError>([&] { state.apply_action(0); }), "another thread"));
    CHECK(state.history() == std::vector<ActionId>{1, 1});
    CHECK(state.position().to_string() == "4");
  }
}

TEST_CASE("a copy has a consistent position and history") {
  Script script;
  State state = race_state(script, {1});
  bool played = false;
  script.meanwhile = [&](std::string_view) {
    if (!std::exchange(played, true)) state.apply_action(1);
  };
  const State copy = state;
  CHECK(copy.history() == std::vector<ActionId>{1});
  CHECK(copy.position().to_string() == "2");
  CHECK(state.position().to_string() == "4");
}

TEST_CASE("a failed foreign position has no moves and no outcome, and stays failed") {
  Script script;
  ForeignPosition position(ForeignPosition::Params{std::make_shared<RaceRules>(script)});
  script.fail = "apply_action";
  position.play(0);
  script.fail = "";
  ActionList moves;
  position.legal_actions(moves);
  CHECK(moves.empty());
  CHECK_FALSE(position.outcome().has_value());
  const ForeignPosition copy = position;
  for (int i = 0; i < 2; ++i) {
    CHECK(message_of<std::domain_error>([&] { position.rethrow_if_failed(); }) == "apply_action");
    CHECK(message_of<std::domain_error>([&] { copy.rethrow_if_failed(); }) == "apply_action");
  }
}

TEST_CASE("foreign positions with the same history are equal and have the same hash") {
  Script script;
  const ForeignPosition start(ForeignPosition::Params{std::make_shared<RaceRules>(script)});
  ForeignPosition a = start;
  ForeignPosition b = start;
  CHECK(a == b);
  a.play(0);
  CHECK_FALSE(a == b);
  b.play(0);
  CHECK(a == b);
  CHECK(a.hash() == b.hash());
  CHECK_FALSE(a.hash() == start.hash());
  CHECK_FALSE(start == ForeignPosition(start.params()));
}

TEST_CASE("a walk enters and leaves a foreign game once, and no state is left behind") {
  Script script;
  {
    const ForeignPosition position(ForeignPosition::Params{std::make_shared<RaceRules>(script)});
    const ForeignPosition::WalkScope scope(position);
    CHECK(script.entered == 1);
    ForeignPosition walker = position;
    for (int i = 0; i < 3; ++i) walker.play(1);
    walker = position;
    CHECK(script.alive == 2);
    CHECK(script.entered == 1);
  }
  CHECK(script.entered == 0);
  CHECK(script.alive == 0);
}

TEST_CASE("a playout of a foreign game ends, even if its code fails") {
  Script script;
  Rng rng(3);
  PlayoutSpace space;
  auto position = race(script)->initial_position();
  const Outcome outcome = position->play_out(rng, space).outcome;
  CHECK(std::abs(outcome.first) == 1.0F);
  position = race(script)->initial_position();
  script.fail = "apply_action";
  CHECK(message_of<std::domain_error>([&] { position->play_out(rng, space); }) == "apply_action");
}

TEST_CASE("a playout of a foreign game follows its functions move by move") {
  Script script;
  PlayoutSpace space;
  const auto position = race(script)->initial_position();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    Rng again(seed);
    const Playout found = position->play_out(rng, space);
    const auto line = position->clone();
    ActionList moves;
    int plies = 0;
    for (; !line->outcome(); ++plies) {
      line->legal_actions(moves);
      line->play(moves[static_cast<int>(again.below(static_cast<std::uint32_t>(moves.size())))]);
    }
    CHECK(found == Playout{*line->outcome(), plies});
  }
}

TEST_CASE("a foreign game's own playout replaces its moves, and is validated") {
  Script script;
  script.library = {0.5, -0.5};
  Rng rng(3);
  PlayoutSpace space;
  const auto position = race(script)->initial_position();
  CHECK(position->play_out(rng, space).outcome.first == 0.5F);
  position->play(1);
  CHECK(position->play_out(rng, space).outcome.first == 0.5F);
  script.library = {2.0, -2.0};
  CHECK(mentions(message_of<ConfigError>([&] { position->play_out(rng, space); }),
                 "play_out() must lie within"));
  script.fail = "play_out";
  CHECK(message_of<std::domain_error>([&] { position->play_out(rng, space); }) == "play_out");
}

TEST_CASE("a foreign position that is played through equals the result of play()") {
  Script script;
  const ForeignPosition start(ForeignPosition::Params{std::make_shared<RaceRules>(script)});
  ForeignPosition played = start;
  ForeignPosition passed = start;
  for (const Action action : {0, 2, 1}) played.play(action);
  script.fail = "is_terminal";  // not called on the way
  for (const Action action : {0, 2}) passed.play_through(action);
  script.fail = "";
  passed.play(1);
  CHECK(passed == played);
  CHECK(passed.hash() == played.hash());
  CHECK(passed.to_move() == played.to_move());
  CHECK(passed.outcome() == played.outcome());
  CHECK(passed.to_string() == played.to_string());
}

TEST_CASE("a foreign game's numbers must be consistent") {
  class Rules final : public ForeignRules {
   public:
    using ForeignRules::ForeignRules;
    [[nodiscard]] std::unique_ptr<ForeignState> initial_state() const override { return nullptr; }
  };
  const auto refusal = [](const GameShape& shape, double most) {
    ForeignInfo info;
    info.name = "odd";
    info.shape = shape;
    info.max_utility = most;
    return message_of<ConfigError>([&] { const Rules rules(info); });
  };
  CHECK(mentions(refusal({.num_actions = 0}, 1.0), "num_distinct_actions"));
  CHECK(mentions(refusal({.num_actions = 1 << 16}, 1.0), "1..65535, got 65536"));
  CHECK(mentions(refusal({.num_actions = 1}, 0.0), "max_utility"));
  const GameShape small{
      .rows = 3, .columns = 3, .num_actions = 4, .symmetry = SymmetryGroup::square};
  CHECK(mentions(refusal(small, 1.0), "points of board_shape"));
  CHECK(refusal({.num_actions = 4}, 1.0).empty());
}
