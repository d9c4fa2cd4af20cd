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

/// A shared mutex whose writer does not wait for ever while readers come and go.
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
  std::mutex turn_;  ///< held by the writer that waits: readers queue up behind it
  std::shared_mutex access_;
};

/// Batches on GPUs hold it shared; opening, first running and closing a session there hold it
/// exclusively. The first run of a convolution may capture a stream, and meanwhile CUDA refuses
/// other threads' calls
/// ("operation not permitted when stream is capturing"). A forked child has a lock of its own:
/// threads that it does not have may hold the parent's.
FairSharedMutex& device_lock();

/// Closes sessions of a device, their graphs first, under the exclusive lock; in the background
/// where it is taken, since opening a model may take minutes and the caller may hold the GIL.
void close_on_device(std::vector<Handle<OrtSession>> sessions,
                     std::unique_ptr<Graphs> graphs = nullptr);

/// The shape of an input, or output, of so many rows.
[[nodiscard]] std::vector<std::int64_t> with_rows(std::vector<std::int64_t> shape, int rows);

/// The calls that a session on a device is opened for.
struct DeviceCall {
  std::string input;                ///< name of the tensor
  std::vector<std::int64_t> shape;  ///< of the input; [0] is ignored
  int rows = 0;                     ///< of the call at hand
  int limit = 0;                    ///< most rows of the batch's calls
};

/// An open model file, shared by the networks made of it.
struct LoadedModel {
  using FirstRun = std::function<void(OrtSession*)>;

  /// `files`: as they were before.
  LoadedModel(const Library& library, std::filesystem::path path, OrtOptions options,
              ModelFiles files);
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;
  ~LoadedModel();

  /// On the CPU: a session for a call, of the caller's own for tiny models, else that of all.
  OrtSession* acquire();
  /// Gives back what acquire() returned, after the call.
  void release(OrtSession* session) noexcept;
  /// On a device: the session for inputs of this shape, which no other number of rows runs on,
  /// unless one_session(). Opened at the first call and run by `first_run`, alone on the device;
  /// what that throws is passed on, and the session closed.
  OrtSession* session_for(const DeviceCall& call, const FirstRun& first_run);
  /// On a device: seconds of a call, measured once for a shape, alone on the device. The session
  /// that was opened for it is kept where they are at most `most`, and else closed. `run`: the
  /// call.
  double seconds_of(const DeviceCall& call, double most, const FirstRun& run);
  /// On a device: runs a call whose outputs alone matter, on the first session while no size has
  /// taken that, else, unless one_session(), on one that is closed again.
  void probe(const DeviceCall& call, const FirstRun& run);
  /// On a device: rows of the smallest session for inputs of this shape, else `otherwise`.
  [[nodiscard]] int least_prepared(const std::vector<std::int64_t>& shape, int otherwise) const;
  /// Makes a call of a session that has no graph, or not for this call.
  void run_plainly(OrtSession* used, const PlainCall& call) const;
  /// The provider, and whether CUDA graphs that were asked for are used, or why not.
  [[nodiscard]] std::string provider_text() const;
  /// On a device: most rows of a call in batches of `capacity`: all of them, as long as few sizes
  /// are wanted that are no powers of two, since each is a session; then the next power of two.
  int rows_of_largest_call(int capacity);
  [[nodiscard]] int num_sessions() const;
  /// Whether the files are as they were before the model was opened.
  [[nodiscard]] bool unchanged() const { return files_of(path, options) == files; }

  [[nodiscard]] bool forked() const noexcept { return process_id() != process_; }
  [[nodiscard]] bool on_gpu() const noexcept { return provider != kCpu; }
  /// Batches wait for a device that serves few at once.
  [[nodiscard]] bool on_device() const noexcept { return on_gpu() || options.as_device; }
  /// Two, so that one is copied while the other is computed.
  [[nodiscard]] int device_batches() const noexcept { return on_device() ? 2 : 0; }
  /// On a device: a session serves batches of all sizes, since it takes minutes to open another.
  [[nodiscard]] bool one_session() const noexcept {
    return provider == kTensorRt || options.one_session;
  }
  /// On a device: each size of batches that is worth it has a session.
  [[nodiscard]] bool session_a_size() const noexcept { return on_device() && !one_session(); }

  const Library& library;
  std::filesystem::path path;
  OrtOptions options;
  ModelFiles files;  ///< as they were before it was opened
  std::string provider;
  std::string reason;  ///< for the provider
  Handle<OrtSessionOptions> session_options;
  std::unique_ptr<Graphs> graphs;  ///< null = none are asked for, or none can be had
  Handle<OrtSession> session;      ///< the first one
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;

 private:
  /// A session on a device.
  struct Prepared {
    std::vector<std::int64_t> shape;  ///< [0]: rows; the most, where it serves all sizes
    OrtSession* session = nullptr;
  };
  /// A session that has run once and serves no call yet: one of ours, or one just opened.
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
  [[nodiscard]] bool has_graphs() const;  ///< sessions that are opened now
  [[nodiscard]] int graph_device() const;
  void heed_failed_captures();
  void without_graphs(const std::string& why);
  Handle<OrtSession> open_first();
  void open_on_best();
  void open(std::vector<OrtProvider> providers);
  OrtSession* take_idle();
  void give_idle(OrtSession* given) noexcept;
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

  const long process_ = process_id();  ///< a fork leaves a session without its threads
  bool private_sessions_ = false;
  std::atomic<bool> changed_ = false;   ///< on the CPU: another session would be of another network
  std::vector<OrtProvider> providers_;  ///< of the first session
  mutable std::mutex mutex_;
  std::vector<Handle<OrtSession>> more_;  ///< guarded by mutex_; sessions beside the first
  std::string no_graphs_;     ///< guarded by mutex_; why graphs that were asked for are not used
  bool keeps_first_ = false;  ///< the first session may not be closed: its capture failed
  std::vector<OrtSession*> idle_;   ///< guarded by mutex_; sessions that nobody holds
  std::vector<Prepared> prepared_;  ///< guarded by mutex_
  std::map<std::vector<std::int64_t>, double> seconds_;  ///< guarded by mutex_; by input's shape
  std::set<int> odd_sizes_;  ///< guarded by mutex_; rows, no powers of two
};

}  // namespace pyengine::ort
