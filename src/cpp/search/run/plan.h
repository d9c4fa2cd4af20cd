/// Decisions about a run that depend only on its configuration, its evaluator and the number of
/// searches and workers. All functions are pure.
#pragma once

#include <cstdint>
#include <limits>

#include "eval/evaluator.h"
#include "search/config.h"
#include "search/run/place.h"
#include "search/tree/backup.h"

namespace pyengine {

/// How far gathering may run ahead of evaluation, in batches (except `gatherers`).
struct Ahead {
  int ready;  ///< no gathering while this many batches are ready
  /// No gathering from busy searches while this many batches are ready, in evaluation or being
  /// filled: with many searches, and with few.
  int busy_many;
  int busy_few;
  int gatherers;  ///< maximum number of workers that gather at the same time
};
[[nodiscard]] Ahead ahead_of(const RunsOn& runs_on) noexcept;

/// The number of slots of a run.
struct SlotPlan {
  int most = 1;
  int per_round = 1;  ///< maximum for one round of a deterministic search
};
/// `slot_bytes`: size of a slot's batch. Slots take at most a quarter of `limit` bytes, or one
/// slot. Throws ConfigError if one slot and a tree exceed the limit.
[[nodiscard]] SlotPlan plan_slots(const EvaluatorTraits& traits, const SearchConfig& config,
                                  int batch_rows, std::size_t searches, std::uint64_t slot_bytes,
                                  std::uint64_t limit);

/// Maximum searches that a worker gathers from in one turn. A turn needs one pass through the
/// mutex.
inline constexpr int kMostSearchesPerTurn = 16;
/// Maximum visits to searches for one slot before checking whether one of them added a leaf.
inline constexpr int kMostVisits = 8;

/// The parameters of a run that its plan depends on.
struct RunSize {
  int batch_rows = 1;
  int leaf_rows = 1;  ///< rows per leaf: the number of symmetries if all are averaged
  int searches = 1;
  int workers = 1;
  int cores = std::numeric_limits<int>::max();  ///< available to the process
  bool foreign = false;                         ///< a user-defined game
  bool deadline = false;                        ///< the run has a deadline
  bool graph = false;                           ///< see Tree::is_graph()
  bool follows = false;                         ///< other searches may replace finished ones
  /// Upper bound for the final visits of the first search's root.
  std::uint64_t visits = ~std::uint64_t{0};
};

/// Whether the workers search one tree by leases (lease.h): if leaves are answered faster than
/// workers can synchronize, and the rule does not plan the root as a whole.
[[nodiscard]] bool divides_tree(const EvaluatorTraits& traits, const SearchConfig& config,
                                const RunSize& size) noexcept;
/// The number of workers that the run actually uses.
[[nodiscard]] int workers_of(const EvaluatorTraits& traits, const SearchConfig& config,
                             const RunSize& size) noexcept;

/// Who gathers how many leaves from which search.
struct TurnPlan {
  int most_gatherers = 1;  ///< per search, at the same time
  Sharing sharing = Sharing::shared;
  bool finishes_trees = false;  ///< a worker keeps its tree as long as possible
  bool many = false;            ///< one leaf of each search fills all Ahead::busy_many batches
  bool use_cache = false;
  bool rounds = false;   ///< deterministic: a tree's leaves are gathered and completed in rounds
  bool fills = false;    ///< SymmetryMode::fill
  int joint_walks = 1;   ///< maximum number of joint walks of one search, see joint_walk.h
  int batch_leaves = 1;  ///< leaves per evaluated batch
  int turn_leaves = 1;   ///< leaves of one search per turn
  /// 1 with a single worker, which then sees the result of one search before it chooses the next:
  /// the order of visits is that of the queues, and the same in every run.
  int searches_per_turn = 1;
  int visits = 1;  ///< to searches, for one slot; see kMostVisits

  /// Number of searches in a turn that adds to a batch with `leaves` leaves.
  [[nodiscard]] int searches_for(int leaves) const noexcept;
};
[[nodiscard]] TurnPlan plan_turns(const EvaluatorTraits& traits, const SearchConfig& config,
                                  const RunSize& size) noexcept;

}  // namespace pyengine
