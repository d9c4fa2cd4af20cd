#include "search/rules/halving.h"

#include <algorithm>
#include <bit>

namespace pyengine {
namespace {

/// Number of halvings until one of `moves` >= 2 moves is left: log2, rounded up.
[[nodiscard]] std::uint64_t halvings(std::uint64_t moves) noexcept {
  return static_cast<std::uint64_t>(std::bit_width(moves - 1));
}

}  // namespace

std::vector<HalvingPhase> halving_phases(int moves, std::uint64_t budget) {
  if (moves <= 1) return {{0, budget, 1, 0, static_cast<std::uint32_t>(budget), 0}};
  std::vector<HalvingPhase> phases;
  const auto all = static_cast<std::uint64_t>(moves);
  std::uint64_t considered = all;
  std::uint64_t level = 0;
  for (std::uint64_t begin = 0; begin < budget;) {
    const std::uint64_t extra = std::max<std::uint64_t>(1, budget / (halvings(all) * considered));
    const std::uint64_t end = std::min(begin + considered * extra, budget);
    phases.push_back({begin, end, static_cast<std::uint32_t>(considered),
                      static_cast<std::uint32_t>(level), static_cast<std::uint32_t>(extra), 0});
    begin = end;
    level += extra;
    considered = std::max<std::uint64_t>(2, considered / 2);
  }
  return phases;
}

std::vector<HalvingPhase> doubling_phases(int moves, std::uint64_t budget) {
  if (moves <= 1) return halving_phases(moves, budget);
  const auto all = static_cast<std::uint64_t>(moves);
  std::vector<HalvingPhase> phases;
  std::uint64_t size = all * halvings(all);
  std::uint32_t number = 0;
  for (std::uint64_t begin = 0; begin < budget; ++number, size *= 2) {
    const std::uint64_t left = budget - begin;
    const std::uint64_t part = left < 2 * size ? left : size;  // avoid a short last phase
    for (HalvingPhase phase : halving_phases(moves, part)) {
      phase.begin += begin;
      phase.end += begin;
      phase.halving = number;
      phases.push_back(phase);
    }
    begin += part;
  }
  return phases;
}

const HalvingPhase& phase_of(std::span<const HalvingPhase> phases, std::uint64_t number) noexcept {
  const auto found =
      std::upper_bound(phases.begin(), phases.end(), number,
                       [](std::uint64_t n, const HalvingPhase& phase) { return n < phase.end; });
  return found == phases.end() ? phases.back() : *found;
}

}  // namespace pyengine
