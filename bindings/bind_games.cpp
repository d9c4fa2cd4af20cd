#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "base/error.h"
#include "base/text.h"
#include "bindings.h"
#include "casts.h"
#include "eval/network/spec.h"
#include "foreign_game.h"
#include "games/any/foreign.h"
#include "games/any/registry.h"
#include "games/any/state.h"
#include "games/common/perft.h"
#include "locked.h"
#include "playout_random.h"
#include "plugin/game_code.h"
#include "python_error.h"
#include "text.h"

namespace pyengine::bindings {
namespace {

using GamePtr = std::shared_ptr<AnyGame>;
/// The result of __reduce__ is a function with its arguments. BoardRows accepts any object, so that
/// the error can name it.
using BoardRows = py::object;
using Recipe = py::typing::Tuple<py::object, py::object>;

constexpr int kTerminalPlayer = -4;  ///< OpenSpiel's PlayerId.TERMINAL

// --- game ---------------------------------------------------------------------------------------

/// Merges parameters in the text form, such as "go(board_size=9)", and keyword arguments. The game
/// refuses duplicates.
GamePtr load(const Text& text, const py::kwargs& params) {
  NamedParams named = parse_named_params(text);
  for (auto& param : params_from(params)) named.params.push_back(std::move(param));
  return game_holder(load_game(named.name, named.params));
}

int checked_symmetry(const AnyGame& game, long long k) {
  const int count = game.symmetries().count();
  if (k >= 0 && k < count) return static_cast<int>(k);
  throw ConfigError(game.name() + ": symmetry must be in 0.." + std::to_string(count - 1) +
                    ", got " + std::to_string(k));
}

void check_action(const AnyGame& game, long long action) {
  const int count = game.shape().num_actions;
  if (action >= 0 && action < count) return;
  throw IllegalActionError(game.name() + ": action " + std::to_string(action) +
                           " does not exist, expected 0.." + std::to_string(count - 1));
}

State new_state(const GamePtr& game, const IntsArgument<"moves">& moves) {
  State state(game);
  for (const long long move : moves.values) {
    check_action(*game, move);
    state.apply_action(static_cast<Action>(move));
  }
  return state;
}

/// Accepts a list of rows, or one string with one row per line.
std::vector<std::string> rows_from(const py::object& rows) {
  const py::object list = py::isinstance<py::str>(rows) ? rows.attr("split")() : rows;
  PyObject* iterator = PyObject_GetIter(list.ptr());
  if (iterator == nullptr) {
    clear_refusal();
    throw ConfigError("state_from_board: rows: expected strings, got " + repr_of(rows));
  }
  std::vector<std::string> lines;
  for (const auto& line : py::reinterpret_steal<py::iterator>(iterator)) {
    if (!py::isinstance<py::str>(line)) {
      throw ConfigError("state_from_board: rows: expected strings, got " + repr_of(line));
    }
    lines.push_back(utf8_of(line));
  }
  return lines;
}

State board_state(const GamePtr& game, const BoardRows& rows, IntArgument<"player"> player,
                  const std::optional<TextArgument<"ko">>& ko) {
  const auto to_move = static_cast<int>(std::clamp<long long>(
      player, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
  const std::string point = ko.has_value() ? std::string(*ko) : std::string();
  return State(game, read_board(*game, rows_from(rows), to_move, point));
}

void bind_game(py::class_<AnyGame, GamePtr>& game) {
  game.def_property_readonly(
      "name", [](const AnyGame& self) { return Text(self.name()); },
      "The name, for example \"go\".");
  game.def_property_readonly(
      "params", [](const AnyGame& self) { return params_to(self.params()); },
      "All parameters by name, defaults included.");
  game.def_property_readonly(
      "board_shape",
      [](const AnyGame& self) { return std::make_pair(self.shape().rows, self.shape().columns); },
      "(H, W): rows and columns.");
  game.def_property_readonly(
      "num_symmetries", [](const AnyGame& self) { return self.symmetries().count(); },
      "Number of board symmetries of the rules.");
  game.def_property_readonly(
      "has_board", [](const AnyGame& self) { return self.traits().has_stones; },
      "Whether the game has board_rows(); False for a game in Python.");
  game.def_property_readonly(
      "has_setup", [](const AnyGame& self) { return self.traits().has_setup; },
      "Whether the game has state_from_board().");
  game.def_property_readonly(
      "has_transposition_key",
      [](const AnyGame& self) { return self.traits().has_transposition_key; },
      "Whether a search can recognise its positions: SearchConfig.graph.");
  game.def_property_readonly(
      "observation_shape",
      [](const AnyGame& self) {
        const auto [c, h, w] = self.traits().observation_shape;
        return std::make_tuple(c, h, w);
      },
      "(C, H, W) of a user's observation_tensor; (0, 0, 0) if the game has none.");
  game.def(
      "num_distinct_actions", [](const AnyGame& self) { return self.shape().num_actions; },
      "A, the number of actions 0..A-1.");
  game.def(
      "max_game_length", [](const AnyGame& self) { return self.shape().max_game_length; },
      "Maximum length of a game in plies.");
  game.def("num_players", [](const AnyGame&) { return 2; }, "Always 2.");
  game.def("__repr__", [](const AnyGame& self) {
    return Text("Game(" + utf8_of(py::repr(text_of(self.to_string()))) + ")");
  });
  game.def("__str__", [](const AnyGame& self) { return Text(self.to_string()); });
  game.def(
      "__eq__",
      [](const AnyGame& self, const py::object& other) {
        return py::isinstance<AnyGame>(other) && same_game(self, other.cast<const AnyGame&>());
      },
      py::is_operator(), "Compare name and parameters.");
  game.def("__hash__", [](const AnyGame& self) { return py::hash(text_of(self.to_string())); });
}

void bind_game_states(py::class_<AnyGame, GamePtr>& game) {
  game.def("new_initial_state", &new_state, py::arg("moves") = IntsArgument<"moves">{},
           "Return the initial state after `moves` (actions). Raises IllegalActionError.");
  game.def(
      "state_from_board", &board_state, py::arg("rows"),
      py::arg("player") = IntArgument<"player">{}, py::kw_only(), py::arg("ko") = py::none(),
      "Return a state that starts from a board.\n\n"
      "`rows`: H strings of W characters, top row first (or one string with a row per line): X or "
      "x is a\n"
      "stone of player 0, O or o of player 1, . or - empty. `player` is to move. `ko` (Go): the\n"
      "point, such as \"D4\", that the ko rule forbids. The state has an empty history.\n"
      "Raises ConfigError with the reason if the position is invalid.");
  game.def(
      "deserialize_state",
      [](const GamePtr& self, const TextArgument<"text">& text) {
        return State::deserialize(self, text);
      },
      py::arg("text"), "Return the state of State.serialize(). Raises ConfigError.");
  game.def(
      "symmetry_action",
      [](const AnyGame& self, IntArgument<"k"> k, ActionArgument action) -> int {
        check_action(self, action);
        const auto& map =
            self.symmetries().action[static_cast<std::size_t>(checked_symmetry(self, k))];
        return map[static_cast<std::size_t>(action.value)];
      },
      py::arg("k"), py::arg("action"),
      "Return the image of an action under symmetry k; 0 is the identity.");
  game.def(
      "symmetry_points",
      [](const AnyGame& self, IntArgument<"k"> k) {
        const auto& map =
            self.symmetries().point[static_cast<std::size_t>(checked_symmetry(self, k))];
        return std::vector<int>(map.begin(), map.end());
      },
      py::arg("k"), "Return the image of each point row * W + column under symmetry k.");
}

// --- state --------------------------------------------------------------------------------------

/// The user's state inside `state`, or nullptr.
const ForeignState* foreign_state(const State& state) {
  const auto* foreign = dynamic_cast<const PositionOf<ForeignPosition>*>(&state.position());
  return foreign != nullptr ? foreign->value.state() : nullptr;
}

int current_player(const State& state) {
  return state.position().outcome().has_value() ? kTerminalPlayer : state.position().to_move();
}

std::vector<int> legal_actions(const State& state) {
  ActionList moves;
  if (!state.position().outcome().has_value()) state.position().legal_actions(moves);
  state.position().rethrow_if_failed();
  return to_vector(moves);
}

void apply_action(State& state, ActionArgument action) {
  check_action(*state.game(), action);
  state.apply_action(static_cast<Action>(action.value));
}

std::vector<float> returns(const State& state) {
  const auto outcome = state.position().outcome();
  if (!outcome.has_value()) return {0.0F, 0.0F};
  return {outcome->for_player(0), outcome->for_player(1)};
}

Text action_to_string(const State& state, ActionArgument action) {
  check_action(*state.game(), action);
  const auto number = static_cast<Action>(action.value);
  if (const ForeignState* foreign = foreign_state(state)) return foreign->action_to_string(number);
  return state.game()->action_to_string(number);
}

/// In a user's game only legal actions have known names, since names may depend on the state.
Action find_foreign_action(const State& state, const ForeignState& foreign, std::string_view text) {
  Action number = kNoAction;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const bool is_number = error == std::errc{} && stop == end;
  for (const int action : legal_actions(state)) {
    if (foreign.action_to_string(action) == text) return action;
  }
  return is_number && number >= 0 && number < state.game()->shape().num_actions ? number
                                                                                : kNoAction;
}

Action string_to_action(const State& state, const TextArgument<"text">& text) {
  const ForeignState* foreign = foreign_state(state);
  const Action action = foreign != nullptr ? find_foreign_action(state, *foreign, text)
                                           : state.game()->string_to_action(text);
  if (action != kNoAction) return action;
  ActionList moves;
  state.position().legal_actions(moves);
  std::string example;
  if (!moves.empty())
    example =
        ", expected for example " + in_quotes(action_to_string(state, ActionArgument{moves[0]}));
  throw IllegalActionError(state.game()->name() + ": " + in_quotes(text) + " is not an action" +
                           example);
}

std::vector<std::string> board_rows(const State& state, IntArgument<"plies_ago"> plies_ago) {
  const AnyGame& game = *state.game();
  if (!game.traits().has_stones)
    throw ConfigError(game.name() + ": the board of a user's game is unknown");
  if (plies_ago < 0 || plies_ago >= kMaxPlyPlanes) {
    throw ConfigError("plies_ago: expected 0.." + std::to_string(kMaxPlyPlanes - 1) + ", got " +
                      std::to_string(plies_ago));
  }
  BoardBits first;
  BoardBits second;
  state.position().stones(plies_ago, first, second);
  const auto columns = static_cast<std::size_t>(game.shape().columns);
  std::vector<std::string> rows(static_cast<std::size_t>(game.shape().rows),
                                std::string(columns, '.'));
  const auto write = [&](const BoardBits& bits, char stone) {
    bits.for_each([&](int point) {
      const auto index = static_cast<std::size_t>(point);
      rows[index / columns][index % columns] = stone;
    });
  };
  write(first, 'X');
  write(second, 'O');
  return rows;
}

py::object transposition_key(const State& state) {
  const auto key = state.position().transposition_key();
  if (!key) return py::none();
  return (py::int_(key->high) << py::int_(64)) | py::int_(key->low);
}

std::vector<float> play_out(const State& state, const PlayoutRandom& random) {
  Rng rng = random.rng();
  PlayoutSpace space;
  const Outcome outcome = state.position().play_out(rng, space).outcome;
  return {outcome.for_player(0), outcome.for_player(1)};
}

Text describe(const State& state) {
  const int player = current_player(state);
  return "<State of " + state.game()->to_string() + ", ply " +
      std::to_string(state.history().size()) +
      (player == kTerminalPlayer ? ", finished>"
                                 : ", player " + std::to_string(player) + " to move>");
}

Recipe reduce_state(const State& state) {
  return py::make_tuple(py::cast(game_holder(state.game())).attr("deserialize_state"),
                        py::make_tuple(text_of(state.serialize())));
}

void bind_state(py::class_<State>& state) {
  state.def_property_readonly(
      "game", locked([](const State& self) { return game_holder(self.game()); }), "The game.");
  state.def("current_player", locked(&current_player), "Return 0 or 1; -4 if the game is over.");
  state.def("legal_actions", locked(&legal_actions),
            "Return the legal actions in ascending order; empty if the game is over.");
  state.def(
      "apply_action", locked(&apply_action), py::arg("action"),
      "Play an action. Raises IllegalActionError if it is illegal; the state is then unchanged.");
  state.def("undo_action", locked(&State::undo_action),
            "Undo the last action (by replaying the others). Raises ConfigError at the start.");
  state.def("is_terminal",
            locked([](const State& self) { return self.position().outcome().has_value(); }),
            "Return whether the game is over.");
  state.def("returns", locked(&returns),
            "Return [r0, r1] of the players, each in [-1, 1]; zeros before the end of the game.");
  state.def("action_to_string", locked(&action_to_string), py::arg("action"),
            "Return the name of a legal or illegal action: \"D4\", \"pass\".");
  state.def("string_to_action", locked(&string_to_action), py::arg("text"),
            "Return the action with this name, legal or not.\n"
            "Raises IllegalActionError if there is no such action.");
  state.def("history", locked([](const State& self) {
              return std::vector<int>(self.history().begin(), self.history().end());
            }),
            "Return the actions since the start.");
}

void bind_state_value(py::class_<State>& state) {
  state.def("clone", locked([](const State& self) { return State(self); }),
            "Return an independent copy.");
  state.def("__copy__", locked([](const State& self) { return State(self); }));
  state.def("__deepcopy__",
            locked([](const State& self, const py::object&) { return State(self); }),
            py::arg("memo"));
  state.def(
      "__eq__",
      [](const StateObject& self, const py::object& other) {
        if (!py::isinstance<State>(other)) return false;
        const py::scoped_critical_section held(self.object(), other);
        return self.state() == other.cast<const State&>();
      },
      py::is_operator(), "Compare game, start and actions.");
  state.def("transposition_key", locked(&transposition_key),
            "Return the key in 0..2**128-1 of a search with graph=True, or None: a built-in game "
            "without\n"
            "one, or where legal moves may depend on earlier positions; a user's game.");
  state.def("play_out", locked(&play_out), py::arg("rng"),
            "Play to the end, uniformly at random or by the game's own method; return [r0, r1].\n"
            "The state and `rng` do not change.");
  state.def(
      "hash", locked([](const State& self) { return self.position().hash(); }),
      "Return a 64-bit hash of the board, the player to move and, in Go, ko point and passes,\n"
      "but not of earlier boards (superko). It is the same in every process. For a user's game it\n"
      "is the hash of the state or of the actions.");
  state.def("__hash__", locked([](const State& self) {
              return static_cast<py::ssize_t>(self.position().hash() >> 1U);  // Py_hash_t is signed
            }));
  state.def("__str__", locked([](const State& self) { return Text(self.position().to_string()); }));
  state.def("__repr__", locked(&describe));
  state.def(
      "board_rows", locked(&board_rows), py::arg("plies_ago") = IntArgument<"plies_ago">{},
      "Return the stones as H strings of W characters, top row first: X is player 0, O is player "
      "1,\n"
      ". is empty. The inverse is Game.state_from_board. `plies_ago`: 0..7; the board is empty\n"
      "before the start. Raises ConfigError for a user's game.");
  state.def("serialize", locked([](const State& self) { return Text(self.serialize()); }),
            "Return one line of text for Game.deserialize_state().");
  state.def("__reduce__", locked(&reduce_state));
}

// --- functions ----------------------------------------------------------------------------------

SymmetryGroup symmetry_group(const std::string& game, int count) {
  switch (count) {
    case 1:
      return SymmetryGroup::none;
    case 2:
      return SymmetryGroup::mirror;
    case 4:
      return SymmetryGroup::rectangle;
    case 8:
      return SymmetryGroup::square;
    default:
      throw ConfigError("game " + in_quotes(game) + ": num_symmetries must be 1, 2, 4 or 8, got " +
                        std::to_string(count));
  }
}

GamePtr wrap_game(const py::object& game, const Text& name, const Text& text,
                  const ParamDict& params, int num_actions, std::pair<int, int> board_shape,
                  int num_symmetries, int max_game_length, std::array<int, 3> observation_shape,
                  bool has_binary_planes, double max_utility, bool actions_stay_legal) {
  return wrap_foreign_game(game,
                           ForeignInfo{.name = name,
                                       .text = text,
                                       .params = params_from(params),
                                       .shape = {.rows = board_shape.first,
                                                 .columns = board_shape.second,
                                                 .num_actions = num_actions,
                                                 .max_game_length = max_game_length,
                                                 .pass = kNoAction,
                                                 .symmetry = symmetry_group(name, num_symmetries)},
                                       .observation_shape = observation_shape,
                                       .max_utility = max_utility,
                                       .has_binary_planes = has_binary_planes,
                                       .actions_stay_legal = actions_stay_legal});
}

void bind_functions(py::module_& m) {
  m.def(
      "registered_games",
      [] {
        py::typing::Tuple<py::str, py::ellipsis> names = py::tuple(py::cast(registered_games()));
        return names;
      },
      "Return the names of all games in alphabetical order.");
  m.def("load_game", &load, py::arg("name"), py::pos_only(),
        "Return a game by name or text form; see pyengine.load_game.");
  m.def(
      "add_game",
      [](const py::capsule& game, const std::string& name) {
        const char* kind = game.name();
        if (kind == nullptr || std::string_view(kind) != "pyengine.game") {
          throw ConfigError("expected the capsule of a game, got " + repr_of(game));
        }
        add_game(*game.get_pointer<const GameCapsule>(), name, PYENGINE_PYTHON_ABI);
      },
      py::arg("game"), py::arg("name"), py::pos_only(),
      "Make load_game accept a module's game, given its capsule. Raises ConfigError.");
  m.def("wrap_game", &wrap_game, py::arg("game"), py::kw_only(), py::arg("name"), py::arg("text"),
        py::arg("params"), py::arg("num_actions"), py::arg("board_shape"),
        py::arg("num_symmetries"), py::arg("max_game_length"), py::arg("observation_shape"),
        py::arg("has_binary_planes"), py::arg("max_utility"), py::arg("actions_stay_legal"),
        "Wrap a Python game; see pyengine.games.as_game.");
  m.def(
      "unwrap_game", [](const AnyGame& game) { return unwrap_foreign_game(game); }, py::arg("game"),
      "Return the object behind a wrapped game, or None.");
  m.def("unwrap_state",
        locked([](const State& state) { return unwrap_foreign_position(state.position()); }),
        py::arg("state"), "Return a copy of the user's state behind a State, or None.");
  m.def(
      "perft",
      [](const py::object& state, int depth, bool count_finished, const py::object& game) {
        const auto ends = count_finished ? PerftEnds::count : PerftEnds::skip;
        if (game.is_none()) return perft(copy_of(state).position(), depth, ends);
        return perft(*position_from(game_from(game), state), depth, ends);
      },
      py::arg("state"), py::arg("depth"), py::kw_only(), py::arg("count_finished") = true,
      py::arg("game") = py::none(), "See pyengine.perft.");
}

}  // namespace

void bind_games(py::module_& m) {
  prepare_foreign_games();
  py::class_<AnyGame, GamePtr> game(m, "Game", "A game with its parameters.",
                                    collected<AnyGame, &traverse_game, &clear_game>());
  py::class_<State> state(
      m, "State", collected<State, &traverse_state>(),
      "A game in progress. Created by Game.new_initial_state or Game.state_from_board.\n\n"
      "Example:\n"
      "    >>> import pyengine\n"
      "    >>> state = pyengine.load_game(\"connect_four\").new_initial_state()\n"
      "    >>> state.apply_action(state.string_to_action(\"4\"))\n"
      "    >>> state.current_player(), state.legal_actions(), state.is_terminal()\n"
      "    (1, [0, 1, 2, 3, 4, 5, 6], False)\n"
      "    >>> state.observation_tensor().shape  # own stones, opponent's stones, player to move\n"
      "    (3, 6, 7)");
  bind_game(game);
  bind_game_states(game);
  bind_state(state);
  bind_state_value(state);
  bind_functions(m);
}

}  // namespace pyengine::bindings
