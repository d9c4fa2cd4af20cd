#include "eval/traced.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "eval/abilities.h"

namespace pyengine {
namespace {

using Clock = std::chrono::steady_clock;

/// Requests further apart than this belong to different turns.
constexpr std::chrono::microseconds kLongAgo{50};

std::atomic<std::uint64_t> g_traces{0};

class BoundTraced final : public BoundEvaluator,
                          public RowFiller,
                          public WorkCounter,
                          public CacheHolder {
 public:
  BoundTraced(std::unique_ptr<BoundEvaluator> traced, std::shared_ptr<Trace> trace)
      : traced_(std::move(traced)), filler_(row_filler_of(*traced_)), trace_(std::move(trace)) {}

  [[nodiscard]] EvaluatorTraits traits() const noexcept override { return traced_->traits(); }
  [[nodiscard]] std::unique_ptr<EvalBatch> make_batch(int capacity) override {
    return traced_->make_batch(capacity);
  }
  int request(EvalBatch& batch, const AnyPosition& position) override {
    const auto begin = Clock::now();
    const int rows = traced_->request(batch, position);
    trace_->add_request(batch, begin, std::max(rows, 0));
    return rows;
  }
  void evaluate(EvalBatch& batch) override {
    const auto begin = Clock::now();
    traced_->evaluate(batch);
    trace_->add(TraceSpan::Kind::evaluate, begin, batch.num_rows);
  }
  void decode(EvalBatch& batch) override {
    const auto begin = Clock::now();
    traced_->decode(batch);
    trace_->add(TraceSpan::Kind::decode, begin, batch.num_rows);
  }

  void fill(EvalBatch& batch) override {
    if (filler_ != nullptr) filler_->fill(batch);
  }
  [[nodiscard]] EvaluatorStats stats() const noexcept override { return stats_of(*traced_); }
  void clear_cache() noexcept override { clear_cache_of(*traced_); }

 private:
  std::unique_ptr<BoundEvaluator> traced_;
  RowFiller* filler_;  ///< of traced_; nullptr if it has none
  std::shared_ptr<Trace> trace_;
};

}  // namespace

Trace::Trace() : id_(g_traces.fetch_add(1, std::memory_order_relaxed) + 1) {}

Trace::Lane& Trace::lane() {
  struct Known {
    std::uint64_t trace = 0;
    Lane* lane = nullptr;
  };
  thread_local Known cached;
  if (cached.trace != id_) {
    const std::lock_guard lock(mutex_);
    const std::thread::id self = std::this_thread::get_id();
    auto it = std::find_if(lanes_.begin(), lanes_.end(),
                           [&](const Lane& entry) { return entry.owner == self; });
    if (it == lanes_.end()) {
      it = lanes_.insert(it, Lane{static_cast<int>(lanes_.size()), self, nullptr, {}});
    }
    cached = {id_, &*it};
  }
  return *cached.lane;
}

void Trace::add(TraceSpan::Kind kind, Clock::time_point begin, int rows) {
  Lane& current = lane();
  current.gathered = nullptr;
  current.spans.push_back({kind, current.thread, rows, begin, Clock::now()});
}

void Trace::add_request(const EvalBatch& batch, Clock::time_point begin, int rows) {
  Lane& current = lane();
  if (current.gathered != &batch || begin - current.spans.back().end > kLongAgo) {
    current.gathered = &batch;
    current.spans.push_back({TraceSpan::Kind::gather, current.thread, 0, begin, begin});
  }
  TraceSpan& last = current.spans.back();
  last.rows = batch.num_rows + rows;
  last.end = Clock::now();
}

std::vector<TraceSpan> Trace::take() {
  const std::lock_guard lock(mutex_);
  std::vector<TraceSpan> all;
  for (Lane& entry : lanes_) {
    all.insert(all.end(), entry.spans.begin(), entry.spans.end());
    entry.spans.clear();
    entry.gathered = nullptr;
  }
  return all;
}

std::unique_ptr<BoundEvaluator> TracedEvaluator::bind(std::shared_ptr<const AnyGame> game,
                                                      const BindOptions& options) {
  return std::make_unique<BoundTraced>(traced_->bind(std::move(game), options), trace_);
}

}  // namespace pyengine
