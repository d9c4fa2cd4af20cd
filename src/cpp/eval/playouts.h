/// Evaluation of leaves by playouts: the common part of uniform playouts and those of a policy.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "eval/abilities.h"
#include "eval/evaluator.h"
#include "games/any/call_guard.h"

namespace pyengine {

/// Returns its argument. Throws ConfigError unless it is 1 to 1'000'000.
int checked_rollouts(int rollouts);

/// Equal priors and the mean value of `rollouts` playouts from the leaf. The random stream of a
/// leaf is (seed, number of the leaf), so the same search sees the same playouts.
///
/// `Playouts` belongs to one thread and has the interface of PolicyPlayouts
/// (games/any/playout_policy.h).
template <class Playouts>
class BoundPlayouts final : public BoundEvaluator, public WorkCounter {
 public:
  using Make = std::function<std::unique_ptr<Playouts>()>;

  /// `answering`: on_the_spot or brief.
  BoundPlayouts(int rollouts, std::uint64_t seed, Answering answering, Make make)
      : rollouts_(rollouts), seed_(seed), answering_(answering), make_(std::move(make)) {}

  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    return {.reads_positions = true, .equal_priors = true, .answering = answering_};
  }
  [[nodiscard]] std::unique_ptr<EvalBatch> make_batch(int capacity) override {
    auto batch = std::make_unique<PlayoutBatch>(capacity);
    batch->playouts = make_();
    batch->bytes += batch->playouts->bytes();
    const std::lock_guard lock(mutex_);
    batch->answers = &answers_.emplace_back(0);
    return batch;
  }
  int request(EvalBatch& base, const AnyPosition& position) override {
    EvalLeaf& leaf = base.next();
    if (!leaf.on_the_spot) return 1;
    auto& batch = static_cast<PlayoutBatch&>(base);
    play(leaf, position, batch);
    // Only one thread uses the batch at a time, so no atomic increment is needed.
    batch.answers->store(batch.answers->load(std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed);
    return kAnswered;
  }
  void evaluate(EvalBatch& batch) override {
    for (int i = 0; i < batch.num_leaves; ++i) {
      EvalLeaf& leaf = batch.leaves[static_cast<std::size_t>(i)];
      play(leaf, *leaf.position, static_cast<PlayoutBatch&>(batch));
    }
    rows_.fetch_add(static_cast<std::uint64_t>(batch.num_leaves), std::memory_order_relaxed);
    batches_.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] EvaluatorStats stats() const noexcept override {
    const std::lock_guard lock(mutex_);
    std::uint64_t answers = 0;
    for (const auto& count : answers_) answers += count.load(std::memory_order_relaxed);
    return {.rows = rows_.load(std::memory_order_relaxed) + answers,
            .batches = batches_.load(std::memory_order_relaxed) + answers};
  }

 private:
  struct PlayoutBatch final : EvalBatch {
    using EvalBatch::EvalBatch;
    std::unique_ptr<Playouts> playouts;
    std::atomic<std::uint64_t>* answers = nullptr;  ///< on the spot; each is a row and a batch
    int unasked = 0;                                ///< playouts since the last call of goes_on

    /// Whether to play another playout. Reads a clock every sixteenth time: the longest bundled
    /// game, Go 19x19 with a policy, takes a millisecond. After a refusal it is checked every time.
    [[nodiscard]] bool may_play() {
      if (++unasked < 16 || goes_on == nullptr) return true;
      if (!(*goes_on)()) return false;
      unasked = 0;
      return true;
    }
  };

  /// Sets the leaf's value to the mean outcome of the playouts for the player to move, and its draw
  /// to the share of draws.
  [[gnu::always_inline]] void play(EvalLeaf& leaf, const AnyPosition& position,
                                   PlayoutBatch& batch) const {
    Rng rng(seed_, leaf.number);
    double sum = 0.0;
    int played = 0;
    leaf.draw = 0.0F;
    try {
      const CallGuard guard(batch.goes_on);
      batch.playouts->begin(position);
      for (; played < rollouts_ && batch.may_play(); ++played) {
        const float outcome = batch.playouts->play_out(rng).for_player(leaf.to_move);
        sum += outcome;
        if (outcome == 0.0F) leaf.draw += 1.0F;
      }
    } catch (const Interrupted&) {  // NOLINT(bugprone-empty-catch)
      // An interrupted playout of a user's game does not count.
    }
    leaf.equal_priors = true;
    leaf.value = played == 0 ? 0.0F : static_cast<float>(sum / played);
    if (played > 1) leaf.draw /= static_cast<float>(played);
    leaf.unfinished = played < rollouts_;
  }

  int rollouts_;
  std::uint64_t seed_;
  Answering answering_;
  Make make_;
  std::atomic<std::uint64_t> rows_{0};
  std::atomic<std::uint64_t> batches_{0};
  mutable std::mutex mutex_;
  std::deque<std::atomic<std::uint64_t>> answers_;  ///< one per batch
};

}  // namespace pyengine
