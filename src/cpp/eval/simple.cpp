#include "eval/simple.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "base/error.h"
#include "games/any/state.h"

namespace pyengine {
namespace {

void begin(EvalLeaf& leaf) noexcept {
  leaf.priors.clear();
  leaf.equal_priors = true;
  leaf.value = 0.0F;
  leaf.answers = 0;
  leaf.pending_rows = 0;
}

class BoundUniform final : public BoundEvaluator {
 public:
  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    return {.equal_priors = true, .immediate = true};
  }
  void open(EvalBatch& batch, int leaf, const AnyPosition&) override {
    begin(batch.leaves[static_cast<std::size_t>(leaf)]);
  }
  void request(EvalBatch& batch, int leaf, int) override {
    ++batch.leaves[static_cast<std::size_t>(leaf)].answers;
  }
  void finish(EvalLeaf& leaf) override {
    leaf.equal_priors = true;
    leaf.value = 0.0F;
  }
  void evaluate(EvalBatch&) override {}
  [[nodiscard]] std::string provider() const override { return "uniform"; }
};

/// The position that playouts are played on; the leaf's own stays as it is.
struct PlayoutMemory final : BatchMemory {
  std::unique_ptr<AnyPosition> position;
  ActionList legal;
};

class BoundRollout final : public BoundEvaluator {
 public:
  BoundRollout(int rollouts, std::uint64_t seed) : rollouts_(rollouts), seed_(seed) {}

  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    return {.reads_positions = true, .equal_priors = true};
  }
  [[nodiscard]] std::unique_ptr<EvalBatch> make_batch(int capacity) override {
    auto batch = BoundEvaluator::make_batch(capacity);
    batch->memory = std::make_unique<PlayoutMemory>();
    return batch;
  }
  void open(EvalBatch& batch, int leaf, const AnyPosition&) override {
    begin(batch.leaves[static_cast<std::size_t>(leaf)]);
  }
  void request(EvalBatch& batch, int leaf, int) override {
    batch.rows.push_back({static_cast<std::uint16_t>(leaf), 0});
    ++batch.leaves[static_cast<std::size_t>(leaf)].pending_rows;
  }
  void finish(EvalLeaf&) override {}
  void evaluate(EvalBatch& batch) override {
    auto& memory = static_cast<PlayoutMemory&>(*batch.memory);
    for (const EvalRow& row : batch.rows) {
      EvalLeaf& leaf = batch.leaves[row.leaf];
      leaf.value = play(leaf, memory);
      leaf.pending_rows = 0;
      leaf.answers = 1;
    }
    rows_.fetch_add(batch.rows.size(), std::memory_order_relaxed);
    batches_.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] EvaluatorStats stats() const noexcept override {
    return {.rows = rows_.load(std::memory_order_relaxed),
            .batches = batches_.load(std::memory_order_relaxed)};
  }
  [[nodiscard]] std::string provider() const override { return "rollout"; }

 private:
  /// Mean outcome of the playouts for the player to move.
  float play(const EvalLeaf& leaf, PlayoutMemory& memory) const {
    Rng rng(seed_, leaf.number);
    double sum = 0.0;
    for (int i = 0; i < rollouts_; ++i) {
      if (memory.position == nullptr) {
        memory.position = leaf.position->clone();
      } else {
        memory.position->assign(*leaf.position);
      }
      sum += memory.position->play_out(rng, memory.legal).for_player(leaf.to_move);
      memory.position->rethrow_if_failed();
    }
    return static_cast<float>(sum / rollouts_);
  }

  int rollouts_;
  std::uint64_t seed_;
  std::atomic<std::uint64_t> rows_{0};
  std::atomic<std::uint64_t> batches_{0};
};

/// Fills a leaf as the search would.
void fill_leaf(EvalLeaf& leaf, const State& state, std::uint64_t number, bool reads_positions) {
  const AnyPosition& position = state.position();
  position.legal_actions(leaf.legal);
  if (position.outcome().has_value()) leaf.legal.clear();
  leaf.to_move = position.to_move();
  leaf.number = number;
  leaf.moves.clear();
  leaf.root = &state;
  if (!reads_positions) return;
  if (leaf.position == nullptr) {
    leaf.position = position.clone();
  } else {
    leaf.position->assign(position);
  }
}

void write_answer(const EvalLeaf& leaf, std::span<float> policy, float& value) {
  std::fill(policy.begin(), policy.end(), 0.0F);
  for (int i = 0; i < leaf.legal.size(); ++i) {
    policy[leaf.legal[i]] = leaf.equal_priors ? 1.0F / static_cast<float>(leaf.legal.size())
                                              : leaf.priors[static_cast<std::size_t>(i)];
  }
  value = leaf.value;
}

}  // namespace

std::unique_ptr<BoundEvaluator> UniformEvaluator::bind(std::shared_ptr<const AnyGame>,
                                                       const BindOptions&) {
  return std::make_unique<BoundUniform>();
}

RolloutEvaluator::RolloutEvaluator(int rollouts) : rollouts_(rollouts) {
  if (rollouts < 1 || rollouts > 1'000'000) {
    throw ConfigError("rollouts must be 1 to 1000000, found " + std::to_string(rollouts));
  }
}

std::unique_ptr<BoundEvaluator> RolloutEvaluator::bind(std::shared_ptr<const AnyGame>,
                                                       const BindOptions& options) {
  return std::make_unique<BoundRollout>(rollouts_, options.seed);
}

void evaluate_states(BoundEvaluator& evaluator, std::span<const State* const> states,
                     std::span<float> policy, std::span<float> value, bool average_symmetries,
                     int batch_rows) {
  if (states.empty()) return;
  const AnyGame& game = *states[0]->game();
  const auto num_actions = static_cast<std::size_t>(game.shape().num_actions);
  const EvaluatorTraits traits = evaluator.traits();
  const int symmetries = average_symmetries && traits.reads_planes ? game.symmetries().count() : 1;
  const auto per_batch = static_cast<std::size_t>(std::max(1, batch_rows / symmetries));
  // A device is prepared for each size of a batch: not for every number of states.
  const std::size_t room = std::min(per_batch, std::bit_ceil(states.size()));
  auto batch = evaluator.make_batch(static_cast<int>(room) * symmetries);
  for (std::size_t start = 0; start < states.size(); start += per_batch) {
    const std::size_t count = std::min(per_batch, states.size() - start);
    batch->rows.clear();
    batch->num_leaves = static_cast<int>(count);
    for (std::size_t i = 0; i < count; ++i) {
      EvalLeaf& leaf = batch->leaves[i];
      fill_leaf(leaf, *states[start + i], start + i, traits.reads_positions);
      evaluator.open(*batch, static_cast<int>(i), states[start + i]->position());
      for (int k = 0; k < symmetries; ++k) evaluator.request(*batch, static_cast<int>(i), k);
      if (leaf.pending_rows == 0) evaluator.finish(leaf);
    }
    if (batch->waits()) {
      evaluator.evaluate(*batch);
      evaluator.conclude(*batch);
    }
    for (std::size_t i = 0; i < count; ++i) {
      write_answer(batch->leaves[i], policy.subspan((start + i) * num_actions, num_actions),
                   value[start + i]);
    }
  }
}

}  // namespace pyengine
