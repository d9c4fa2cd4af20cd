#include "eval/network/network.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "eval/abilities.h"
#include "eval/network/cache.h"
#include "eval/network/decode.h"

namespace pyengine {
namespace {

/// A row of a batch: a leaf under one symmetry.
struct Row {
  std::uint16_t leaf = 0;
  std::uint8_t symmetry = 0;
};

/// A leaf's data between request() and decode().
struct NetworkLeaf {
  PlaneStack planes;
  SymmetryMean answers;
};

struct NetworkBatch final : EvalBatch {
  explicit NetworkBatch(int capacity)
      : EvalBatch(capacity), leaf_data(static_cast<std::size_t>(capacity)) {
    rows.reserve(leaf_data.size());
  }
  std::vector<NetworkLeaf> leaf_data;  ///< [capacity]: parallel to `leaves`
  std::vector<Row> rows;               ///< the first num_rows are in use
  std::unique_ptr<RawMemory> raw;
  std::vector<float> outputs;  ///< [policy + value] of one row, for the cache
};

class BoundNetwork final : public BoundEvaluator,
                           public RowFiller,
                           public WorkCounter,
                           public CacheHolder {
 public:
  BoundNetwork(std::shared_ptr<const AnyGame> game, const ModelSpec& spec, NetworkSource& source,
               const BindOptions& options)
      : game_(std::move(game)), encoder_(spec, *game_), decoder_(spec, *game_) {
    network_ = source.fit(
        spec,
        {encoder_.shape(), decoder_.policy_size(), decoder_.value_size(), encoder_.fits_int8()});
    row_bytes_ = encoder_.shape().elements() * size_of(network_->input_type());
    outputs_ = static_cast<std::size_t>(decoder_.policy_size()) +
        static_cast<std::size_t>(decoder_.value_size());
    symmetries_ = std::max(1, game_->symmetries().count());
    if (options.cache_entries > 0) {
      cache_ = std::make_unique<EvalCache>(options.cache_entries, options.cache_bytes, outputs_);
    }
  }

  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    return {.under_symmetries = true, .runs_on = network_->runs_on()};
  }

  [[nodiscard]] std::unique_ptr<EvalBatch> make_batch(int capacity) override {
    auto batch = std::make_unique<NetworkBatch>(capacity);
    batch->raw = network_->make_memory(capacity);
    batch->outputs.resize(outputs_);
    batch->bytes += static_cast<std::size_t>(capacity) *
        (sizeof(NetworkLeaf) + sizeof(Row) + row_bytes_ + leaf_bytes());
    return batch;
  }

  int request(EvalBatch& base, const AnyPosition& position) override {
    network_->check_usable();
    auto& batch = static_cast<NetworkBatch&>(base);
    const auto before = static_cast<std::size_t>(batch.num_rows);
    batch.rows.resize(before);  // the caller may have dropped the previous leaf
    EvalLeaf& leaf = batch.next();
    NetworkLeaf& data = batch.leaf_data[static_cast<std::size_t>(batch.num_leaves)];
    data.answers.clear();
    encoder_.open(position, leaf.legal, data.planes);
    if (leaf.symmetry == LeafSymmetry::all) {
      for (int k = 0; k < symmetries_; ++k) request_row(batch, batch.num_leaves, k);
    } else {
      const bool random = leaf.symmetry == LeafSymmetry::random;
      request_row(batch, batch.num_leaves,
                  random ? random_symmetry(data.planes, leaf.seed, symmetries_) : 0);
    }
    if (batch.rows.size() != before) return static_cast<int>(batch.rows.size() - before);
    data.answers.finish(leaf);
    return kAnswered;
  }

  void fill(EvalBatch& base) override {
    auto& batch = static_cast<NetworkBatch&>(base);
    const auto requested = static_cast<std::size_t>(batch.num_rows);
    batch.rows.resize(requested);
    for (int turn = 1; turn < symmetries_; ++turn) {
      for (std::size_t i = 0; i < requested; ++i) {
        if (batch.num_rows >= batch.capacity) return;
        const Row first = batch.rows[i];
        request_row(batch, first.leaf, (first.symmetry + turn) % symmetries_);
        const int added = static_cast<int>(batch.rows.size()) - batch.num_rows;
        batch.leaves[first.leaf].rows += added;
        batch.num_rows += added;
      }
    }
  }

  void evaluate(EvalBatch& base) override {
    network_->check_usable();
    auto& batch = static_cast<NetworkBatch&>(base);
    batch.raw->repeatable = batch.repeatable;
    const int computed = network_->run(*batch.raw, batch.num_rows);
    rows_.fetch_add(static_cast<std::uint64_t>(batch.num_rows), std::memory_order_relaxed);
    padding_.fetch_add(static_cast<std::uint64_t>(computed - batch.num_rows),
                       std::memory_order_relaxed);
    batches_.fetch_add(1, std::memory_order_relaxed);
  }

  void decode(EvalBatch& base) override {
    auto& batch = static_cast<NetworkBatch&>(base);
    const auto policy_size = static_cast<std::size_t>(decoder_.policy_size());
    const auto value_size = static_cast<std::size_t>(decoder_.value_size());
    for (std::size_t i = 0; i < static_cast<std::size_t>(batch.num_rows); ++i) {
      const Row row = batch.rows[i];
      NetworkLeaf& data = batch.leaf_data[row.leaf];
      const float* policy = batch.raw->policy + i * policy_size;
      const float* value = batch.raw->value + i * value_size;
      decoder_.check(policy, value);
      remember(policy, value, row.symmetry, data.planes, batch);
      data.answers.add(decoder_, policy, value, row.symmetry, batch.leaves[row.leaf]);
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(batch.num_leaves); ++i) {
      batch.leaf_data[i].answers.finish(batch.leaves[i]);
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

 private:
  static CacheKey key(const PlaneStack& planes, int symmetry) noexcept {
    const auto k = static_cast<std::uint64_t>(symmetry);
    // The high bits of the first word choose the cache set, so a position's symmetries spread over
    // many sets.
    return {planes.key[0] ^ (k * 0x9E3779B97F4A7C15U), planes.key[1] ^ k};
  }
  /// Answers a leaf under a symmetry from the cache, or adds a row.
  void request_row(NetworkBatch& batch, int leaf, int symmetry) {
    const auto at = static_cast<std::size_t>(leaf);
    NetworkLeaf& data = batch.leaf_data[at];
    if (cache_ != nullptr && batch.use_cache &&
        cache_->find(key(data.planes, symmetry), batch.outputs.data())) {
      const float* policy = batch.outputs.data();
      const float* value = policy + decoder_.policy_size();
      data.answers.add(decoder_, policy, value, symmetry, batch.leaves[at]);
      return;
    }
    encoder_.write(data.planes, symmetry, network_->input_type(),
                   batch.raw->planes + batch.rows.size() * row_bytes_);
    batch.rows.push_back({static_cast<std::uint16_t>(leaf), static_cast<std::uint8_t>(symmetry)});
  }
  void remember(const float* policy, const float* value, int symmetry, const PlaneStack& planes,
                NetworkBatch& batch) {
    if (cache_ == nullptr) return;
    std::copy_n(policy, decoder_.policy_size(), batch.outputs.begin());
    std::copy_n(value, decoder_.value_size(), batch.outputs.begin() + decoder_.policy_size());
    cache_->store(key(planes, symmetry), batch.outputs.data());
  }
  /// Bytes of a leaf's planes, legal actions and priors, and of a row's outputs.
  [[nodiscard]] std::size_t leaf_bytes() const noexcept {
    return static_cast<std::size_t>(encoder_.shape().channels) * sizeof(BoardBits) +
        outputs_ * (2 * sizeof(float) + sizeof(ActionId));
  }

  std::shared_ptr<const AnyGame> game_;
  Encoder encoder_;
  Decoder decoder_;
  std::shared_ptr<RawNetwork> network_;
  std::unique_ptr<EvalCache> cache_;
  std::size_t row_bytes_ = 0;
  std::size_t outputs_ = 0;
  int symmetries_ = 1;
  std::atomic<std::uint64_t> rows_{0};
  std::atomic<std::uint64_t> batches_{0};
  std::atomic<std::uint64_t> padding_{0};
};

}  // namespace

FloatMemory::FloatMemory(const NetworkShape& shape, int capacity)
    : inputs(static_cast<std::size_t>(capacity) * shape.planes.elements()),
      policies(static_cast<std::size_t>(capacity) * static_cast<std::size_t>(shape.policy)),
      values(static_cast<std::size_t>(capacity) * static_cast<std::size_t>(shape.value)) {
  planes = reinterpret_cast<std::byte*>(inputs.data());
  policy = policies.data();
  value = values.data();
}

NetworkEvaluator::NetworkEvaluator(std::shared_ptr<NetworkSource> source, ModelSpec spec)
    : source_(std::move(source)), spec_(std::move(spec)) {
  validate(spec_);
}

std::unique_ptr<BoundEvaluator> NetworkEvaluator::bind(std::shared_ptr<const AnyGame> game,
                                                       const BindOptions& options) {
  return std::make_unique<BoundNetwork>(std::move(game), spec_, *source_, options);
}

}  // namespace pyengine
