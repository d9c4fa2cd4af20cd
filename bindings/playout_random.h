/// Random numbers for playouts that a user's game plays itself.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/rng.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// A stream with the methods of Python's random.Random that a playout needs. Seeding that class
/// takes 4 us and shuffling 48 items 9 us, as long as a playout of Hex; here both take below 1.
class PlayoutRandom {
 public:
  explicit PlayoutRandom(const Rng& rng) : rng_(rng) {}

  [[nodiscard]] const Rng& rng() const noexcept { return rng_; }
  double random() noexcept { return rng_.uniform(); }
  long long randrange(long long stop) {
    if (stop < 1 || stop > std::int64_t{UINT32_MAX}) {
      throw ConfigError("stop: expected an int in 1..4294967295, got " + std::to_string(stop));
    }
    return rng_.below(static_cast<std::uint32_t>(stop));
  }
  py::object choice(const py::sequence& items) {
    if (items.empty()) throw ConfigError("items: expected at least one, got none");
    return items[static_cast<std::size_t>(randrange(static_cast<long long>(items.size())))];
  }
  void shuffle(const py::list& items);

 private:
  Rng rng_;
};

}  // namespace pyengine::bindings
