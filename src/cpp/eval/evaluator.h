/// The one door to inference. The search gathers leaves into a batch; an evaluator judges the
/// batch.
///
///   open(leaf)            what the evaluator needs of the position is taken down
///   request(leaf, sym)    answered from the cache, or a row of the batch is filled
///   evaluate(batch)       all rows judged: priors and value of every leaf are complete
///
/// Memory is owned by the batch, made once and reused; nothing is allocated per leaf.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"
#include "games/any/any_game.h"

namespace pyengine {

class State;

/// What a search needs to know of an evaluator.
struct EvaluatorTraits {
  /// Asks for rows per symmetry, and open() sets planes.key; else one row, symmetry 0.
  bool reads_planes = false;
  bool reads_positions = false;  ///< leaves carry a copy of the position and the moves to it
  bool equal_priors = false;     ///< every judgement says EvalLeaf::equal_priors
  bool immediate = false;        ///< request() always answers: no row, no batch, no waiting
  bool calling_thread = false;   ///< evaluate() only on the thread that called the search (Python)
  /// Batches worth evaluating at once; 0 = one per worker, each on the worker that filled it. Else
  /// evaluate() waits for a device: threads of their own serve it, one more than this number, while
  /// the workers gather on.
  int device_batches = 0;
};

/// What the planes of a position show, taken down once for all symmetries; see encoder.h.
struct PlaneStack {
  std::vector<BoardBits> bits;  ///< planes that are sets of points
  std::vector<float> fill;      ///< planes of one value
  std::vector<float> dense;     ///< other planes, or a user's observation; H*W each
  std::uint64_t key[2] = {};    ///< 128-bit hash of all of the above
};

/// The value of a leaf under a symmetry, while others are awaited.
struct EvalAnswer {
  std::uint8_t symmetry = 0;
  float value = 0.0F;
};

/// One position to be judged. The search fills the first group, the evaluator the second.
struct EvalLeaf {
  ActionList legal;
  /// In the place of `legal`, which is then not filled: of evaluators whose traits say
  /// equal_priors, where the game has it.
  BoardBits legal_bits;
  bool has_legal_bits = false;
  int to_move = 0;
  std::uint64_t number = 0;  ///< of the leaf within the search: names its random stream
  std::unique_ptr<AnyPosition> position;  ///< reads_positions; reused by assign()
  std::vector<ActionId> moves;            ///< reads_positions; from `root` to here
  const State* root = nullptr;            ///< reads_positions; where `moves` begin
  PlaneStack planes;                      ///< reads_planes; filled by open()

  /// [legal.size()], order of `legal`, sum 1; see equal_priors. [answers][legal.size()] until
  /// complete: the mean is taken in the order of the symmetries, whichever answered first.
  std::vector<float> priors;
  bool equal_priors = false;        ///< all priors are 1 / legal.size() and `priors` is not filled
  float value = 0.0F;               ///< in [-1, 1], for the player to move
  int answers = 0;                  ///< symmetries answered so far
  std::vector<EvalAnswer> awaited;  ///< the evaluator's: [answers] of a network
  int pending_rows = 0;             ///< rows that this leaf waits for; 0 = complete
  /// Of a mixed evaluator: the leaf in the batches of its parts. Their rows are awaited as well.
  std::array<EvalLeaf*, 2> parts{};

  [[nodiscard]] int num_legal() const noexcept {
    return has_legal_bits ? legal_bits.count() : legal.size();
  }
};

/// A row of a batch: a leaf under a symmetry.
struct EvalRow {
  std::uint16_t leaf = 0;
  std::uint8_t symmetry = 0;
};

/// What a kind of evaluator keeps beside a batch: device buffers, a session of its own.
class BatchMemory {
 public:
  BatchMemory() = default;
  BatchMemory(const BatchMemory&) = delete;
  BatchMemory& operator=(const BatchMemory&) = delete;
  virtual ~BatchMemory() = default;
};

/// Leaves and the rows they occupy. Leaves [0, num_leaves) are in use. A leaf may wait without a
/// row: in a mixed batch the rows are the network's.
struct EvalBatch {
  std::vector<EvalLeaf> leaves;  ///< [capacity]
  std::vector<EvalRow> rows;     ///< rows in use; at most `capacity`
  int num_leaves = 0;
  int capacity = 0;       ///< rows
  bool use_cache = true;  ///< off where results must not depend on what was evaluated before
  std::size_t bytes = 0;  ///< of memory, about; counts against a search's limit
  std::unique_ptr<BatchMemory> memory;

  /// Whether a leaf is to be evaluated.
  [[nodiscard]] bool waits() const noexcept {
    return std::any_of(leaves.begin(), leaves.begin() + num_leaves,
                       [](const EvalLeaf& leaf) { return leaf.pending_rows != 0; });
  }
};

/// Counters of an evaluator since it was made; read at any time from any thread.
struct EvaluatorStats {
  std::uint64_t rows = 0;  ///< judged, without padding and cache hits
  std::uint64_t batches = 0;
  std::uint64_t padding = 0;  ///< rows computed only to fill a bucket
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_bytes = 0;
};

/// An evaluator that fits a game. Safe to use from several threads with different batches, unless
/// traits().calling_thread.
class BoundEvaluator {
 public:
  BoundEvaluator() = default;
  BoundEvaluator(const BoundEvaluator&) = delete;
  BoundEvaluator& operator=(const BoundEvaluator&) = delete;
  virtual ~BoundEvaluator() = default;

  [[nodiscard]] virtual EvaluatorTraits traits() const noexcept = 0;
  /// A batch of at most `capacity` rows, its memory allocated.
  [[nodiscard]] virtual std::unique_ptr<EvalBatch> make_batch(int capacity);

  /// Begins to judge `batch.leaves[leaf]`: clears its answers and takes down what is needed of the
  /// position. `legal`, `to_move`, `number` (and `position`, `moves`) are set by the caller. Leaves
  /// are opened in the order of their indices; a leaf that fails is opened again or left out, and
  /// leaf 0 begins the batch anew.
  virtual void open(EvalBatch& batch, int leaf, const AnyPosition& position) = 0;
  /// Asks for the leaf's judgement under a symmetry: adds an answer at once (cache) or a row.
  /// The caller sees to it that the batch has room for the row.
  virtual void request(EvalBatch& batch, int leaf, int symmetry) = 0;
  /// Completes a leaf without pending rows: the mean over its answers. conclude() has done it for
  /// the leaves that had rows.
  virtual void finish(EvalLeaf& leaf) = 0;
  /// Evaluates all rows; called when a leaf waits, which in a mixed batch it may do without a row.
  /// Throws EvaluationError; the batch is then to be dropped or cleared by the caller.
  virtual void evaluate(EvalBatch& batch) = 0;
  /// Reads the judgements and completes the leaves that have rows; after evaluate(), once, on any
  /// thread: so that the thread that serves a device can feed it again at once. Throws
  /// EvaluationError (non-finite output).
  virtual void conclude(EvalBatch& /*batch*/) {}

  [[nodiscard]] virtual EvaluatorStats stats() const noexcept { return {}; }
  /// Forgets cached judgements; never blocks for more than a millisecond.
  virtual void clear_cache() noexcept {}
  /// For people: "uniform", "CPUExecutionProvider", ...
  [[nodiscard]] virtual std::string provider() const { return "none"; }
};

/// Options of a bound evaluator that come from the search's configuration.
struct BindOptions {
  int max_batch = 8;                ///< rows of the largest batch
  int workers = 1;                  ///< threads that will evaluate at once
  std::uint64_t cache_entries = 0;  ///< 0 = no cache
  std::uint64_t cache_bytes = 0;    ///< hard cap on the cache's memory
  std::uint64_t seed = 0;           ///< of playouts
};

/// What the user makes: bind() checks the fit to a game and throws ModelError (ConfigError).
class Evaluator {
 public:
  Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  virtual ~Evaluator() = default;
  /// Batches that its device serves at once, known before there is a game; 0 = no device.
  [[nodiscard]] virtual int device_batches() const noexcept { return 0; }
  [[nodiscard]] virtual std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                                             const BindOptions& options) = 0;
};

}  // namespace pyengine
