/// Sequential halving: how a budget of simulations is divided among the moves of a root, so that
/// the best of them is found (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed
/// bandits", 2013). Pure functions of numbers.
///
/// A phase visits each of its moves equally often; the better half of them goes on to the next one,
/// and two moves are left to the end. The division is that of mctx (seq_halving.py).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pyengine {

struct HalvingPhase {
  std::uint64_t begin = 0;       ///< simulations of the search before it
  std::uint64_t end = 0;         ///< with those of this phase; the budget may cut the last one
  std::uint32_t considered = 0;  ///< moves, >= 1
  std::uint32_t level = 0;       ///< visits that each of them has in this halving before the phase
  std::uint32_t extra = 0;       ///< visits that each of them gets
  std::uint32_t halving = 0;     ///< halvings before this one; see doubling_phases()

  friend bool operator==(const HalvingPhase&, const HalvingPhase&) = default;
};

/// The phases of one halving among `moves` >= 1 moves; `budget` >= 1.
[[nodiscard]] std::vector<HalvingPhase> halving_phases(int moves, std::uint64_t budget);

/// One halving after the other, each with twice the budget of the one before, up to `budget`: where
/// nobody knows how many simulations there will be, the last whole one had a quarter of them or
/// more. The first one visits each move at least once in each phase.
[[nodiscard]] std::vector<HalvingPhase> doubling_phases(int moves, std::uint64_t budget);

/// The phase of simulation `number`, from 0; the last phase beyond the budget.
[[nodiscard]] const HalvingPhase& phase_of(std::span<const HalvingPhase> phases,
                                           std::uint64_t number) noexcept;

}  // namespace pyengine
