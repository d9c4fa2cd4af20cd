/// What a run goes by, from its configuration, its evaluator and the number of searches and workers
/// alone: pure functions.
#pragma once

#include <cstdint>
#include <limits>

#include "eval/evaluator.h"
#include "search/config.h"
#include "search/run/place.h"
#include "search/tree/backup.h"

namespace pyengine {

/// How far gathering may run ahead of evaluating. Batches, but for the last field.
struct Ahead {
  int ready;  ///< with so many waiting nothing is gathered
  /// With so many waiting, in evaluation or being gathered, no busy search is deepened: where
  /// searches are many, and where they are few.
  int busy_many;
  int busy_few;
  int gatherers;  ///< workers at once
};
[[nodiscard]] Ahead ahead_of(const EvaluatorTraits& traits) noexcept;

/// How many slots a run has.
struct SlotPlan {
  int most = 1;
  int per_round = 1;  ///< most of a round of a deterministic search
};
/// `slot_bytes` of a slot's batch; slots take a quarter of `limit` bytes at most, or one slot.
/// Throws ConfigError where one slot and a tree are too much for the limit.
[[nodiscard]] SlotPlan plan_slots(const EvaluatorTraits& traits, const SearchConfig& config,
                                  int batch_rows, std::size_t searches, std::uint64_t slot_bytes,
                                  std::uint64_t limit);

/// Searches that a worker gathers from in one turn, at most: a turn is one pass through the mutex.
inline constexpr int kMostSearchesPerTurn = 16;
/// Visits of searches for one slot, at most, after which it is asked whether they added a leaf.
inline constexpr int kMostVisits = 8;

/// A run as far as its plan depends on it.
struct RunSize {
  int batch_rows = 1;
  int leaf_rows = 1;  ///< that a leaf asks for: its symmetries, where all are averaged
  int searches = 1;
  int workers = 1;
  int cores = std::numeric_limits<int>::max();  ///< that the process may use
  bool foreign = false;                         ///< a user's game
  bool deadline = false;                        ///< the run has one
  bool follows = false;                      ///< other searches may follow those that are finished
  std::uint64_t visits = ~std::uint64_t{0};  ///< of the first search's root at its end, at most
};

/// Whether the workers search one tree by leases (lease.h): where all leaves are answered in less
/// time than it takes to meet, and the rule does not plan the root as a whole.
[[nodiscard]] bool divides_tree(const EvaluatorTraits& traits, const SearchConfig& config,
                                const RunSize& size) noexcept;
/// Of the workers that a run may have, those that it uses.
[[nodiscard]] int workers_of(const EvaluatorTraits& traits, const SearchConfig& config,
                             const RunSize& size) noexcept;

/// Who gathers how much from which search.
struct TurnPlan {
  int most_gatherers = 1;  ///< of one search at once
  Sharing sharing = Sharing::shared;
  bool finishes_trees = false;  ///< a worker goes on with its tree as long as it can
  bool many = false;            ///< searches: a leaf of each fills all batches of Ahead::busy_many
  bool use_cache = false;
  bool rounds = false;   ///< deterministic: a tree's leaves are gathered and completed in rounds
  bool fills = false;    ///< SymmetryMode::fill
  int joint_walks = 1;   ///< of one search that share their way, at most: joint_walk.h
  int batch_leaves = 1;  ///< with which a batch is evaluated
  int turn_leaves = 1;   ///< of one search in one turn
  /// With one worker one, so that it sees what a search has left before it chooses the next: the
  /// order of visits is then that of the lines, and the same in every run.
  int searches_per_turn = 1;
  int visits = 1;  ///< of searches for one slot; see kMostVisits

  /// Searches of a turn that adds to a batch of so many leaves.
  [[nodiscard]] int searches_for(int leaves) const noexcept;
};
[[nodiscard]] TurnPlan plan_turns(const EvaluatorTraits& traits, const SearchConfig& config,
                                  const RunSize& size) noexcept;

}  // namespace pyengine
