#include "eval/mixed.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "eval/abilities.h"

namespace pyengine {
namespace {

/// One of the two evaluators.
struct Part {
  Part(std::unique_ptr<BoundEvaluator> bound, float weight)
      : evaluator(std::move(bound)), traits(evaluator->traits()), weight(weight) {}

  std::unique_ptr<BoundEvaluator> evaluator;
  EvaluatorTraits traits;
  float weight;       ///< of its value
  bool late = false;  ///< evaluated in decode(), off the threads that feed a device
};

enum PartIndex : std::uint8_t { kNetwork, kOther, kParts };

/// The leaves of a mixed batch that wait for one part.
struct PartBatch {
  std::unique_ptr<EvalBatch> batch;
  std::vector<int> leaf;  ///< [capacity]: index in the mixed batch, ascending

  [[nodiscard]] bool waits() const noexcept { return batch->num_leaves != 0; }
};

struct MixedBatch final : EvalBatch {
  using EvalBatch::EvalBatch;
  void forget_positions() noexcept override {
    EvalBatch::forget_positions();
    for (PartBatch& part : parts) part.batch->forget_positions();
  }
  std::array<PartBatch, kParts> parts;
};

/// If one part needs the calling thread, that thread evaluates both. Otherwise a device decides.
RunsOn mixed_runs_on(const RunsOn& network, const RunsOn& other) {
  if (network.calling_thread() || other.calling_thread()) return {EvalThread::calling};
  return network.device_batches >= other.device_batches ? network : other;
}

EvaluatorTraits mixed_traits(const EvaluatorTraits& network, const EvaluatorTraits& other) {
  EvaluatorTraits traits;
  traits.under_symmetries = network.under_symmetries;  // the other part sees the identity only
  traits.reads_positions = network.reads_positions || other.reads_positions;
  traits.equal_priors = network.equal_priors && other.equal_priors;
  if (network.immediate() && other.immediate()) {
    traits.answering = Answering::immediate;
  } else if (network.answering != Answering::batched && other.answering != Answering::batched) {
    traits.answering = Answering::on_the_spot;
  }
  traits.runs_on = mixed_runs_on(network.runs_on, other.runs_on);
  return traits;
}

/// The parts read the question at different times, so each has a copy.
void copy_question(const EvalLeaf& from, EvalLeaf& to, bool with_position) {
  to.legal.clear();
  std::copy_n(from.legal.data(), from.legal.size(), to.legal.extend(from.legal.size()));
  to.legal_bits = from.legal_bits;
  to.has_legal_bits = from.has_legal_bits;
  to.to_move = from.to_move;
  to.symmetry = from.symmetry;
  to.seed = from.seed;
  to.number = from.number;
  to.on_the_spot = from.on_the_spot;
  to.unfinished = false;
  if (!with_position || from.on_the_spot) return;
  to.moves = from.moves;
  to.root = from.root;
  copy_position(*from.position, to.position);
}

/// Calls both parts as a search would: requests a leaf from both, stores immediate answers and
/// waits for the rest. The rows of the mixed batch are the network's.
class BoundMixed final : public BoundEvaluator,
                         public RowFiller,
                         public WorkCounter,
                         public CacheHolder {
 public:
  BoundMixed(std::unique_ptr<BoundEvaluator> network, std::unique_ptr<BoundEvaluator> other,
             float mix)
      : parts_{Part(std::move(network), 1.0F - mix), Part(std::move(other), mix)},
        traits_(mixed_traits(parts_[kNetwork].traits, parts_[kOther].traits)),
        filler_(row_filler_of(*parts_[kNetwork].evaluator)) {
    for (Part& part : parts_) {
      part.late = traits_.runs_on.device() && !part.traits.runs_on.device();
    }
  }

  [[nodiscard]] EvaluatorTraits traits() const noexcept override { return traits_; }

  [[nodiscard]] std::unique_ptr<EvalBatch> make_batch(int capacity) override {
    auto batch = std::make_unique<MixedBatch>(capacity);
    for (std::size_t i = 0; i < kParts; ++i) {
      batch->parts[i].batch = parts_[i].evaluator->make_batch(capacity);
      batch->parts[i].leaf.resize(static_cast<std::size_t>(capacity));
      batch->bytes += batch->parts[i].batch->bytes;
    }
    return batch;
  }

  int request(EvalBatch& batch, const AnyPosition& position) override {
    auto& mixed = static_cast<MixedBatch&>(batch);
    mixed.next().value = mixed.next().draw = 0.0F;
    const int rows = request_part(mixed, kNetwork, position);
    const int other = request_part(mixed, kOther, position);
    if (rows == kAnswered && other == kAnswered) return kAnswered;
    return std::max(rows, 0);
  }

  void fill(EvalBatch& batch) override {
    auto& mixed = static_cast<MixedBatch&>(batch);
    drop_unused(mixed);
    if (filler_ == nullptr) return;
    PartBatch& part = mixed.parts[kNetwork];
    filler_->fill(*part.batch);
    for (int i = 0; i < part.batch->num_leaves; ++i) {
      const auto at = static_cast<std::size_t>(i);
      mixed.leaves[static_cast<std::size_t>(part.leaf[at])].rows = part.batch->leaves[at].rows;
    }
    mixed.num_rows = part.batch->num_rows;
  }

  void evaluate(EvalBatch& batch) override {
    auto& mixed = static_cast<MixedBatch&>(batch);
    drop_unused(mixed);
    for (std::size_t i = 0; i < kParts; ++i) {
      if (!parts_[i].late) evaluate_part(mixed, i);
    }
  }

  void decode(EvalBatch& batch) override {
    auto& mixed = static_cast<MixedBatch&>(batch);
    for (std::size_t i = 0; i < kParts; ++i) {
      if (parts_[i].late) evaluate_part(mixed, i);
      decode_part(mixed, i);
    }
  }

  [[nodiscard]] EvaluatorStats stats() const noexcept override {
    EvaluatorStats stats = stats_of(*parts_[kNetwork].evaluator);
    stats.cache_bytes += stats_of(*parts_[kOther].evaluator).cache_bytes;
    return stats;
  }
  void clear_cache() noexcept override {
    for (Part& part : parts_) clear_cache_of(*part.evaluator);
  }

 private:
  /// Copies the question of mixed.next() to one part.
  EvalLeaf& ask(MixedBatch& mixed, std::size_t i, bool with_position) {
    PartBatch& part_batch = mixed.parts[i];
    drop_unused(mixed, part_batch);
    part_batch.batch->use_cache = mixed.use_cache;
    part_batch.batch->repeatable = mixed.repeatable;
    part_batch.batch->goes_on = mixed.goes_on;
    EvalLeaf& question = part_batch.batch->next();
    copy_question(mixed.next(), question, with_position);
    if (i != kNetwork) question.symmetry = LeafSymmetry::identity;
    return question;
  }

  /// Requests mixed.next() from one part and adds the answer if it is immediate.
  int request_part(MixedBatch& mixed, std::size_t i, const AnyPosition& position) {
    const Part& part = parts_[i];
    PartBatch& part_batch = mixed.parts[i];
    EvalLeaf& question = ask(mixed, i, part.traits.reads_positions);
    const int rows = part.evaluator->request(*part_batch.batch, position);
    if (rows == kAnswered) {
      take_answer(i, question, mixed.next());
    } else {
      part_batch.leaf[static_cast<std::size_t>(part_batch.batch->num_leaves)] = mixed.num_leaves;
      part_batch.batch->add_next(rows);
    }
    return rows;
  }

  void evaluate_part(MixedBatch& mixed, std::size_t i) {
    PartBatch& part_batch = mixed.parts[i];
    part_batch.batch->goes_on = mixed.goes_on;
    if (part_batch.waits()) parts_[i].evaluator->evaluate(*part_batch.batch);
  }

  void decode_part(MixedBatch& mixed, std::size_t i) {
    PartBatch& part_batch = mixed.parts[i];
    if (!part_batch.waits()) return;
    parts_[i].evaluator->decode(*part_batch.batch);
    for (int k = 0; k < part_batch.batch->num_leaves; ++k) {
      const auto at = static_cast<std::size_t>(k);
      take_answer(i, part_batch.batch->leaves[at],
                  mixed.leaves[static_cast<std::size_t>(part_batch.leaf[at])]);
    }
  }

  /// Removes trailing leaves that the caller has dropped from a part's batch.
  static void drop_unused(const MixedBatch& mixed, PartBatch& part_batch) noexcept {
    EvalBatch& batch = *part_batch.batch;
    while (batch.num_leaves != 0 &&
           part_batch.leaf[static_cast<std::size_t>(batch.num_leaves - 1)] >= mixed.num_leaves) {
      batch.num_rows -= batch.leaves[static_cast<std::size_t>(--batch.num_leaves)].rows;
    }
  }
  static void drop_unused(MixedBatch& mixed) noexcept {
    for (PartBatch& part_batch : mixed.parts) drop_unused(mixed, part_batch);
  }

  /// Adds a part's answer to a leaf. The order of the parts does not matter.
  void take_answer(std::size_t i, const EvalLeaf& from, EvalLeaf& to) const {
    to.value += parts_[i].weight * from.value;
    to.draw += parts_[i].weight * from.draw;
    to.unfinished |= from.unfinished;
    if (i != kNetwork) return;
    to.equal_priors = from.equal_priors;
    if (!from.equal_priors) to.priors = from.priors;
  }

  std::array<Part, kParts> parts_;
  EvaluatorTraits traits_;
  RowFiller* filler_;  ///< of the network; nullptr if it has none
};

}  // namespace

MixedEvaluator::MixedEvaluator(std::shared_ptr<Evaluator> network, std::shared_ptr<Evaluator> other,
                               double mix)
    : network_(std::move(network)), other_(std::move(other)), mix_(static_cast<float>(mix)) {
  if (!(mix >= 0.0 && mix <= 1.0)) {
    throw ConfigError("mix must be between 0 and 1, got " + std::to_string(mix));
  }
}

std::unique_ptr<BoundEvaluator> MixedEvaluator::bind(std::shared_ptr<const AnyGame> game,
                                                     const BindOptions& options) {
  // Both caches share the limit: the network gets what the other part leaves.
  BindOptions part_options = options;
  part_options.cache_bytes /= 2;
  auto other = other_->bind(game, part_options);
  // Do not wait for an answer of weight 0; the other part was bound only to check that it fits.
  if (mix_ == 0.0F) return network_->bind(game, options);
  part_options.cache_bytes = options.cache_bytes - stats_of(*other).cache_bytes;
  return std::make_unique<BoundMixed>(network_->bind(game, part_options), std::move(other), mix_);
}

}  // namespace pyengine
