/// An open model file and its sessions.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "base/process.h"
#include "eval/ort/graphs.h"
#include "eval/ort/model_files.h"
#include "eval/ort/session.h"
#include "eval/ort/tensorrt.h"

namespace pyengine::ort {

/// A shared mutex that does not starve its writer.
class FairSharedMutex {
 public:
  void lock() {
    turn_.lock();
    access_.lock();
  }
  bool try_lock() {
    if (!turn_.try_lock()) return false;
    if (access_.try_lock()) return true;
    turn_.unlock();
    return false;
  }
  void unlock() {
    access_.unlock();
    turn_.unlock();
  }
  void lock_shared() {
    const std::lock_guard turn(turn_);
    access_.lock_shared();
  }
  void unlock_shared() { access_.unlock_shared(); }

 private:
  std::mutex turn_;  ///< held by a waiting writer, so that readers queue behind it
  std::shared_mutex access_;
};

/// Batches on GPUs hold it shared; opening, first running and closing a session there hold it
/// exclusively. The first run of a convolution may capture a stream, and meanwhile CUDA refuses
/// other threads' calls ("operation not permitted when stream is capturing"). A forked child gets a
/// new lock: the parent's may be held by threads that do not exist in the child.
FairSharedMutex& device_lock();

/// Closes sessions of a device, graphs first, under the exclusive lock. If the lock is taken, this
/// happens in the background: opening a model may take minutes, and the caller may hold the GIL.
void close_on_device(std::vector<Handle<OrtSession>> sessions,
                     std::unique_ptr<Graphs> graphs = nullptr);

/// The shape of a tensor with this many rows.
[[nodiscard]] std::vector<std::int64_t> with_rows(std::vector<std::int64_t> shape, int rows);

/// The calls that a device session is opened for.
struct DeviceCall {
  std::string input;                ///< name of the tensor
  std::vector<std::int64_t> shape;  ///< of the input; [0] is ignored
  int rows = 0;                     ///< of the current call
  int limit = 0;                    ///< maximum rows of the batch's calls
};

/// An open model file, shared by the networks created from it.
struct LoadedModel {
  using FirstRun = std::function<void(OrtSession*)>;

  /// `files`: the contents of the files before the model was opened.
  LoadedModel(const Library& library, std::filesystem::path path, OrtOptions options,
              ModelFiles files);
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;
  ~LoadedModel();

  /// On the CPU: a session for one call; exclusive for tiny models, otherwise shared.
  OrtSession* acquire();
  /// Returns a session from acquire() after the call.
  void release(OrtSession* session) noexcept;
  /// On a device: the session for inputs of this shape, which serves only this number of rows
  /// unless one_session(). Opened at the first call and run by `first_run` with exclusive use of
  /// the device. If that throws, the session is closed and the exception passed on.
  OrtSession* session_for(const DeviceCall& call, const FirstRun& first_run);
  /// On a device: seconds of a call, measured once per shape with exclusive use of the device. The
  /// session opened for it is kept if the time is at most `most`, otherwise closed. `run`: makes
  /// the call.
  double seconds_of(const DeviceCall& call, double most, const FirstRun& run);
  /// On a device: makes a call only for its outputs. Uses the first session while no size has taken
  /// it; otherwise, unless one_session(), one that is closed afterwards.
  void probe(const DeviceCall& call, const FirstRun& run);
  /// On a device: rows of the smallest session for inputs of this shape, or `otherwise`.
  [[nodiscard]] int least_prepared(const std::vector<std::int64_t>& shape, int otherwise) const;
  /// Makes a call on a session that has no graph for it.
  void run_plainly(OrtSession* used, const PlainCall& call) const;
  /// The provider, with a note on CUDA graphs if they were requested.
  [[nodiscard]] std::string provider_text() const;
  /// On a device: maximum rows of a call for batches of `capacity`. Equal to `capacity` while few
  /// sizes other than powers of two are in use, as each needs a session; then the next power of
  /// two.
  int rows_of_largest_call(int capacity);
  [[nodiscard]] int num_sessions() const;
  /// Whether the files are as they were before the model was opened.
  [[nodiscard]] bool unchanged() const { return files_of(path, options) == files; }

  [[nodiscard]] bool forked() const noexcept { return process_id() != process_; }
  [[nodiscard]] bool on_gpu() const noexcept { return provider != kCpu; }
  /// Batches wait for a device that serves few at a time.
  [[nodiscard]] bool on_device() const noexcept { return on_gpu() || options.as_device; }
  /// Two, so that one is copied while the other is computed.
  [[nodiscard]] int device_batches() const noexcept { return on_device() ? 2 : 0; }
  /// On a device: one session serves batches of all sizes, since opening another takes minutes.
  [[nodiscard]] bool one_session() const noexcept {
    return provider == kTensorRt || options.one_session;
  }
  /// On a device: each worthwhile batch size has a session.
  [[nodiscard]] bool session_a_size() const noexcept { return on_device() && !one_session(); }

  const Library& library;
  std::filesystem::path path;
  OrtOptions options;
  ModelFiles files;  ///< their content before the model was opened
  std::string provider;
  std::string reason;  ///< for choosing the provider
  Handle<OrtSessionOptions> session_options;
  std::unique_ptr<Graphs> graphs;  ///< nullptr if not requested or not available
  Handle<OrtSession> session;      ///< the first one
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;

 private:
  /// A session on a device.
  struct Prepared {
    std::vector<std::int64_t> shape;  ///< [0]: rows; the maximum if it serves all sizes
    OrtSession* session = nullptr;
  };
  /// A session that has run once and serves no call yet: an existing one, or a new one.
  class Candidate {
   public:
    Candidate(LoadedModel& model, const DeviceCall& call, const FirstRun& first_run);
    Candidate(const Candidate&) = delete;
    Candidate& operator=(const Candidate&) = delete;
    ~Candidate();
    [[nodiscard]] OrtSession* get() const noexcept { return session_; }
    void keep(const DeviceCall& call);

   private:
    void open(const DeviceCall& call);
    void abandon();
    void close() noexcept;
    void drop() noexcept;

    LoadedModel& model_;
    OrtSession* session_ = nullptr;
    Handle<OrtSession> opened_;
    bool kept_ = false;
  };

  [[nodiscard]] bool wants_graphs() const;
  [[nodiscard]] bool has_graphs() const;  ///< for sessions opened now
  [[nodiscard]] int graph_device() const;
  void heed_failed_captures();
  void without_graphs(const std::string& why);
  Handle<OrtSession> open_first();
  void open_on_best();
  void open(std::vector<OrtProvider> providers);
  OrtSession* take_idle();
  void give_idle(OrtSession* returned) noexcept;
  [[nodiscard]] Handle<OrtSession> open_another();
  void check_unchanged() const;
  [[nodiscard]] bool serves(const Prepared& session, const DeviceCall& call) const;
  [[nodiscard]] OrtSession* known(const DeviceCall& call) const;
  [[nodiscard]] std::optional<double> known_seconds(const DeviceCall& call) const;
  double measure(const DeviceCall& call, OrtSession* session, const FirstRun& run);
  [[nodiscard]] bool first_may_serve() const;
  [[nodiscard]] Handle<OrtSession> open_for(const DeviceCall& call) const;
  [[nodiscard]] Handle<OrtSession> open_unchecked(const DeviceCall& call) const;
  [[nodiscard]] Handle<OrtSession> open_with_engine(
      const std::optional<EngineProfile>& profile) const;

  const long process_ = process_id();  ///< after a fork a session has no threads
  bool private_sessions_ = false;
  std::atomic<bool> changed_ = false;   ///< on the CPU: a new session would load another network
  std::vector<OrtProvider> providers_;  ///< of the first session
  mutable std::mutex mutex_;
  std::vector<Handle<OrtSession>> more_;  ///< guarded by mutex_; sessions besides the first
  std::string no_graphs_;                 ///< guarded by mutex_; why requested graphs are not used
  bool keeps_first_ = false;        ///< the first session cannot be closed: its capture failed
  std::vector<OrtSession*> idle_;   ///< guarded by mutex_; sessions not in use
  std::vector<Prepared> prepared_;  ///< guarded by mutex_
  std::map<std::vector<std::int64_t>, double> seconds_;  ///< guarded by mutex_; by input shape
  std::set<int> odd_sizes_;  ///< guarded by mutex_; rows that are not powers of two
};

}  // namespace pyengine::ort
