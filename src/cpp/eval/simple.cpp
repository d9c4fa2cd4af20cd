#include "eval/simple.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "games/state.h"

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

/// The memory of the network's batch, and a whole batch of the other evaluator.
struct MixedMemory final : BatchMemory {
  std::unique_ptr<BatchMemory> network;
  std::unique_ptr<EvalBatch> rollout;
  std::vector<bool> taken;  ///< [capacity]; leaves already listed
};

/// Lends the batch to the network for a call: its memory is where the network expects it.
class LendToNetwork {
 public:
  explicit LendToNetwork(EvalBatch& batch) : batch_(batch), mixed_(std::move(batch.memory)) {
    batch_.memory = std::move(memory().network);
  }
  LendToNetwork(const LendToNetwork&) = delete;
  LendToNetwork& operator=(const LendToNetwork&) = delete;
  ~LendToNetwork() {
    memory().network = std::move(batch_.memory);
    batch_.memory = std::move(mixed_);
  }

 private:
  [[nodiscard]] MixedMemory& memory() const { return static_cast<MixedMemory&>(*mixed_); }
  EvalBatch& batch_;
  std::unique_ptr<BatchMemory> mixed_;
};

/// The network has the rows; the other evaluator judges a leaf when the network's part is complete.
class BoundMixed final : public BoundEvaluator {
 public:
  BoundMixed(std::unique_ptr<BoundEvaluator> network, std::unique_ptr<BoundEvaluator> rollout,
             float mix)
      : network_(std::move(network)), rollout_(std::move(rollout)), mix_(mix) {}

  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    EvaluatorTraits traits = network_->traits();
    const EvaluatorTraits other = rollout_->traits();
    traits.reads_positions = true;
    traits.equal_priors = traits.equal_priors && other.equal_priors;  // a network reads the list
    traits.immediate = traits.immediate && other.immediate;
    traits.calling_thread = traits.calling_thread || other.calling_thread;
    return traits;
  }
  [[nodiscard]] std::unique_ptr<EvalBatch> make_batch(int capacity) override {
    auto batch = network_->make_batch(capacity);
    auto memory = std::make_unique<MixedMemory>();
    memory->network = std::move(batch->memory);
    memory->rollout = rollout_->make_batch(capacity);
    memory->taken.resize(static_cast<std::size_t>(capacity));
    batch->memory = std::move(memory);
    return batch;
  }
  void open(EvalBatch& batch, int leaf, const AnyPosition& position) override {
    const LendToNetwork lent(batch);
    network_->open(batch, leaf, position);
  }
  void request(EvalBatch& batch, int leaf, int symmetry) override {
    const LendToNetwork lent(batch);
    network_->request(batch, leaf, symmetry);
  }
  void finish(EvalLeaf& leaf) override {
    network_->finish(leaf);
    std::unique_ptr<EvalBatch> spare = take_spare();
    EvalLeaf* const one[] = {&leaf};
    mix(one, *spare);
    const std::lock_guard lock(mutex_);
    spares_.push_back(std::move(spare));
  }
  void evaluate(EvalBatch& batch) override {
    const LendToNetwork lent(batch);
    network_->evaluate(batch);
  }
  void conclude(EvalBatch& batch) override {
    {
      const LendToNetwork lent(batch);
      network_->conclude(batch);
    }
    auto& memory = static_cast<MixedMemory&>(*batch.memory);
    std::vector<EvalLeaf*> leaves;
    memory.taken.assign(memory.taken.size(), false);
    for (const EvalRow& row : batch.rows) {
      if (memory.taken[row.leaf]) continue;
      memory.taken[row.leaf] = true;
      leaves.push_back(&batch.leaves[row.leaf]);
    }
    mix(leaves, *memory.rollout);
  }
  [[nodiscard]] EvaluatorStats stats() const noexcept override { return network_->stats(); }
  void clear_cache() noexcept override { network_->clear_cache(); }
  [[nodiscard]] std::string provider() const override {
    return network_->provider() + " + " + rollout_->provider();
  }

 private:
  std::unique_ptr<EvalBatch> take_spare() {
    const std::lock_guard lock(mutex_);
    if (spares_.empty()) return rollout_->make_batch(1);
    auto spare = std::move(spares_.back());
    spares_.pop_back();
    return spare;
  }
  /// Has the other evaluator judge `leaves` in its batch `other` and mixes the values.
  void mix(std::span<EvalLeaf* const> leaves, EvalBatch& other) {
    other.rows.clear();
    other.num_leaves = static_cast<int>(leaves.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      lend(*leaves[i], other.leaves[i]);
      rollout_->open(other, static_cast<int>(i), *other.leaves[i].position);
      rollout_->request(other, static_cast<int>(i), 0);
      if (other.leaves[i].pending_rows == 0) rollout_->finish(other.leaves[i]);
    }
    if (!other.rows.empty()) {
      rollout_->evaluate(other);
      rollout_->conclude(other);
    }
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      lend(other.leaves[i], *leaves[i]);
      leaves[i]->value = (1.0F - mix_) * leaves[i]->value + mix_ * other.leaves[i].value;
    }
  }
  /// Hands over what the search filled in; handed back when judged. An exception in between leaves
  /// the leaf empty: its batch is dropped or opened again, as BoundEvaluator::evaluate says.
  static void lend(EvalLeaf& from, EvalLeaf& to) {
    std::swap(from.legal, to.legal);
    std::swap(from.position, to.position);
    std::swap(from.moves, to.moves);
    to.to_move = from.to_move;
    to.number = from.number;
    to.root = from.root;
  }

  std::unique_ptr<BoundEvaluator> network_;
  std::unique_ptr<BoundEvaluator> rollout_;
  float mix_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<EvalBatch>> spares_;  ///< of one leaf each; guarded by mutex_
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

MixedEvaluator::MixedEvaluator(std::shared_ptr<Evaluator> network,
                               std::shared_ptr<Evaluator> rollout, double mix)
    : network_(std::move(network)), rollout_(std::move(rollout)), mix_(static_cast<float>(mix)) {
  if (!(mix >= 0.0 && mix <= 1.0)) {
    throw ConfigError("mix must be between 0 and 1, found " + std::to_string(mix));
  }
}

std::unique_ptr<BoundEvaluator> MixedEvaluator::bind(std::shared_ptr<const AnyGame> game,
                                                     const BindOptions& options) {
  return std::make_unique<BoundMixed>(network_->bind(game, options), rollout_->bind(game, options),
                                      mix_);
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
  auto batch =
      evaluator.make_batch(static_cast<int>(std::min(per_batch, states.size())) * symmetries);
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
    if (!batch->rows.empty()) {
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
