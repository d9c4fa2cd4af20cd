#include "eval/ort_model.h"

#include <atomic>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace pyengine::ort {

FairSharedMutex& device_gate() noexcept {
  struct Gate {
    int forks;
    FairSharedMutex mutex;
  };
  static std::atomic<Gate*> current{new Gate{forks(), {}}};
  Gate* gate = current.load(std::memory_order_acquire);
  if (gate->forks == forks()) return gate->mutex;
  auto made = std::make_unique<Gate>(forks());
  if (current.compare_exchange_strong(gate, made.get(), std::memory_order_acq_rel)) {
    return made.release()->mutex;  // the parent's is left as it is
  }
  return gate->mutex;
}

LoadedModel::LoadedModel(const Library& used, std::filesystem::path file, OrtOptions wanted)
    : library(used), path(std::move(file)), options(std::move(wanted)) {
  std::error_code error;
  written_ = std::filesystem::last_write_time(path, error);
  if (options.providers.empty()) {
    open_on_best();
  } else {
    open(options.providers);
    reason = "named";
  }
  inputs = session_inputs(library.api(), session.get());
  outputs = session_outputs(library.api(), session.get());
  // A second session of a tiny model costs little memory and no thread then waits for another.
  constexpr std::uintmax_t kTiny = 2U << 20U;
  private_sessions_ =
      !on_device() && options.threads <= 1 && std::filesystem::file_size(path) < kTiny;
  idle_.push_back(session.get());
}

LoadedModel::~LoadedModel() {
  if (forked()) {
    static_cast<void>(session.release());  // its threads are the parent's
    for (auto& other : more_) static_cast<void>(other.release());
    static_cast<void>(session_options.release());
    return;
  }
  std::unique_lock alone(device_gate(), std::defer_lock);
  if (on_device()) alone.lock();
  more_.clear();
  session.reset();
}

void LoadedModel::open(const std::vector<OrtProvider>& providers) {
  provider = full_name(library, providers.front().name);
  std::unique_lock alone(device_gate(), std::defer_lock);
  if (on_device()) alone.lock();
  session_options = make_options(library, providers, options);
  session = make_session(library, path, session_options.get());
}

void LoadedModel::open_on_best() {
  try {
    open({{kCuda, {}}});
    reason = "the GPU works";
    return;
  } catch (const ModelError& error) {
    reason = error.what();
  }
  open({{kCpu, {}}});
}

OrtSession* LoadedModel::acquire() {
  if (!private_sessions_) return session.get();
  return another();
}

OrtSession* LoadedModel::another() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      OrtSession* taken = idle_.back();
      idle_.pop_back();
      return taken;
    }
  }
  std::error_code error;
  if (std::filesystem::last_write_time(path, error) != written_ || error) {
    throw EvaluationError("the model " + path.string() +
                          " has changed since it was opened: expected the same file for further "
                          "sessions; open it anew");
  }
  Handle<OrtSession> made = make_session(library, path, session_options.get());
  OrtSession* taken = made.get();
  const std::lock_guard lock(mutex_);
  more_.push_back(std::move(made));
  return taken;
}

void LoadedModel::release(OrtSession* given) {
  if (!private_sessions_ || forked()) return;
  const std::lock_guard lock(mutex_);
  idle_.push_back(given);
}

OrtSession* LoadedModel::known(const std::vector<std::int64_t>& shape) {
  const std::lock_guard lock(mutex_);
  const auto found = by_shape_.find(shape);
  return found == by_shape_.end() ? nullptr : found->second;
}

OrtSession* LoadedModel::session_for(const std::vector<std::int64_t>& shape,
                                     const FirstRun& first_run) {
  if (OrtSession* found = known(shape)) return found;
  const std::lock_guard alone(device_gate());
  if (OrtSession* found = known(shape)) return found;
  OrtSession* taken = another();
  try {
    first_run(taken);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(taken);
    throw;
  }
  const std::lock_guard lock(mutex_);
  by_shape_.emplace(shape, taken);
  return taken;
}

}  // namespace pyengine::ort
