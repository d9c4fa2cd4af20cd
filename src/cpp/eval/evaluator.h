/// The seam to inference: what a search asks of an evaluator.
///
/// The search fills in a leaf of a batch and requests its evaluation. The answer is there at once,
/// from a cache say, or the leaf waits in the batch, which is evaluated and decoded as a whole:
///
///       worker                    as traits() says            worker
///
///       fill in batch.next()
///       request() ──rows────────▶ evaluate(batch) ──────────▶ decode(batch)
///          │        add_next(),   all rows, in one            leaves [0, num_leaves)
///          │        next leaf     call of a network           have priors and value
///       kAnswered                                                │
///          │                                                  batch.clear()
///       next() has priors and value;
///       its place is used for the next leaf
///
/// Threads: one thread at a time uses a batch, and each sees what the one before it wrote. The
/// verbs are called for different batches at the same time, on any worker. evaluate() alone may be
/// bound to other threads: those that serve a device, or the one that called the search; see
/// EvaluatorTraits.
///
/// Memory: the caller owns the batch and uses it again and again, so that nothing is allocated per
/// leaf. What an evaluator keeps beside the leaves (planes, buffers of a device, a connection)
/// belongs to a class that it derives from EvalBatch and returns from make_batch().
///
/// Errors: request(), fill(), evaluate() and decode() may throw EvaluationError, std::bad_alloc and
/// what the code of a user's game throws. The batch is then as it was before request(); after the
/// others the caller takes its leaves back and clears it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/types.h"
#include "games/any/any_game.h"

namespace pyengine {

class State;

/// What a search needs to know of an evaluator. The defaults: evaluate() runs on any worker, and a
/// leaf has one row.
struct EvaluatorTraits {
  bool under_symmetries = false;  ///< reads EvalLeaf::symmetry; else a leaf has one row
  bool reads_positions = false;   ///< wants EvalLeaf::position, moves and root
  bool equal_priors = false;      ///< every answer says EvalLeaf::equal_priors
  bool immediate = false;         ///< request() always answers: there are no rows to evaluate
  bool on_the_spot = false;       ///< has answer()
  /// Answers on the spot take about as long as two workers of one tree cost each other when they
  /// meet.
  bool brief = false;
  bool calling_thread = false;  ///< evaluate() only on the thread that called the search (Python)
  /// Batches worth evaluating at once. 0 = as many as there are workers, which evaluate. Else
  /// evaluate() waits for a device: threads of their own call it, one more than this number, while
  /// the workers gather on.
  int device_batches = 0;
};

/// Under which symmetries of the board a leaf is evaluated.
enum class LeafSymmetry : std::uint8_t {
  identity,
  random,  ///< one, by a hash of the position and EvalLeaf::seed
  all,     ///< the mean over all of them
};

/// A position to be evaluated. The caller fills in the question, the evaluator the answer.
struct EvalLeaf {
  // --- The question: set before request(), unchanged until the answer is there.
  ActionList legal;      ///< legal actions; none where the game is over
  BoardBits legal_bits;  ///< in the place of `legal`, where traits().equal_priors
  bool has_legal_bits = false;
  int to_move = 0;  ///< player, 0 or 1
  LeafSymmetry symmetry = LeafSymmetry::identity;
  std::uint64_t seed = 0;    ///< of a random symmetry
  std::uint64_t number = 0;  ///< of the leaf within the search: names its random stream
  std::unique_ptr<AnyPosition> position;  ///< reads_positions; see copy_position()
  std::vector<ActionId> moves;            ///< reads_positions; from `root` to here
  const State* root = nullptr;            ///< reads_positions; where `moves` begin

  // --- The answer: there when request() says kAnswered, or after decode().
  std::vector<float> priors;  ///< [legal.size()], in the order of `legal`, sum 1
  bool equal_priors = false;  ///< all priors are 1 / num_legal(); `priors` is not read
  float value = 0.0F;         ///< in [-1, 1], for the player to move
  /// Only where EvalBatch::goes_on said no. The value is then the mean of what there is, 0 of
  /// nothing; the caller sets this to false with the question.
  bool unfinished = false;

  int rows = 0;  ///< of the batch that the leaf takes; set by EvalBatch::add_next()

  [[nodiscard]] int num_legal() const noexcept {
    return has_legal_bits ? legal_bits.count() : legal.size();
  }
};

/// Leaves that are evaluated together. Leaves [0, num_leaves) wait; next() is being requested.
struct EvalBatch {
  explicit EvalBatch(int rows = 0);
  EvalBatch(const EvalBatch&) = delete;
  EvalBatch& operator=(const EvalBatch&) = delete;
  virtual ~EvalBatch() = default;

  [[nodiscard]] EvalLeaf& next() noexcept { return leaves[static_cast<std::size_t>(num_leaves)]; }
  /// next() waits and takes so many rows.
  void add_next(int rows) noexcept {
    next().rows = rows;
    num_rows += rows;
    ++num_leaves;
  }
  void clear() noexcept { num_leaves = num_rows = 0; }
  /// Drops the positions of all leaves: they may be a user's, and nothing waits.
  virtual void forget_positions() noexcept;

  std::vector<EvalLeaf> leaves;  ///< [capacity]
  const int capacity;            ///< rows, and leaves
  int num_leaves = 0;
  int num_rows = 0;         ///< of leaves [0, num_leaves)
  bool use_cache = true;    ///< off where an answer must not depend on what was evaluated before
  bool repeatable = false;  ///< nor on what a device took for how many rows
  std::size_t bytes = 0;    ///< of memory, about; counts against a search's limit
  /// Asked now and then by an answer that takes long and can be cut short; false cuts it short. It
  /// may throw. nullptr: nobody is in a hurry.
  const std::function<bool()>* goes_on = nullptr;
};

/// Counters of an evaluator since it was made; read at any time from any thread.
struct EvaluatorStats {
  std::uint64_t rows = 0;  ///< evaluated, without padding and cache hits
  std::uint64_t batches = 0;
  std::uint64_t padding = 0;  ///< rows computed only to fill a bucket
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_bytes = 0;
};

/// request() has answered: next() is complete and does not wait in the batch.
inline constexpr int kAnswered = -1;

/// An evaluator that fits a game: what a search calls.
class BoundEvaluator {
 public:
  BoundEvaluator() = default;
  BoundEvaluator(const BoundEvaluator&) = delete;
  BoundEvaluator& operator=(const BoundEvaluator&) = delete;
  virtual ~BoundEvaluator() = default;

  [[nodiscard]] virtual EvaluatorTraits traits() const noexcept = 0;
  /// A batch of at most `capacity` rows with all its memory.
  [[nodiscard]] virtual std::unique_ptr<EvalBatch> make_batch(int capacity);

  /// Requests the evaluation of batch.next(), which shows `position`. Returns kAnswered, or the
  /// rows that the leaf takes in the batch: 1, the number of symmetries, or 0 where a part of the
  /// evaluator is awaited that needs none. The caller sees to it that the batch has room.
  virtual int request(EvalBatch& batch, const AnyPosition& position) = 0;
  /// Where traits().on_the_spot: completes batch.next(), which shows `position`, like request(),
  /// evaluate() and decode() together. A worker that shares its tree with no other saves the way
  /// through the batch.
  virtual void answer(EvalBatch& /*batch*/, const AnyPosition& /*position*/) {}
  /// Uses rows that are left for further symmetries of the leaves that wait. Called once, after the
  /// last request.
  virtual void fill(EvalBatch& /*batch*/) {}
  /// Evaluates the leaves that wait, of which there are some. This is the call that takes long.
  virtual void evaluate(EvalBatch& /*batch*/) {}
  /// Writes the answers of the leaves that wait; after evaluate(), once. Apart from it so that the
  /// thread that serves a device can feed it again at once; an evaluator without a device may
  /// write the answers in evaluate().
  virtual void decode(EvalBatch& /*batch*/) {}

  [[nodiscard]] virtual EvaluatorStats stats() const noexcept { return {}; }
  /// Forgets cached answers; returns within a millisecond.
  virtual void clear_cache() noexcept {}
  /// For people: "uniform", "CPUExecutionProvider", ...
  [[nodiscard]] virtual std::string provider() const { return "none"; }
};

/// What the search's configuration says to an evaluator.
struct BindOptions {
  int max_batch = 8;                ///< rows of the largest batch
  int workers = 1;                  ///< threads that evaluate at once
  std::uint64_t cache_entries = 0;  ///< 0 = no cache
  std::uint64_t cache_bytes = 0;    ///< hard cap on the cache's memory
  std::uint64_t seed = 0;           ///< of playouts
};

/// What the user makes, before there is a game.
class Evaluator {
 public:
  Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  virtual ~Evaluator() = default;
  /// Batches that its device serves at once; 0 = no device.
  [[nodiscard]] virtual int device_batches() const noexcept { return 0; }
  /// Throws ModelError or ConfigError when it does not fit the game.
  [[nodiscard]] virtual std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                                             const BindOptions& options) = 0;
};

}  // namespace pyengine
