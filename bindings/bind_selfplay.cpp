#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bindings.h"
#include "casts.h"
#include "eval/encoder.h"
#include "games/state.h"
#include "selfplay/packed_planes.h"
#include "spec_cast.h"

namespace pyengine::bindings {
namespace {

/// A NumPy array of zeros.
template <class T>
py::array_t<T> array_of_shape(std::vector<py::ssize_t> shape) {
  py::array_t<T> array(std::move(shape));
  std::fill_n(array.mutable_data(), array.size(), T{});
  return array;
}

std::vector<std::string> plane_kinds(const py::object& game, const py::object& spec) {
  const Encoder encoder(spec_from(spec), *game_from(game));
  std::vector<std::string> kinds;
  for (const Encoder::Channel& channel : encoder.channels()) {
    const bool set = channel.storage == Encoder::Storage::set;
    kinds.emplace_back(set                                              ? "bits"
                           : channel.storage == Encoder::Storage::value ? "fill"
                                                                        : "dense");
  }
  return kinds;
}

/// int32[symmetries, C]: which of the dense planes a channel shows; -1 where it shows none.
py::array_t<std::int32_t> dense_slots(const py::object& game, const py::object& spec) {
  const auto any = game_from(game);
  const Encoder encoder(spec_from(spec), *any);
  const auto symmetries = static_cast<py::ssize_t>(std::max(1, any->symmetries().count()));
  const auto channels = encoder.channels();
  py::array_t<std::int32_t> slots({symmetries, static_cast<py::ssize_t>(channels.size())});
  auto out = slots.mutable_unchecked<2>();
  for (py::ssize_t k = 0; k < symmetries; ++k) {
    const auto& under = encoder.slots_under(static_cast<int>(k));
    for (std::size_t c = 0; c < channels.size(); ++c) {
      const bool dense = channels[c].storage == Encoder::Storage::dense;
      out(k, static_cast<py::ssize_t>(c)) = dense ? under[c] : -1;
    }
  }
  return slots;
}

py::tuple encode_planes(const py::sequence& states, const py::object& spec) {
  if (states.empty()) throw py::value_error("encode_planes: expected at least one state");
  const Encoder encoder(spec_from(spec), *states[0].cast<const State&>().game());
  const PackedShape shape = packed_shape(encoder);
  const auto count = static_cast<py::ssize_t>(states.size());
  auto bits = array_of_shape<std::uint8_t>(
      {count, shape.sets, static_cast<py::ssize_t>(shape.set_bytes())});
  auto fill = array_of_shape<float>({count, shape.values});
  auto dense = array_of_shape<float>({count, shape.dense, shape.points});
  PlaneStack planes;
  ActionList legal;
  for (py::ssize_t i = 0; i < count; ++i) {
    const AnyPosition& position =
        states[static_cast<std::size_t>(i)].cast<const State&>().position();
    legal.clear();
    if (!position.outcome().has_value()) position.legal_actions(legal);
    encoder.open(position, legal, planes);
    position.rethrow_if_failed();
    const auto row = static_cast<std::size_t>(i);
    const auto values = static_cast<std::size_t>(shape.values);
    pack_planes(shape, planes, {bits.mutable_data() + row * shape.bits(), shape.bits()},
                {fill.mutable_data() + row * values, values},
                {dense.mutable_data() + row * shape.numbers(), shape.numbers()});
  }
  return py::make_tuple(bits, fill, dense);
}

}  // namespace

void bind_selfplay(py::module_& m) {
  m.def("plane_kinds", &plane_kinds, py::arg("game"), py::arg("spec"),
        "[C]: \"bits\" (a set of points), \"fill\" (one number) or \"dense\" (a number a point).");
  m.def("dense_slots", &dense_slots, py::arg("game"), py::arg("spec"),
        "int32[symmetries, C]: which dense plane a channel shows under a symmetry, -1 = none.");
  m.def("encode_planes", &encode_planes, py::arg("states"), py::arg("spec"),
        "(bits uint8[N,P,B], fill float32[N,F], dense float32[N,D,H*W]) of states of one game;\n"
        "B = ceil(H*W / 8), point p is bit p % 8, the lowest first, of byte p // 8.");
}

}  // namespace pyengine::bindings
