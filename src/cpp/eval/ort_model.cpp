#include "eval/ort_model.h"

#include <filesystem>
#include <utility>

#include "base/error.h"

namespace pyengine::ort {

FairSharedMutex& device_gate() noexcept {
  static FairSharedMutex gate;
  return gate;
}

LoadedModel::LoadedModel(const Library& used, std::filesystem::path file, OrtOptions wanted)
    : library(used), path(std::move(file)), options(std::move(wanted)) {
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

OrtSession* LoadedModel::session_for(const std::vector<std::int64_t>& shape,
                                     const FirstRun& first_run) {
  const std::lock_guard alone(device_gate());
  if (const auto found = by_shape_.find(shape); found != by_shape_.end()) return found->second;
  OrtSession* taken = another();
  try {
    first_run(taken);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(taken);
    throw;
  }
  by_shape_.emplace(shape, taken);
  return taken;
}

}  // namespace pyengine::ort
