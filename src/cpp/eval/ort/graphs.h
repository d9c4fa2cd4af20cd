/// Sessions whose kernels are captured once as a CUDA graph and then replayed.
///
/// According to its documentation, ONNX Runtime captures a session's first call and later only
/// replays the kernels on that call's memory, without copying new inputs. So each session has fixed
/// memory on the device, and we copy to and from it. A graph belongs to the thread that captured
/// it, and a session with a graph must not be called from several threads: one thread makes all
/// calls of a model.
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

/// A tensor in host memory.
struct HostTensor {
  std::string name;
  ElementType type = ElementType::float32;
  std::vector<std::int64_t> shape;
  std::byte* data = nullptr;
  [[nodiscard]] std::size_t bytes() const noexcept;
};

/// The inputs and outputs of a call.
struct HostCall {
  HostTensor input;
  std::array<HostTensor, 2> outputs;
};

/// Makes the same call without a graph, with these options.
using PlainCall = std::function<void(const OrtRunOptions*)>;

/// A session's graph could not be captured or does not give the answers of plain calls.
class CaptureError : public EvaluationError {
 public:
  CaptureError(const std::string& message, bool may_be_capturing)
      : EvaluationError(message), may_be_capturing_(may_be_capturing) {}
  /// Whether the capture itself failed; the session's stream may then still be capturing.
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
  /// Must be destroyed before the sessions are closed.
  ~Graphs();

  /// Adds a session that was opened for capture.
  void add(OrtSession* session);
  [[nodiscard]] bool has(OrtSession* session) const;
  /// Call before the session is closed.
  void remove(OrtSession* session);
  /// Captures the session's calls if not done yet. Needs exclusive use of the device; overwrites
  /// the call's memory. Throws CaptureError.
  void capture(OrtSession* session, const HostCall& call, const PlainCall& plain);
  /// Replays the graph, or makes the call plainly if there is no graph for it.
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
  Places places_;  ///< guarded by mutex_; nullptr = not captured; the contents are used by thread_
  CallThread thread_;
};

}  // namespace pyengine::ort
