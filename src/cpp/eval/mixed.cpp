#include "eval/mixed.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.h"

namespace pyengine {
namespace {

/// One of the two evaluators of a mix.
struct Part {
  explicit Part(std::unique_ptr<BoundEvaluator> made)
      : evaluator(std::move(made)), traits(evaluator->traits()) {}

  std::unique_ptr<BoundEvaluator> evaluator;
  EvaluatorTraits traits;
  bool late = false;  ///< evaluated in conclude(): the few threads that feed a device only feed it
};

enum PartIndex : std::uint8_t { kNetwork, kOther, kParts };

/// A whole batch for each part, in which a leaf has the index that it has in the mixed batch.
struct MixedMemory final : BatchMemory {
  std::array<std::unique_ptr<EvalBatch>, kParts> batches;
  std::array<bool, kParts> waited{};  ///< leaves waited for this part when evaluate() began
};

EvaluatorTraits mixed_traits(const EvaluatorTraits& network, const EvaluatorTraits& other) {
  EvaluatorTraits traits;
  traits.reads_planes = network.reads_planes;  // the other part is asked under no symmetry
  traits.reads_positions = network.reads_positions || other.reads_positions;
  traits.equal_priors = network.equal_priors && other.equal_priors;  // else one reads the list
  traits.immediate = network.immediate && other.immediate;
  traits.calling_thread = network.calling_thread || other.calling_thread;
  if (!traits.calling_thread) {
    traits.device_batches = std::max(network.device_batches, other.device_batches);
  }
  return traits;
}

/// Copies what the search filled in. Each part has its own, since both wait at the same time.
void copy_leaf(const EvalLeaf& from, EvalLeaf& to, bool with_position) {
  to.legal.clear();
  std::copy_n(from.legal.data(), from.legal.size(), to.legal.extend(from.legal.size()));
  to.legal_bits = from.legal_bits;
  to.has_legal_bits = from.has_legal_bits;
  to.to_move = from.to_move;
  to.number = from.number;
  if (!with_position) return;
  to.moves = from.moves;
  to.root = from.root;
  if (to.position == nullptr) {
    to.position = from.position->clone();
  } else {
    to.position->assign(*from.position);
  }
}

/// Rows of leaves that are not in use: of a leaf that failed, or of what the batch held before.
/// They are the last ones, as leaves are opened in order.
void drop_unused_rows(EvalBatch& batch) {
  while (!batch.rows.empty() && batch.rows.back().leaf >= batch.num_leaves) batch.rows.pop_back();
}

/// The rows of the batch are the network's. The other part is asked once a leaf, and a leaf waits
/// until both have answered.
class BoundMixed final : public BoundEvaluator {
 public:
  BoundMixed(std::unique_ptr<BoundEvaluator> network, std::unique_ptr<BoundEvaluator> other,
             float mix)
      : parts_{Part(std::move(network)), Part(std::move(other))},
        traits_(mixed_traits(parts_[kNetwork].traits, parts_[kOther].traits)),
        mix_(mix) {
    for (Part& part : parts_) {
      part.late = traits_.device_batches > 0 && part.traits.device_batches == 0;
    }
  }

  [[nodiscard]] EvaluatorTraits traits() const noexcept override { return traits_; }

  [[nodiscard]] std::unique_ptr<EvalBatch> make_batch(int capacity) override {
    auto batch = BoundEvaluator::make_batch(capacity);
    auto memory = std::make_unique<MixedMemory>();
    for (std::size_t i = 0; i < kParts; ++i) {
      memory->batches[i] = parts_[i].evaluator->make_batch(capacity);
      batch->bytes += memory->batches[i]->bytes;
      for (std::size_t leaf = 0; leaf < batch->leaves.size(); ++leaf) {
        batch->leaves[leaf].parts[i] = &memory->batches[i]->leaves[leaf];
      }
    }
    batch->memory = std::move(memory);
    return batch;
  }

  void open(EvalBatch& batch, int leaf, const AnyPosition& position) override {
    MixedMemory& memory = memory_of(batch);
    EvalLeaf& opened = batch.leaves[static_cast<std::size_t>(leaf)];
    for (std::size_t i = 0; i < kParts; ++i) {
      EvalBatch& own = *memory.batches[i];
      own.use_cache = batch.use_cache;
      own.num_leaves = leaf;
      drop_unused_rows(own);
      copy_leaf(opened, *opened.parts[i], parts_[i].traits.reads_positions);
      parts_[i].evaluator->open(own, leaf, position);
    }
    std::copy_n(opened.parts[kNetwork]->planes.key, 2, opened.planes.key);
    parts_[kOther].evaluator->request(*memory.batches[kOther], leaf, 0);
    count_pending(opened);
  }

  void request(EvalBatch& batch, int leaf, int symmetry) override {
    EvalBatch& own = *memory_of(batch).batches[kNetwork];
    const auto rows = static_cast<std::ptrdiff_t>(own.rows.size());
    parts_[kNetwork].evaluator->request(own, leaf, symmetry);
    batch.rows.insert(batch.rows.end(), own.rows.begin() + rows, own.rows.end());
    count_pending(batch.leaves[static_cast<std::size_t>(leaf)]);
  }

  void finish(EvalLeaf& leaf) override {
    for (std::size_t i = 0; i < kParts; ++i) parts_[i].evaluator->finish(*leaf.parts[i]);
    mix(leaf);
  }

  void evaluate(EvalBatch& batch) override {
    MixedMemory& memory = memory_of(batch);
    for (std::size_t i = 0; i < kParts; ++i) {
      EvalBatch& own = *memory.batches[i];
      own.num_leaves = batch.num_leaves;
      drop_unused_rows(own);
      finish_answered(batch, i);
      memory.waited[i] = own.waits();
      if (memory.waited[i] && !parts_[i].late) parts_[i].evaluator->evaluate(own);
    }
  }

  void conclude(EvalBatch& batch) override {
    MixedMemory& memory = memory_of(batch);
    for (std::size_t i = 0; i < kParts; ++i) {
      if (!memory.waited[i]) continue;
      if (parts_[i].late) parts_[i].evaluator->evaluate(*memory.batches[i]);
      parts_[i].evaluator->conclude(*memory.batches[i]);
    }
    for (int i = 0; i < batch.num_leaves; ++i) {
      EvalLeaf& leaf = batch.leaves[static_cast<std::size_t>(i)];
      if (leaf.pending_rows != 0) mix(leaf);
    }
  }

  [[nodiscard]] EvaluatorStats stats() const noexcept override {
    EvaluatorStats stats = parts_[kNetwork].evaluator->stats();
    stats.cache_bytes += parts_[kOther].evaluator->stats().cache_bytes;
    return stats;
  }
  void clear_cache() noexcept override {
    for (Part& part : parts_) part.evaluator->clear_cache();
  }
  [[nodiscard]] std::string provider() const override {
    return parts_[kNetwork].evaluator->provider() + " + " + parts_[kOther].evaluator->provider();
  }

 private:
  static MixedMemory& memory_of(EvalBatch& batch) {
    return static_cast<MixedMemory&>(*batch.memory);
  }
  static void count_pending(EvalLeaf& leaf) noexcept {
    leaf.pending_rows = leaf.parts[kNetwork]->pending_rows + leaf.parts[kOther]->pending_rows;
  }

  /// Completes what this part answered at once of leaves that wait for the other part.
  void finish_answered(EvalBatch& batch, std::size_t part) {
    for (int i = 0; i < batch.num_leaves; ++i) {
      const EvalLeaf& leaf = batch.leaves[static_cast<std::size_t>(i)];
      if (leaf.pending_rows == 0 || leaf.parts[part]->pending_rows != 0) continue;
      parts_[part].evaluator->finish(*leaf.parts[part]);
    }
  }

  /// Both parts are complete, and so is the leaf.
  void mix(EvalLeaf& leaf) const noexcept {
    EvalLeaf& network = *leaf.parts[kNetwork];
    leaf.priors.swap(network.priors);
    leaf.equal_priors = network.equal_priors;
    leaf.value = (1.0F - mix_) * network.value + mix_ * leaf.parts[kOther]->value;
    leaf.pending_rows = 0;
  }

  std::array<Part, kParts> parts_;
  EvaluatorTraits traits_;
  float mix_;
};

}  // namespace

MixedEvaluator::MixedEvaluator(std::shared_ptr<Evaluator> network,
                               std::shared_ptr<Evaluator> rollout, double mix)
    : network_(std::move(network)), rollout_(std::move(rollout)), mix_(static_cast<float>(mix)) {
  if (!(mix >= 0.0 && mix <= 1.0)) {
    throw ConfigError("mix must be between 0 and 1, found " + std::to_string(mix));
  }
}

std::unique_ptr<BoundEvaluator> MixedEvaluator::bind(std::shared_ptr<const AnyGame> game,
                                                     const BindOptions& options) {
  // The cap is for the caches of both parts together: the network has what the other leaves.
  BindOptions own = options;
  own.cache_bytes /= 2;
  auto rollout = rollout_->bind(game, own);
  own.cache_bytes = options.cache_bytes - rollout->stats().cache_bytes;
  return std::make_unique<BoundMixed>(network_->bind(game, own), std::move(rollout), mix_);
}

}  // namespace pyengine
