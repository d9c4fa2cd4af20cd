#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "bindings.h"
#include "casts.h"
#include "eval/network/encoder.h"
#include "eval/network/spec_fields.h"
#include "python_error.h"
#include "settings_class.h"
#include "text.h"

namespace pybind11::detail {

template <>
struct type_caster<pyengine::ValueParts> {
  PYBIND11_TYPE_CASTER(pyengine::ValueParts, const_name("str | tuple[str, ...]"));
  static handle cast(const pyengine::ValueParts& parts, return_value_policy, handle) {
    if (parts.size() == 1) return str(parts.front()).release();
    list names;
    for (const std::string& part : parts) names.append(part);
    return tuple(names).release();
  }
};

}  // namespace pybind11::detail

namespace pyengine::bindings {
namespace {

constexpr const char* kSummary = R"(How a network reads a position and what its outputs mean.

Immutable and validated: :class:`~pyengine.ConfigError` names an invalid field.)";
constexpr const char* kPlanes = R"(Planes:
    own[t]: stones of the player to move, ``t`` plies ago, 0 <= t < 8. A pass is a ply;
        before the start all is empty.
    opp[t]: stones of the opponent, ``t`` plies ago.
    first[t]: stones of player 0, ``t`` plies ago.
    second[t]: stones of player 1, ``t`` plies ago.
    empty: points without a stone.
    last[t]: a single 1 at the point of the move ``t`` plies ago (in Connect Four where the
        stone landed); all 0 for a pass.
    first_to_move: all 1 if player 0 is to move, else all 0.
    second_to_move: all 1 if player 1 is to move, else all 0.
    mover_sign: all +1 if player 0 is to move, else all -1.
    ones: all 1.
    zeros: all 0.
    legal: points where a stone may be placed (in Connect Four where it would land).
    liberties[k]: Go: stones of chains with exactly ``k`` liberties; ``liberties[k+]``: with
        ``k`` or more.
    own_area: Go: the area of the player to move if the game ended now.
    opp_area: Go: the opponent's area.
    ko: Go: the point that the ko rule forbids.
    gomoku_*: Gomoku: the features of :meth:`gomoku17`.
    observation: all planes of a user's game. Such a game has only this plane and the constant
        ones.

Example:
    >>> import pyengine
    >>> spec = pyengine.ModelSpec(planes=("own[0:2]", "opp[0:2]"), policy="probs")
    >>> spec.planes
    ('own[0]', 'own[1]', 'opp[0]', 'opp[1]'))";
constexpr const char* kGomoku17 = R"(Return 17 features of each point; first is black, second white.

============================  ========================================================
``gomoku_stone``              -1 empty, 1 black, 2 white
``gomoku_line_*``             length of the row of one colour through this stone, / 5:
                              ``vertical``, ``horizontal``, ``diagonal`` (north-west to
                              south-east), ``antidiagonal``; 0 on an empty point
``gomoku_blocked_*``          ``n``, ``ne``, ``e``, ``se``, ``s``, ``sw``, ``w``, ``nw``:
                              1 if the neighbour is of the other colour or beyond the
                              edge, else 0; -1 on an empty point. North is the top row
``gomoku_distance``           Euclidean distance of the last two moves / (14 sqrt 2),
                              the same on all points; -1 with fewer than two moves
``gomoku_near_*``             ``first``, ``second``, ``empty``: number of such points in
                              the 7x7 square around this point, itself included, / 15
============================  ========================================================

Under a board symmetry the features are those of the transformed position: lines and
directions turn with the board. Raises ModelError if the spec does not fit the game.)";

/// The shape of the planes. Throws ModelError if the spec does not fit the game.
auto checked_shape(const ModelSpec& spec, const py::object& game) {
  return Encoder(spec, *game_from(game)).shape().dims();
}

template <ModelSpec (*kPreset)()>
ModelSpec preset(const py::object& game) {
  ModelSpec spec = kPreset();
  settle(spec);
  if (!game.is_none()) checked_shape(spec, game);
  return spec;
}

/// The planes, and the fields that differ from their defaults.
py::dict short_dict_of(const ModelSpec& spec) {
  const py::dict all = dict_of(spec);
  const py::dict defaults = dict_of(ModelSpec{});
  py::dict fields;
  for (const auto& [name, value] : all) {
    if (utf8_of(name) != "planes" && value.equal(defaults[name])) continue;
    const auto object = py::reinterpret_borrow<py::object>(value);
    fields[name] = py::isinstance<py::tuple>(value) ? py::object(py::list(object)) : object;
  }
  return fields;
}

ModelSpec from_json(const py::object& text) {
  const py::module_ json = py::module_::import("json");
  try {
    return from_dict<ModelSpec>(json.attr("loads")(text));
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError) &&
        !error.matches(PyExc_RecursionError)) {
      throw;
    }
    throw ConfigError("a spec must be JSON: " + str_of(error.value()));
  }
}

py::tuple final_board_outputs(const ModelSpec& spec) {
  py::list names;
  for (const auto& name : {spec.ownership_output, spec.score_output}) {
    if (name) names.append(text_of(*name));
  }
  return py::tuple(names);
}

ModelSpec without_final_board(ModelSpec spec) {
  spec.ownership_output.reset();
  spec.score_output.reset();
  return spec;
}

}  // namespace

void bind_spec(py::module_& m) {
  bind_setting(m);
  bind_settings<ModelSpec>(m, kSummary, kPlanes, &short_dict_of)
      .def_static("from_json", &from_json, py::arg("text"),
                  "Return the spec of to_json(). Raises ConfigError.")
      .def(
          "to_json",
          [](const ModelSpec& spec) -> py::str {
            return py::module_::import("json").attr("dumps")(short_dict_of(spec));
          },
          "Return the text for the metadata key ``pyengine.spec`` or a file MODEL.spec.json.")
      .def_property_readonly("final_board_outputs", &final_board_outputs,
                             "Names of the ownership and score tensors.")
      .def("without_final_board", &without_final_board,
           "Return the spec without the ownership and score outputs.")
      .def_static("alphago_zero", &preset<alphago_zero_spec>, py::arg("game") = py::none(),
                  "Return 17 planes: ``own[t]``, ``opp[t]`` interleaved for t = 0..7, then "
                  "``first_to_move``\n[Silver et al., 2017]. Raises ModelError if the spec does "
                  "not fit the game.")
      .def_static("leela_zero", &preset<leela_zero_spec>, py::arg("game") = py::none(),
                  "Return 18 planes: ``own[0:8]``, ``opp[0:8]``, ``first_to_move``, "
                  "``second_to_move``.\n\nThe bottom row comes first, in the input and in the "
                  "policy, as in Leela Zero. Raises ModelError\nif the spec does not fit the game.")
      .def_static("gomoku17", &preset<gomoku17_spec>, py::arg("game") = py::none(), kGomoku17);
  m.def(
      "check_fit",
      [](const py::object& spec, const py::object& game) {
        return checked_shape(spec_from(spec), game);
      },
      py::arg("spec"), py::arg("game"),
      "Return the shape of the planes in the spec's layout. Raises ModelError if the spec does "
      "not\n"
      "fit the game.");
}

}  // namespace pyengine::bindings
