/// An open model file and its sessions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "eval/ort_session.h"

namespace pyengine::ort {

/// A shared mutex whose writer does not wait for ever while readers come and go.
class FairSharedMutex {
 public:
  void lock() {
    turn_.lock();
    gate_.lock();
  }
  void unlock() {
    gate_.unlock();
    turn_.unlock();
  }
  void lock_shared() {
    const std::lock_guard turn(turn_);
    gate_.lock_shared();
  }
  void unlock_shared() { gate_.unlock_shared(); }

 private:
  std::mutex turn_;  ///< held by the writer that waits: readers queue up behind it
  std::shared_mutex gate_;
};

/// Batches on GPUs share it; whoever opens, first runs or closes a session there has it alone. The
/// first run of a convolution may capture a stream, and meanwhile CUDA refuses other threads' calls
/// ("operation not permitted when stream is capturing"). A forked child has a gate of its own:
/// threads that it does not have may hold the parent's.
FairSharedMutex& device_gate() noexcept;

/// An open model file, shared by the networks made of it.
struct LoadedModel {
  using FirstRun = std::function<void(OrtSession*)>;

  LoadedModel(const Library& library, std::filesystem::path path, OrtOptions options);
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;
  ~LoadedModel();

  /// On the CPU: a session of the caller's own for tiny models, else the one session of all.
  OrtSession* acquire();
  /// Gives back what acquire() returned.
  void release(OrtSession* session);
  /// On a device: the session for inputs of this shape, which no other shape runs on. Opened at the
  /// first call and run by `first_run`, alone on the device; what that throws is passed on.
  OrtSession* session_for(const std::vector<std::int64_t>& shape, const FirstRun& first_run);

  [[nodiscard]] bool forked() const noexcept { return forks() != forks_at_load; }
  [[nodiscard]] bool on_gpu() const noexcept { return provider != kCpu; }
  /// Batches wait for a device that serves few at once.
  [[nodiscard]] bool on_device() const noexcept { return on_gpu() || options.as_device; }

  const Library& library;
  std::filesystem::path path;
  OrtOptions options;
  std::string provider;
  std::string reason;  ///< for the provider
  Handle<OrtSessionOptions> session_options;
  Handle<OrtSession> session;  ///< the first one
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;

 private:
  void open_on_best();
  void open(const std::vector<OrtProvider>& providers);
  OrtSession* another();
  [[nodiscard]] OrtSession* known(const std::vector<std::int64_t>& shape);

  int forks_at_load = forks();
  bool private_sessions_ = false;
  std::mutex mutex_;
  std::vector<Handle<OrtSession>> more_;  ///< guarded by mutex_; sessions beside the first
  std::vector<OrtSession*> idle_;         ///< guarded by mutex_; sessions that nobody holds
  std::map<std::vector<std::int64_t>, OrtSession*> by_shape_;  ///< guarded by mutex_
  std::filesystem::file_time_type written_;                    ///< the file, as it was opened
};

}  // namespace pyengine::ort
