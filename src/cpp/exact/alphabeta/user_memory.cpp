#include "exact/alphabeta/user_memory.h"

#include <cmath>
#include <string>

#include "base/error.h"

namespace pyengine::alphabeta {
namespace {

constexpr int kMostOutcomes = 1 << 22;

}  // namespace

int Outcomes::number(double outcome) {
  if (outcome == 0.0) return 0;
  const auto next = static_cast<int>(sizes_.size()) + 1;
  const auto [at, is_new] = numbers_.try_emplace(std::abs(outcome), next);
  if (is_new) {
    if (next > kMostOutcomes - 1) {
      numbers_.erase(at);
      throw ConfigError("returns(): expected at most " + std::to_string(kMostOutcomes - 1) +
                        " different outcomes of a game that is solved, got more");
    }
    sizes_.push_back(std::abs(outcome));
  }
  return outcome < 0.0 ? -at->second : at->second;
}

double Outcomes::outcome(int number) const noexcept {
  if (number == 0) return 0.0;
  const double size = sizes_[static_cast<std::size_t>(std::abs(number)) - 1];
  return number < 0 ? -size : size;
}

}  // namespace pyengine::alphabeta
