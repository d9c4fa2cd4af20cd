#include "eval/network/network.h"

#include <atomic>
#include <utility>
#include <vector>

#include "eval/network/cache.h"
#include "eval/network/decode.h"

namespace pyengine {
namespace {

struct NetworkMemory final : BatchMemory {
  std::unique_ptr<RawMemory> raw;
  std::vector<float> outputs;  ///< [policy + value] of one row, to and from the cache
};

class BoundNetwork final : public BoundEvaluator {
 public:
  BoundNetwork(std::shared_ptr<const AnyGame> game, const ModelSpec& spec, NetworkSource& source,
               const BindOptions& options)
      : game_(std::move(game)), encoder_(spec, *game_), decoder_(spec, *game_) {
    network_ = source.fit(spec, {encoder_.shape(), decoder_.policy_size(), decoder_.value_size()});
    row_bytes_ = encoder_.shape().elements() * size_of(network_->input_type());
    outputs_ = static_cast<std::size_t>(decoder_.policy_size() + decoder_.value_size());
    if (options.cache_entries > 0) {
      cache_ = std::make_unique<EvalCache>(options.cache_entries, options.cache_bytes, outputs_);
    }
  }

  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    EvaluatorTraits traits = network_->traits();
    traits.reads_planes = true;
    return traits;
  }

  [[nodiscard]] std::unique_ptr<EvalBatch> make_batch(int capacity) override {
    auto batch = BoundEvaluator::make_batch(capacity);
    auto memory = std::make_unique<NetworkMemory>();
    memory->raw = network_->make_memory(capacity);
    memory->outputs.resize(outputs_);
    batch->memory = std::move(memory);
    batch->bytes += static_cast<std::size_t>(capacity) * (row_bytes_ + leaf_bytes());
    return batch;
  }

  void open(EvalBatch& batch, int leaf, const AnyPosition& position) override {
    network_->check_usable();
    EvalLeaf& opened = batch.leaves[static_cast<std::size_t>(leaf)];
    opened.priors.clear();
    opened.equal_priors = false;
    opened.value = 0.0F;
    opened.answers = 0;
    opened.awaited.clear();
    opened.pending_rows = 0;
    encoder_.open(position, opened.legal, opened.planes);
  }

  void request(EvalBatch& batch, int leaf, int symmetry) override {
    EvalLeaf& asked = batch.leaves[static_cast<std::size_t>(leaf)];
    auto& memory = static_cast<NetworkMemory&>(*batch.memory);
    if (cache_ != nullptr && batch.use_cache &&
        cache_->find(key(asked, symmetry), memory.outputs.data())) {
      const float* policy = memory.outputs.data();
      decoder_.add(policy, policy + decoder_.policy_size(), symmetry, asked);
      return;
    }
    encoder_.write(asked.planes, symmetry, network_->input_type(),
                   memory.raw->planes + batch.rows.size() * row_bytes_);
    batch.rows.push_back({static_cast<std::uint16_t>(leaf), static_cast<std::uint8_t>(symmetry)});
    ++asked.pending_rows;
  }

  void finish(EvalLeaf& leaf) override { Decoder::finish(leaf); }

  void evaluate(EvalBatch& batch) override {
    if (batch.rows.empty()) return;
    network_->check_usable();
    auto& memory = static_cast<NetworkMemory&>(*batch.memory);
    const int rows = static_cast<int>(batch.rows.size());
    const int computed = network_->run(*memory.raw, rows);
    rows_.fetch_add(static_cast<std::uint64_t>(rows), std::memory_order_relaxed);
    padding_.fetch_add(static_cast<std::uint64_t>(computed - rows), std::memory_order_relaxed);
    batches_.fetch_add(1, std::memory_order_relaxed);
  }

  void conclude(EvalBatch& batch) override {
    auto& memory = static_cast<NetworkMemory&>(*batch.memory);
    const auto policy_size = static_cast<std::size_t>(decoder_.policy_size());
    const auto value_size = static_cast<std::size_t>(decoder_.value_size());
    for (std::size_t i = 0; i < batch.rows.size(); ++i) {
      const EvalRow row = batch.rows[i];
      EvalLeaf& leaf = batch.leaves[row.leaf];
      const float* policy = memory.raw->policy + i * policy_size;
      const float* value = memory.raw->value + i * value_size;
      decoder_.check(policy, value);
      remember(policy, value, row.symmetry, leaf, memory);
      decoder_.add(policy, value, row.symmetry, leaf);
      if (--leaf.pending_rows == 0) Decoder::finish(leaf);
    }
  }

  [[nodiscard]] EvaluatorStats stats() const noexcept override {
    EvaluatorStats stats;
    stats.rows = rows_.load(std::memory_order_relaxed);
    stats.batches = batches_.load(std::memory_order_relaxed);
    stats.padding = padding_.load(std::memory_order_relaxed);
    if (cache_ != nullptr) {
      stats.cache_hits = cache_->hits();
      stats.cache_bytes = cache_->bytes();
    }
    return stats;
  }
  void clear_cache() noexcept override {
    if (cache_ != nullptr) cache_->clear();
  }
  [[nodiscard]] std::string provider() const override { return network_->provider(); }

 private:
  using Key = std::uint64_t[2];
  struct KeyOf {
    Key words;
    // NOLINTNEXTLINE(google-explicit-constructor): the cache takes the words
    operator const Key&() const noexcept { return words; }
  };
  static KeyOf key(const EvalLeaf& leaf, int symmetry) noexcept {
    const auto k = static_cast<std::uint64_t>(symmetry);
    // The high bits of the first word choose the set: the symmetries of a position lie in many.
    return {{leaf.planes.key[0] ^ (k * 0x9E3779B97F4A7C15U), leaf.planes.key[1] ^ k}};
  }
  /// Of a leaf's planes, legal actions and priors, and of a row's outputs.
  [[nodiscard]] std::size_t leaf_bytes() const noexcept {
    return static_cast<std::size_t>(encoder_.shape().channels) * sizeof(BoardBits) +
        outputs_ * (2 * sizeof(float) + sizeof(ActionId));
  }
  void remember(const float* policy, const float* value, int symmetry, const EvalLeaf& leaf,
                NetworkMemory& memory) {
    if (cache_ == nullptr) return;
    std::copy_n(policy, decoder_.policy_size(), memory.outputs.begin());
    std::copy_n(value, decoder_.value_size(), memory.outputs.begin() + decoder_.policy_size());
    cache_->store(key(leaf, symmetry), memory.outputs.data());
  }

  std::shared_ptr<const AnyGame> game_;
  Encoder encoder_;
  Decoder decoder_;
  std::shared_ptr<RawNetwork> network_;
  std::unique_ptr<EvalCache> cache_;
  std::size_t row_bytes_ = 0;
  std::size_t outputs_ = 0;
  std::atomic<std::uint64_t> rows_{0};
  std::atomic<std::uint64_t> batches_{0};
  std::atomic<std::uint64_t> padding_{0};
};

}  // namespace

NetworkEvaluator::NetworkEvaluator(std::shared_ptr<NetworkSource> source, ModelSpec spec)
    : source_(std::move(source)), spec_(std::move(spec)) {
  spec_.validate();
}

std::unique_ptr<BoundEvaluator> NetworkEvaluator::bind(std::shared_ptr<const AnyGame> game,
                                                       const BindOptions& options) {
  return std::make_unique<BoundNetwork>(std::move(game), spec_, *source_, options);
}

}  // namespace pyengine
