#include "search/run/plan.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/memory.h"
#include "search/rules/rule.h"
#include "search/run/lease.h"
#include "search/setup.h"

namespace pyengine {
namespace {

/// Workers that gather for a device at the same time. They outrun it, and the more batches are
/// filled in parallel the emptier they are: 131,000 rows/s with 16 on a modelled device, about
/// 230,000 with 1 to 4.
constexpr int kMostGathering = 4;
constexpr int kMostSlots = 1 << 16;
/// Concurrent rounds of deterministic searches. Constant, because the memory left for trees must
/// not depend on the number of workers.
constexpr int kMostRounds = 16;
/// Rows per batch from which two workers gather from the same tree. Below that, sharing cache lines
/// costs more than the second worker contributes.
constexpr int kRowsForTwoGatherers = 256;

/// Workers that gather from one tree at the same time if there are more workers than trees. More
/// workers collide more often.
int gatherers_of_tree(const EvaluatorTraits& traits, int rows, int workers) noexcept {
  if (traits.runs_on.workers()) return std::min(workers, std::max(2, workers / 4));
  return std::min(workers, rows < kRowsForTwoGatherers ? 1 : 2);
}

/// A second worker on the same tree costs more than it contributes, unless it works on a separate
/// part.
bool answers_at_once(const EvaluatorTraits& traits) noexcept {
  return traits.immediate() || traits.answering == Answering::brief;
}

/// Leaves per evaluated batch. If workers evaluate, small batches for all of them are faster than
/// full ones for a few.
int leaves_of_batch(const EvaluatorTraits& traits, const SearchConfig& config, int rows,
                    int searches, int workers) noexcept {
  const bool shared = traits.runs_on.workers() && !traits.immediate();
  if (!shared || config.symmetry == SymmetryMode::fill) return rows;
  const std::int64_t leaves = std::int64_t{max_in_flight(config)} * searches;
  return static_cast<int>(std::clamp<std::int64_t>(leaves / workers, 1, rows));
}

/// Number of joint walks. The walks within one do not avoid each other's collisions: if all leaves
/// in flight are in one joint walk, strength suffers; if each has few walks, little of the path is
/// shared.
int joint_walks(const EvaluatorTraits& traits, const SearchConfig& config,
                const RunSize& size) noexcept {
  constexpr int kShare = 8;
  constexpr int kWorthwhile = 16;
  const bool fits = config.algorithm == Algorithm::puct && !config.deterministic && !size.foreign &&
      !size.graph && traits.answering == Answering::batched;
  const int walks = max_in_flight(config) / kShare;
  return fits && walks >= kWorthwhile ? walks : 1;
}

/// Enough slots that no thread waits for one.
int wanted_slots(const RunsOn& runs_on, const SearchConfig& config, int searches,
                 int per_round) noexcept {
  if (config.deterministic) return per_round * std::min(searches, kMostRounds);
  if (runs_on.workers()) return 2 * num_workers(config);
  const Ahead ahead = ahead_of(runs_on);
  const int evaluating = runs_on.device_batches + 1;  // the threads that call evaluate()
  return evaluating + ahead.ready + 2 * ahead.gatherers + 1;
}

}  // namespace

Ahead ahead_of(const RunsOn& runs_on) noexcept {
  constexpr int kAny = std::numeric_limits<int>::max() / 4;
  const int served = runs_on.device_batches;
  switch (runs_on.thread) {
    case EvalThread::worker:
      break;
    case EvalThread::device:
      return {served, served + 1, served + 3, kMostGathering};
    case EvalThread::calling:
      // Several gatherers would spread the leaves of a callable over several batches.
      return {1, 2, 2, 1};
  }
  return {kAny, kAny, kAny, kAny};
}

SlotPlan plan_slots(const EvaluatorTraits& traits, const SearchConfig& config, int batch_rows,
                    std::size_t searches, std::uint64_t slot_bytes, std::uint64_t limit) {
  constexpr std::uint64_t kLeastTree = 2 * kChunkBytes;
  if (limit < slot_bytes + kLeastTree) {
    throw ConfigError("memory_limit: expected room for a tree and a batch of " +
                      std::to_string(batch_rows) + " rows, which takes " +
                      std::to_string(slot_bytes) + " bytes; got " + std::to_string(limit) +
                      " bytes for both: raise memory_limit, or lower batch_size");
  }
  const std::uint64_t share =
      std::max(limit / 4, slot_bytes) / std::max<std::uint64_t>(slot_bytes, 1);
  const int fitting = static_cast<int>(std::min<std::uint64_t>(share, kMostSlots));
  const int leaves = config.symmetry == SymmetryMode::average ? 1 : batch_rows;
  const int per_round = std::min((max_in_flight(config) + leaves - 1) / leaves, fitting);
  const int count = static_cast<int>(std::min<std::size_t>(searches, kMostRounds));
  const int wanted = wanted_slots(traits.runs_on, config, count, per_round);
  return {std::clamp(wanted, 1, fitting), per_round};
}

bool divides_tree(const EvaluatorTraits& traits, const SearchConfig& config,
                  const RunSize& size) noexcept {
  // Below the top of a lease the moves from the root are unknown, so an evaluator that needs them
  // must answer immediately. No leaf can wait in a batch.
  const bool answers =
      traits.answering == Answering::brief || (traits.immediate() && !traits.reads_positions);
  // The subtrees of two leases in a graph would overlap.
  const bool fits = answers && !size.foreign && !size.follows && !size.graph;
  const bool grows = grows_a_tree(config.algorithm) && config.algorithm != Algorithm::gumbel;
  // A lease adds a sum of values to the nodes above it, not their squares.
  const bool squares = config.choose == MoveChoice::lcb || config.c_puct_stdev != 0.0;
  return fits && grows && !squares && !config.deterministic && size.searches == 1 &&
      workers_for(size.visits, size.workers) > 1;
}

int workers_of(const EvaluatorTraits& traits, const SearchConfig& config,
               const RunSize& size) noexcept {
  if (size.foreign) return 1;
  // Workers only compute, so more workers than cores would compete for time slices.
  if (traits.runs_on.device()) return std::min(size.workers, size.cores);
  if (size.searches > 1 || !answers_at_once(traits)) return size.workers;
  return divides_tree(traits, config, size) ? workers_for(size.visits, size.workers) : 1;
}

TurnPlan plan_turns(const EvaluatorTraits& traits, const SearchConfig& config,
                    const RunSize& size) noexcept {
  TurnPlan plan;
  plan.many = size.searches >= std::int64_t{ahead_of(traits.runs_on).busy_many} * size.batch_rows;
  const bool worker_for_each = size.searches >= size.workers;
  // A root plan knows the walks that have begun, but not those that other workers are about to
  // begin.
  const bool has_plan = config.algorithm == Algorithm::gumbel;
  const bool by_one = worker_for_each || config.deterministic || has_plan;
  if (divides_tree(traits, config, size)) {
    plan.most_gatherers = size.workers;
  } else {
    plan.most_gatherers = by_one ? 1 : gatherers_of_tree(traits, size.batch_rows, size.workers);
  }
  // If the evaluator answers every request immediately, one worker at a time has the whole tree.
  const bool passes_whole = traits.immediate() && plan.most_gatherers == 1;
  plan.sharing = size.workers == 1 || passes_whole ? Sharing::exclusive : Sharing::shared;
  // Loading a tree into a core's cache for each turn costs 50 % more. With a deadline, all trees
  // should get their share.
  plan.finishes_trees = passes_whole && !size.deadline;
  // Earlier evaluations and those of other workers must not decide which rows share a batch: the
  // last bits of an output can depend on that.
  plan.use_cache = !config.deterministic && config.cache_entries > 0;
  plan.rounds = config.deterministic;
  plan.fills = config.symmetry == SymmetryMode::fill;
  plan.batch_leaves = leaves_of_batch(traits, config, size.batch_rows, size.searches, size.workers);
  plan.turn_leaves = std::max(1, plan.batch_leaves / size.searches);
  plan.joint_walks = joint_walks(traits, config, size);
  const int room = std::min(plan.batch_leaves, size.batch_rows / size.leaf_rows);
  const bool one_visit = traits.immediate() || size.foreign || plan.rounds;
  plan.visits = one_visit ? 1 : std::clamp(plan.batch_leaves / plan.turn_leaves, 1, kMostVisits);
  plan.searches_per_turn = one_visit || size.workers == 1
      ? 1
      : std::clamp(room / plan.turn_leaves, 1, kMostSearchesPerTurn);
  return plan;
}

int TurnPlan::searches_for(int leaves) const noexcept {
  const int room = (batch_leaves - leaves + turn_leaves - 1) / turn_leaves;
  return std::clamp(room, 1, searches_per_turn);
}

}  // namespace pyengine
