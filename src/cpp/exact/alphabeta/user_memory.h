/// Memory of a user's game that makes table entries exact: numbers for states, because the user's
/// hash may collide, and numbers for outcomes, which may be arbitrary.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "games/any/state_numbers.h"

namespace pyengine::alphabeta {

/// 24-bit integers for outcomes, with the signs of the outcomes.
class Outcomes {
 public:
  /// Throws ConfigError if there are more outcomes than numbers.
  [[nodiscard]] int number(double outcome);
  [[nodiscard]] double outcome(int number) const noexcept;

 private:
  std::unordered_map<double, int> numbers_;
  std::vector<double> sizes_;
};

struct UserMemory {
  explicit UserMemory(std::size_t states) : numbers(states) {}
  StateNumbers numbers;
  Outcomes outcomes;
};

}  // namespace pyengine::alphabeta
