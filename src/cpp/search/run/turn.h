/// One turn of gathering from a tree.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace pyengine {

/// Limits of one turn of gathering.
struct Turn {
  int leaves = 0;                 ///< the batch limits the rows as well
  std::uint64_t simulations = 0;  ///< including those that need no row
  const std::atomic<bool>* stop = nullptr;
  /// Called from time to time during a long leaf: the calling thread sets `stop`, and may itself be
  /// the one that is busy.
  const std::function<bool()>* goes_on = nullptr;
  int joint_walks = 1;        ///< maximum number of walks that share their way: joint_walk.h
  bool guards_calls = false;  ///< a user's game: goes_on is called before each call of its code
};

/// Resources and progress of a turn.
struct TurnProgress {
  std::uint64_t tickets = 0;  ///< simulations reserved
  std::uint64_t used = 0;
  int known = 0;     ///< simulations that needed no evaluation
  int answered = 0;  ///< leaves that were answered immediately
  std::uint64_t created = 0;
  std::size_t collided = 0;      ///< ends at leaves in flight
  std::uint64_t collisions = 0;  ///< walks that ended there
  bool hit_in_flight = false;  ///< a leaf was really in flight: it unblocks the tree when it lands
  bool waits = false;          ///< the rule waits for a leaf in flight, which does the same
  std::uint32_t seats = 0;
};

}  // namespace pyengine
