/// A timeline of a search: when each thread gathers, evaluates and decodes. It wraps an evaluator;
/// apart from the time for recording, the search is the same.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "eval/evaluator.h"

namespace pyengine {

/// A period of one thread's work.
struct TraceSpan {
  enum class Kind : std::uint8_t {
    gather,    ///< from the first to the last request of one turn, including the walks in between
    evaluate,  ///< on the device or the processor
    decode,
  };
  Kind kind = Kind::gather;
  int thread = 0;  ///< numbered in order of appearance
  int rows = 0;    ///< of the batch at the end
  std::chrono::steady_clock::time_point begin;
  std::chrono::steady_clock::time_point end;
};

/// The spans of all threads.
class Trace {
 public:
  Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Adds a span of the calling thread.
  void add(TraceSpan::Kind kind, std::chrono::steady_clock::time_point begin, int rows);
  /// Records a request for `rows` rows of the batch. Extends the thread's last span if it is recent
  /// and of the same batch.
  void add_request(const EvalBatch& batch, std::chrono::steady_clock::time_point begin, int rows);
  /// Returns all spans and clears the trace. Must not be called during a search.
  [[nodiscard]] std::vector<TraceSpan> take();

 private:
  /// The spans of one thread, which is the only writer.
  struct Lane {
    int thread = 0;
    std::thread::id owner;
    const EvalBatch* gathered = nullptr;  ///< the last span's batch, if it is a gather span
    std::vector<TraceSpan> spans;
  };
  Lane& lane();

  const std::uint64_t id_;  ///< unique in the process
  std::mutex mutex_;
  std::deque<Lane> lanes_;  ///< guarded by mutex_; a deque keeps the addresses of its elements
};

/// Wraps an evaluator and traces its calls.
class TracedEvaluator final : public Evaluator {
 public:
  TracedEvaluator(std::shared_ptr<Evaluator> traced, std::shared_ptr<Trace> trace)
      : traced_(std::move(traced)), trace_(std::move(trace)) {}
  [[nodiscard]] int device_batches() const noexcept override { return traced_->device_batches(); }
  [[nodiscard]] std::string provider() const override { return traced_->provider(); }
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                       const BindOptions& options) override;

 private:
  std::shared_ptr<Evaluator> traced_;
  std::shared_ptr<Trace> trace_;
};

}  // namespace pyengine
