/// A timeline of a search: which thread gathers, evaluates and decodes when.
///
/// An evaluator is wrapped; the search is the same, but for the time that the notes take.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "eval/evaluator.h"

namespace pyengine {

/// What a thread did from a moment to another.
struct TraceSpan {
  enum class Kind : std::uint8_t {
    gather,    ///< from the first request of a batch's turn to the last; walks are in between
    evaluate,  ///< a device's work, or the processor's
    decode,
  };
  Kind kind = Kind::gather;
  int thread = 0;  ///< in the order in which they came
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

  /// Of the calling thread.
  void add(TraceSpan::Kind kind, std::chrono::steady_clock::time_point begin, int rows);
  /// A request for so many rows of the batch: goes on with the thread's last span, where that is of
  /// the same batch and not long ago.
  void add_request(const EvalBatch& batch, std::chrono::steady_clock::time_point begin, int rows);
  /// All that there are, and begins anew. Not while a search runs.
  [[nodiscard]] std::vector<TraceSpan> take();

 private:
  /// A thread's, which alone writes it.
  struct Lane {
    int thread = 0;
    std::thread::id owner;
    const EvalBatch* gathered = nullptr;  ///< batch of the last span, if that is of requests
    std::vector<TraceSpan> spans;
  };
  Lane& lane();

  const std::uint64_t id_;  ///< of all traces there ever were
  std::mutex mutex_;
  std::deque<Lane> lanes_;  ///< guarded by mutex_; a lane stays where it is
};

/// The evaluator with a trace of what it is asked.
class TracedEvaluator final : public Evaluator {
 public:
  TracedEvaluator(std::shared_ptr<Evaluator> traced, std::shared_ptr<Trace> trace)
      : traced_(std::move(traced)), trace_(std::move(trace)) {}
  [[nodiscard]] int device_batches() const noexcept override { return traced_->device_batches(); }
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                       const BindOptions& options) override;

 private:
  std::shared_ptr<Evaluator> traced_;
  std::shared_ptr<Trace> trace_;
};

}  // namespace pyengine
