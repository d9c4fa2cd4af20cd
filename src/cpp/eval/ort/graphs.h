/// Sessions whose kernels are captured as a CUDA graph once and replayed from then on.
///
/// ONNX Runtime (by its documentation, and its source as far as it is known to us) captures a
/// session's first call and then replays kernels alone, on the memory of that call: nothing that is
/// given later is copied. So each session has fixed memory on the device, to and from which we
/// copy. A graph belongs to the thread that captured it, and a session that has one may not be
/// called from several threads: one thread makes all calls of a model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "eval/network/encoder.h"
#include "eval/ort/call_thread.h"
#include "eval/ort/device_copies.h"

namespace pyengine::ort {

/// A tensor in the program's memory.
struct HostTensor {
  std::string name;
  ElementType type = ElementType::float32;
  std::vector<std::int64_t> shape;
  std::byte* data = nullptr;
  [[nodiscard]] std::size_t bytes() const noexcept;
};

/// What a call reads and writes.
struct HostCall {
  HostTensor input;
  std::array<HostTensor, 2> outputs;
};

/// Makes the same call without a graph, with these options.
using PlainCall = std::function<void(const OrtRunOptions*)>;

/// A session has no graph that answers as its plain calls do.
class CaptureError : public EvaluationError {
 public:
  CaptureError(const std::string& message, bool may_be_capturing)
      : EvaluationError(message), may_be_capturing_(may_be_capturing) {}
  /// Whether the capture itself failed, after which the session's stream may still be capturing.
  [[nodiscard]] bool may_be_capturing() const noexcept { return may_be_capturing_; }

 private:
  bool may_be_capturing_;
};

/// The graphs of a model's sessions on one device. Safe to use from several threads.
class Graphs {
 public:
  Graphs(const Api& api, std::unique_ptr<DeviceCopies> copies);
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;
  /// Before the sessions are closed.
  ~Graphs();

  /// A session that was opened to be captured.
  void add(OrtSession* session);
  [[nodiscard]] bool has(OrtSession* session) const;
  /// Before the session is closed.
  void remove(OrtSession* session);
  /// Captures the session's calls unless that is done, alone on the device. Writes to the call's
  /// memory. Throws CaptureError.
  void capture(OrtSession* session, const HostCall& call, const PlainCall& plain);
  /// Replays the graph; where there is none for such a call, makes it plainly.
  void run(OrtSession* session, const HostCall& call, const PlainCall& plain);
  void run_plainly(const PlainCall& plain);
  [[nodiscard]] int num_captured() const;

 private:
  class Place;
  using Places = std::map<OrtSession*, std::unique_ptr<Place>>;

  [[nodiscard]] Place* place_for(OrtSession* session, const HostCall& call) const;

  const Api& api_;
  const std::unique_ptr<DeviceCopies> copies_;  ///< used by thread_
  const Handle<OrtRunOptions> without_graph_;
  mutable std::mutex mutex_;
  Places places_;  ///< guarded by mutex_; null = not captured. What they hold is used by thread_
  CallThread thread_;
};

}  // namespace pyengine::ort
