/// Playouts from a leaf as its evaluation: what uniform ones and those of a policy share.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "eval/evaluator.h"
#include "games/any/call_guard.h"

namespace pyengine {

/// Returns the number. Throws ConfigError unless it is 1 to 1'000'000.
int checked_rollouts(int rollouts);

/// Equal priors, the mean value of `rollouts` playouts from the leaf. The stream of a leaf is
/// (seed, number of the leaf): the same search sees the same playouts.
///
/// `Playouts`, those of one thread, has the verbs of PolicyPlayouts (games/any/playout_policy.h).
template <class Playouts>
class BoundPlayouts final : public BoundEvaluator {
 public:
  using Make = std::function<std::unique_ptr<Playouts>()>;

  /// `brief`: see EvaluatorTraits.
  BoundPlayouts(std::string provider, int rollouts, std::uint64_t seed, bool brief, Make make)
      : provider_(std::move(provider)),
        rollouts_(rollouts),
        seed_(seed),
        brief_(brief),
        make_(std::move(make)) {}

  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    return {.reads_positions = true, .equal_priors = true, .on_the_spot = true, .brief = brief_};
  }
  [[nodiscard]] std::unique_ptr<EvalBatch> make_batch(int capacity) override {
    auto batch = std::make_unique<PlayoutBatch>(capacity);
    batch->playouts = make_();
    batch->bytes += batch->playouts->bytes();
    const std::lock_guard lock(mutex_);
    batch->answers = &answers_.emplace_back(0);
    return batch;
  }
  int request(EvalBatch&, const AnyPosition&) override { return 1; }
  void evaluate(EvalBatch& batch) override {
    for (int i = 0; i < batch.num_leaves; ++i) {
      EvalLeaf& leaf = batch.leaves[static_cast<std::size_t>(i)];
      play(leaf, *leaf.position, static_cast<PlayoutBatch&>(batch));
    }
    rows_.fetch_add(static_cast<std::uint64_t>(batch.num_leaves), std::memory_order_relaxed);
    batches_.fetch_add(1, std::memory_order_relaxed);
  }
  void answer(EvalBatch& batch, const AnyPosition& position) override {
    play(batch.next(), position, static_cast<PlayoutBatch&>(batch));
    // One thread at a time has the batch, so that it counts without a lock prefix.
    std::atomic<std::uint64_t>& answers = *static_cast<PlayoutBatch&>(batch).answers;
    answers.store(answers.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  [[nodiscard]] EvaluatorStats stats() const noexcept override {
    const std::lock_guard lock(mutex_);
    std::uint64_t answers = 0;
    for (const auto& some : answers_) answers += some.load(std::memory_order_relaxed);
    return {.rows = rows_.load(std::memory_order_relaxed) + answers,
            .batches = batches_.load(std::memory_order_relaxed) + answers};
  }
  [[nodiscard]] std::string provider() const override { return provider_; }

 private:
  struct PlayoutBatch final : EvalBatch {
    using EvalBatch::EvalBatch;
    std::unique_ptr<Playouts> playouts;
    std::atomic<std::uint64_t>* answers = nullptr;  ///< on the spot, each a row and a batch
    int unasked = 0;                                ///< playouts since goes_on was asked

    /// One more playout? A clock is read for every sixteenth: the longest of a game of ours, on Go
    /// 19x19 by a policy, takes a millisecond. After a no it is asked each time.
    [[nodiscard]] bool may_play() {
      if (++unasked < 16 || goes_on == nullptr) return true;
      if (!(*goes_on)()) return false;
      unasked = 0;
      return true;
    }
  };

  /// The leaf's value becomes the mean outcome of the playouts for the player to move.
  [[gnu::always_inline]] void play(EvalLeaf& leaf, const AnyPosition& position,
                                   PlayoutBatch& batch) const {
    Rng rng(seed_, leaf.number);
    double sum = 0.0;
    int played = 0;
    try {
      const CallGuard guard(batch.goes_on);
      batch.playouts->begin(position);
      for (; played < rollouts_ && batch.may_play(); ++played) {
        sum += batch.playouts->play_out(rng).for_player(leaf.to_move);
      }
    } catch (const Interrupted&) {  // NOLINT(bugprone-empty-catch)
      // Within a playout of a user's game, which counts for nothing.
    }
    leaf.equal_priors = true;
    leaf.value = played == 0 ? 0.0F : static_cast<float>(sum / played);
    leaf.unfinished = played < rollouts_;
  }

  std::string provider_;
  int rollouts_;
  std::uint64_t seed_;
  bool brief_;
  Make make_;
  std::atomic<std::uint64_t> rows_{0};
  std::atomic<std::uint64_t> batches_{0};
  mutable std::mutex mutex_;
  std::deque<std::atomic<std::uint64_t>> answers_;  ///< of each batch that was made
};

}  // namespace pyengine
