/// Random playouts by OpenSpiel for its C++ games.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/rng.h"
#include "interpreter.h"

namespace pyengine::bindings {

namespace py = pybind11;

inline py::object interned(const char* name) {
  return py::reinterpret_steal<py::object>(PyUnicode_InternFromString(name));
}

inline bool is_open_spiels(const py::object& game) {
  return py::type::of(game).attr("__module__").cast<std::string>() == "pyspiel";
}

/// OpenSpiel's playouts. Its C++ search with a budget of one simulation evaluates the root with one
/// random game; the wheel offers no other access to its evaluator.
///
/// The random streams of a bot and its evaluator cannot be reseeded, and creating them costs a
/// third of a playout of Clobber. They are therefore shared by a series of consecutive leaves of a
/// search. A series begins at fixed leaf numbers, so that a repeated search sees the same games.
class OpenSpielPlayouts {
 public:
  /// Returns nullptr if the game is not a C++ game of OpenSpiel or its search does not support it.
  static std::unique_ptr<OpenSpielPlayouts> of(const py::object& game) {
    if (!is_open_spiels(game)) return nullptr;
    const py::module_ pyspiel = py::module_::import("pyspiel");
    for (const char* name : {"MCTSBot", "RandomRolloutEvaluator"}) {
      if (!py::hasattr(pyspiel, name)) return nullptr;
    }
    if (!py::hasattr(pyspiel.attr("MCTSBot"), "mcts_search")) return nullptr;
    auto playouts = std::make_unique<OpenSpielPlayouts>(game, pyspiel);
    try {
      static_cast<void>(playouts->bot(0));
    } catch (const py::error_already_set&) {
      return nullptr;  // rewards before the end, or another version's arguments
    }
    return playouts;
  }
  OpenSpielPlayouts(py::object game, const py::module_& pyspiel)
      : game_(std::move(game)),
        make_bot_(pyspiel.attr("MCTSBot")),
        make_evaluator_(pyspiel.attr("RandomRolloutEvaluator")) {}
  OpenSpielPlayouts(const OpenSpielPlayouts&) = delete;
  OpenSpielPlayouts& operator=(const OpenSpielPlayouts&) = delete;
  ~OpenSpielPlayouts() {
    for (py::object* object : {&game_, &make_bot_, &make_evaluator_, &search_, &reward_, &one_,
                               &zero_, &exploration_, &bot_}) {
      drop(object->release().ptr());
    }
  }

  /// The return of the player to move.
  [[nodiscard]] double play_out(const py::object& state, Rng& rng, std::uint64_t origin) {
    // Another thread may hold the series, in an interpreter without a GIL or after a finaliser
    // released the GIL. Waiting for it could deadlock.
    const std::unique_lock mine(mutex_, std::try_to_lock);
    if (!mine) return reward_of(new_bot(rng), state);
    if (!continues(rng, origin)) bot_ = new_bot(rng);
    origin_ = origin;
    key_ = rng.key();
    return reward_of(bot_, state);
  }

 private:
  static constexpr std::uint64_t kSeries = 64;  ///< maximum number of leaves

  [[nodiscard]] bool continues(const Rng& rng, std::uint64_t origin) const noexcept {
    const auto [seed, leaf] = rng.key();
    if (!bot_ || origin != origin_ || seed != key_[0]) return false;
    return leaf == key_[1] || (leaf == key_[1] + 1 && leaf % kSeries != 0);
  }
  [[nodiscard]] double reward_of(const py::object& bot, const py::object& state) const {
    const py::object root = invoke(search_, {bot.ptr(), state.ptr()}, true);
    return root.attr(reward_).cast<double>();
  }
  [[nodiscard]] py::object new_bot(Rng& rng) const {
    return bot(static_cast<int>(rng.below(std::numeric_limits<int>::max())));
  }
  [[nodiscard]] py::object bot(int seed) const {
    const py::int_ number(seed);
    const py::object evaluator = invoke(make_evaluator_, {one_.ptr(), number.ptr()});
    // game, evaluator, uct_c, max_simulations, max_memory_mb, solve, seed, verbose
    return invoke(make_bot_,
                  {game_.ptr(), evaluator.ptr(), exploration_.ptr(), one_.ptr(), zero_.ptr(),
                   Py_False, zero_.ptr(), Py_False});
  }
  static py::object invoke(const py::object& callable, std::initializer_list<PyObject*> arguments,
                           bool is_method = false) {
    PyObject* answer = surviving_exit([&] {
      return is_method
          ? PyObject_VectorcallMethod(callable.ptr(), arguments.begin(), arguments.size(), nullptr)
          : PyObject_Vectorcall(callable.ptr(), arguments.begin(), arguments.size(), nullptr);
    });
    if (answer == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(answer);
  }

  py::object game_;
  py::object make_bot_;
  py::object make_evaluator_;
  py::object search_ = interned("mcts_search");
  py::object reward_ = interned("total_reward");
  py::object one_ = py::int_(1);
  py::object zero_ = py::int_(0);
  py::object exploration_ = py::float_(1.0);
  std::mutex mutex_;  ///< guards the members below
  py::object bot_;    ///< of the current series
  std::uint64_t origin_ = 0;
  std::array<std::uint64_t, 2> key_{};  ///< of the last leaf's random stream
};

}  // namespace pyengine::bindings
