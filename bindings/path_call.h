/// One call of a path search: its arguments, limits and callbacks.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "collected.h"
#include "exact/astar/answer.h"
#include "exact/astar/limits.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// Validated by pyengine.astar. Created, used and destroyed with the GIL.
class PathCall {
 public:
  PathCall(const std::string& method, double weight_g, double weight_h,
           std::optional<double> seconds, std::uint64_t memory_limit, bool keep_status,
           py::object on_progress);

  [[nodiscard]] const astar::Query& query() const noexcept { return query_; }
  [[nodiscard]] int traverse(const Visit& visit) const { return visit(on_progress_); }
  /// Releases the GIL: the search runs without it and takes it for polls.
  [[nodiscard]] astar::Limits limits_without_gil();
  /// From now on the search runs with the GIL.
  [[nodiscard]] astar::Limits limits_with_gil();

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool report_is_due() const;
  /// Calls on_progress if it is due. Returns whether the search continues.
  bool report(const astar::Counts& counts);

  astar::Query query_;
  std::optional<double> seconds_;
  std::uint64_t memory_limit_;
  py::object on_progress_;  ///< or None; called with (expanded, generated, reopened, seconds)
  bool on_main_thread_;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point last_report_ = begun_;
};

/// The fields of pyengine.AStarResult except `path` and `seconds`.
py::dict fields_of(const astar::Answer& answer);

}  // namespace pyengine::bindings
