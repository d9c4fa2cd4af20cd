/// The interface between a search and its evaluator.
///
/// The search fills in a leaf of a batch and requests its evaluation. The answer is either
/// immediate, for example from a cache, or the leaf waits in the batch, which is evaluated and
/// decoded as a whole:
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
///       its slot is used for the next leaf
///
/// Threads: one thread at a time uses a batch, and it sees the writes of the previous one. The
/// functions are called on any worker, concurrently for different batches. Only evaluate() may be
/// restricted to other threads: those that feed a device, or the one that called the search; see
/// EvaluatorTraits.
///
/// Memory: the caller owns the batch and reuses it, so that nothing is allocated per leaf. Further
/// data of an evaluator (planes, device buffers, a connection) belongs in a class that derives from
/// EvalBatch and is returned by make_batch().
///
/// Errors: request(), evaluate() and decode() may throw EvaluationError, std::bad_alloc and
/// exceptions of user code. If request() throws, the batch is unchanged; after the others the
/// caller takes back the leaves and clears the batch.
///
/// Filling spare rows, counters and caches are optional: see abilities.h.
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

/// How the leaves of an evaluator are answered.
enum class Answering : std::uint8_t {
  batched,      ///< a leaf may have to wait in the batch
  on_the_spot,  ///< the same, but request() completes a leaf with EvalLeaf::on_the_spot
  brief,        ///< on the spot, in about the time that it takes to synchronize two workers
  immediate,    ///< request() always completes the leaf: there are no rows to evaluate
};

/// The threads that call evaluate().
enum class EvalThread : std::uint8_t {
  worker,   ///< the worker that fills the batch
  device,   ///< threads that feed a device, while the workers continue to gather
  calling,  ///< only the thread that called the search (Python)
};

/// Where evaluate() runs.
struct RunsOn {
  EvalThread thread = EvalThread::worker;
  /// EvalThread::device: number of batches that the device evaluates at the same time; one thread
  /// more than this feeds it. Otherwise 0.
  int device_batches = 0;

  [[nodiscard]] bool workers() const noexcept { return thread == EvalThread::worker; }
  [[nodiscard]] bool device() const noexcept { return thread == EvalThread::device; }
  [[nodiscard]] bool calling_thread() const noexcept { return thread == EvalThread::calling; }
};

/// On a device that evaluates `batches` batches at the same time; 0 = no device.
[[nodiscard]] constexpr RunsOn on_device(int batches) noexcept {
  return batches > 0 ? RunsOn{EvalThread::device, batches} : RunsOn{};
}

/// Properties of an evaluator that a search depends on. By default evaluate() runs on any worker
/// and a leaf has one row.
struct EvaluatorTraits {
  bool under_symmetries = false;  ///< reads EvalLeaf::symmetry; otherwise a leaf has one row
  bool reads_positions = false;   ///< leaves that wait need EvalLeaf::position, moves and root
  bool equal_priors = false;      ///< every answer sets EvalLeaf::equal_priors
  Answering answering = Answering::batched;
  RunsOn runs_on = {};

  [[nodiscard]] bool on_the_spot() const noexcept {
    return answering == Answering::on_the_spot || answering == Answering::brief;
  }
  [[nodiscard]] bool immediate() const noexcept { return answering == Answering::immediate; }
};

/// The symmetries of the board under which a leaf is evaluated.
enum class LeafSymmetry : std::uint8_t {
  identity,
  random,  ///< one, chosen by a hash of the position and EvalLeaf::seed
  all,     ///< the mean over all
};

/// A position to evaluate. The caller fills in the question, the evaluator the answer.
struct EvalLeaf {
  // --- The question: set before request() and constant until the answer is complete.
  ActionList legal;      ///< legal actions; empty if the game is over
  BoardBits legal_bits;  ///< replaces `legal` if traits().equal_priors
  bool has_legal_bits = false;
  int to_move = 0;  ///< player, 0 or 1
  LeafSymmetry symmetry = LeafSymmetry::identity;
  std::uint64_t seed = 0;    ///< for LeafSymmetry::random
  std::uint64_t number = 0;  ///< number of the leaf within the search; names its random stream
  /// Only if traits().on_the_spot(): request() completes the leaf. Saves a worker with exclusive
  /// use of a tree the detour through the batch.
  bool on_the_spot = false;
  // If traits().reads_positions, unless on_the_spot:
  std::unique_ptr<AnyPosition> position;  ///< see copy_position()
  std::vector<ActionId> moves;            ///< from `root` to this leaf
  const State* root = nullptr;

  // --- The answer: complete when request() returns kAnswered, or after decode().
  std::vector<float> priors;  ///< [legal.size()], in the order of `legal`, sum 1
  bool equal_priors = false;  ///< all priors are 1 / num_legal(); `priors` is ignored
  float value = 0.0F;         ///< in [-1, 1], for the player to move; a draw counts 0
  float draw = 0.0F;          ///< probability of a draw, if the evaluator knows it
  /// Set only after EvalBatch::goes_on returned false: the value is then a partial mean, or 0. The
  /// caller resets it with the question.
  bool unfinished = false;

  int rows = 0;  ///< rows of the batch that the leaf takes; set by EvalBatch::add_next()

  [[nodiscard]] int num_legal() const noexcept {
    return has_legal_bits ? legal_bits.count() : legal.size();
  }
};

/// Leaves that are evaluated together. Leaves [0, num_leaves) are waiting; next() is being filled
/// in.
struct EvalBatch {
  explicit EvalBatch(int rows = 0);
  EvalBatch(const EvalBatch&) = delete;
  EvalBatch& operator=(const EvalBatch&) = delete;
  virtual ~EvalBatch() = default;

  [[nodiscard]] EvalLeaf& next() noexcept { return leaves[static_cast<std::size_t>(num_leaves)]; }
  /// Adds next() to the waiting leaves, with `rows` rows.
  void add_next(int rows) noexcept {
    next().rows = rows;
    num_rows += rows;
    ++num_leaves;
  }
  void clear() noexcept { num_leaves = num_rows = 0; }
  /// Drops the positions of all leaves, which may be Python objects. No leaf may be waiting.
  virtual void forget_positions() noexcept;

  std::vector<EvalLeaf> leaves;  ///< [capacity]
  const int capacity;            ///< maximum number of rows, and of leaves
  int num_leaves = 0;
  int num_rows = 0;         ///< rows of leaves [0, num_leaves)
  bool use_cache = true;    ///< false if answers must not depend on earlier evaluations
  bool repeatable = false;  ///< true if answers must not depend on how a device computes batches of
                            ///< different sizes
  std::size_t bytes = 0;    ///< approximate memory; counts toward a search's memory limit
  /// Called from time to time during long answers; returns false to cut them short. It may throw.
  /// nullptr if answers must be complete.
  const std::function<bool()>* goes_on = nullptr;
};

/// Returned by request() if next() is complete and need not wait in the batch.
inline constexpr int kAnswered = -1;

/// An evaluator bound to a game, as a search uses it.
class BoundEvaluator {
 public:
  BoundEvaluator() = default;
  BoundEvaluator(const BoundEvaluator&) = delete;
  BoundEvaluator& operator=(const BoundEvaluator&) = delete;
  virtual ~BoundEvaluator() = default;

  [[nodiscard]] virtual EvaluatorTraits traits() const noexcept = 0;
  /// Creates a batch of up to `capacity` rows and allocates all its memory.
  [[nodiscard]] virtual std::unique_ptr<EvalBatch> make_batch(int capacity);

  /// Requests the evaluation of batch.next(), a leaf at `position`. Returns kAnswered or the rows
  /// that the leaf takes in the batch: 1, the number of symmetries, or 0 if it only waits for a
  /// part of the evaluator that needs no rows. The caller makes sure that the batch has room.
  virtual int request(EvalBatch& batch, const AnyPosition& position) = 0;
  /// Evaluates the waiting leaves, at least one. This is the slow call.
  virtual void evaluate(EvalBatch& /*batch*/) {}
  /// Writes the answers of the waiting leaves. Called once, after evaluate(). It is separate so
  /// that a thread that feeds a device can continue immediately; an evaluator without a device may
  /// write the answers in evaluate().
  virtual void decode(EvalBatch& /*batch*/) {}
};

/// The settings of a search that concern its evaluator.
struct BindOptions {
  int max_batch = 8;                ///< rows of the largest batch
  int workers = 1;                  ///< threads that evaluate at the same time
  std::uint64_t cache_entries = 0;  ///< 0 = no cache
  std::uint64_t cache_bytes = 0;    ///< hard limit of the cache's memory
  std::uint64_t seed = 0;           ///< of playouts
};

/// An evaluator as the user creates it, before it is bound to a game.
class Evaluator {
 public:
  Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  virtual ~Evaluator() = default;
  /// Number of batches that its device serves at the same time; 0 = no device.
  [[nodiscard]] virtual int device_batches() const noexcept { return 0; }
  /// What evaluates, for users: "uniform", "CPUExecutionProvider", ...
  [[nodiscard]] virtual std::string provider() const { return "none"; }
  /// Throws ModelError or ConfigError if it does not fit the game.
  [[nodiscard]] virtual std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                                             const BindOptions& options) = 0;
};

}  // namespace pyengine
