#include "path_call.h"

#include <tuple>
#include <utility>

#include "exact/astar/weights.h"
#include "interpreter.h"
#include "python_error.h"
#include "signals.h"

namespace pyengine::bindings {
namespace {

constexpr std::chrono::milliseconds kReportEvery{100};

}  // namespace

PathCall::PathCall(const std::string& method, double weight_g, double weight_h,
                   std::optional<double> seconds, std::uint64_t memory_limit, bool keep_status,
                   py::object on_progress)
    : query_{.method = method == "ida" ? astar::Method::ida : astar::Method::astar,
             .keep_states = keep_status},
      seconds_(seconds),
      memory_limit_(memory_limit),
      on_progress_(std::move(on_progress)),
      on_main_thread_(is_main_thread()) {
  std::tie(query_.weight_g, query_.weight_h) = astar::scaled_weights(weight_g, weight_h);
}

astar::Limits PathCall::limits_without_gil() {
  begun_ = last_report_ = Clock::now();
  return {memory_limit_, seconds_, [this](const astar::Counts& counts) {
            throw_if_ending();
            if (!on_main_thread_ && !report_is_due()) return true;
            const WithGil gil;
            return calling_python([&] {
              raise_signals();
              return report(counts);
            });
          }};
}

astar::Limits PathCall::limits_with_gil() {
  begun_ = last_report_ = Clock::now();
  return {memory_limit_, seconds_,
          [this](const astar::Counts& counts) {
            raise_signals();
            return report(counts);
          },
          1};  // an expansion calls user code
}

bool PathCall::report_is_due() const {
  return !on_progress_.is_none() && Clock::now() - last_report_ >= kReportEvery;
}

bool PathCall::report(const astar::Counts& counts) {
  if (!report_is_due()) return true;
  last_report_ = Clock::now();
  const double seconds = std::chrono::duration<double>(last_report_ - begun_).count();
  return goes_on(call_object(on_progress_, py::int_(counts.expanded), py::int_(counts.generated),
                             py::int_(counts.reopened), py::float_(seconds)));
}

py::dict fields_of(const astar::Answer& answer) {
  py::dict fields;
  fields["cost"] = answer.cost;
  fields["expanded"] = answer.counts.expanded;
  fields["generated"] = answer.counts.generated;
  fields["reopened"] = answer.counts.reopened;
  fields["optimal"] = answer.optimal;
  fields["bound"] = answer.bound;
  fields["stop_reason"] = astar::to_string(answer.stop);
  fields["bytes"] = answer.bytes;
  return fields;
}

}  // namespace pyengine::bindings
