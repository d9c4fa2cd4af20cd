/// The extension module pyengine._core.
#include "bindings.h"
#include "processor.h"

PYBIND11_MODULE(_core, m, pybind11::mod_gil_not_used()) {
  pyengine::bindings::check_processor();
  m.doc() = "The C++ engine. Private: use the package pyengine.";
  m.attr("__version__") = PYENGINE_VERSION;
  pyengine::bindings::bind_errors(m);
  pyengine::bindings::bind_exit(m);
  pyengine::bindings::bind_playout_random(m);
  pyengine::bindings::bind_games(m);
  pyengine::bindings::bind_spec(m);
  pyengine::bindings::bind_eval(m);
  pyengine::bindings::bind_rollout(m);
  pyengine::bindings::bind_search(m);
  pyengine::bindings::bind_solve(m);
  pyengine::bindings::bind_astar(m);
  pyengine::bindings::bind_selfplay(m);
}
