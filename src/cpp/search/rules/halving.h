/// Sequential halving: divides a budget of simulations among the root's moves to find the best of
/// them (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits", 2013). Pure
/// functions of numbers.
///
/// A phase visits each of its moves equally often. The better half enters the next phase, until two
/// moves are left. The division follows mctx (seq_halving.py).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pyengine {

struct HalvingPhase {
  std::uint64_t begin = 0;  ///< simulations before this phase
  std::uint64_t end =
      0;  ///< simulations up to the end of this phase; the budget may cut the last phase short
  std::uint32_t considered = 0;  ///< number of moves, >= 1
  std::uint32_t level = 0;       ///< visits of each move in this halving before the phase
  std::uint32_t extra = 0;       ///< visits that the phase adds to each move
  std::uint32_t halving = 0;     ///< number of earlier halvings; see doubling_phases()

  friend bool operator==(const HalvingPhase&, const HalvingPhase&) = default;
};

/// The phases of one halving among `moves` >= 1 moves; `budget` >= 1.
[[nodiscard]] std::vector<HalvingPhase> halving_phases(int moves, std::uint64_t budget);

/// Successive halvings, each with twice the budget of the previous one, up to `budget`, for
/// searches whose number of simulations is not known in advance. The last complete halving has at
/// least a quarter of them. The first one visits each move at least once per phase.
[[nodiscard]] std::vector<HalvingPhase> doubling_phases(int moves, std::uint64_t budget);

/// The phase of simulation `number`, counted from 0; beyond the budget, the last phase.
[[nodiscard]] const HalvingPhase& phase_of(std::span<const HalvingPhase> phases,
                                           std::uint64_t number) noexcept;

}  // namespace pyengine
