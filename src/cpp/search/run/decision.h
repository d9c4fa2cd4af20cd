/// SearchConfig::stop_when_decided: a search may end before its budget is spent if the rest cannot
/// change the move to play.
#pragma once

#include <cstdint>
#include <optional>

#include "search/config.h"
#include "search/run/team.h"
#include "search/tree/tree.h"

namespace pyengine {

class Decision {
 public:
  explicit Decision(const SearchConfig& config);

  /// Whether visits decide: not with Gumbel, another choice of the move, or a temperature.
  [[nodiscard]] bool by_visits() const noexcept { return by_visits_; }
  /// Called when the root is ready.
  void begin() noexcept;
  /// The number of further simulations after which the most visited move may be out of reach, in
  /// the best case; 0 if it is. `budget`: in simulations, of which `completed` are done. Moves that
  /// are proven to lose do not count; a proof that the rest might give is not foreseen.
  [[nodiscard]] std::uint64_t simulations_until(const Tree& tree, std::uint64_t completed,
                                                std::uint64_t budget) const noexcept;

 private:
  [[nodiscard]] std::uint64_t most_left(std::uint64_t completed) const noexcept;

  bool by_visits_;
  bool solver_;
  std::optional<Clock::time_point> deadline_;
  Clock::time_point begun_;
};

}  // namespace pyengine
