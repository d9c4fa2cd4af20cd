/// The status of a game in one byte.
#pragma once

#include <cstdint>
#include <optional>

#include "base/types.h"

namespace pyengine {

enum class Status : std::uint8_t { playing, first_won, second_won, draw };

constexpr Status won_by(int player) noexcept {
  return player == 0 ? Status::first_won : Status::second_won;
}

inline std::optional<Outcome> outcome_of(Status status) noexcept {
  switch (status) {
    case Status::playing:
      break;
    case Status::first_won:
      return Outcome{1.0F};
    case Status::second_won:
      return Outcome{-1.0F};
    case Status::draw:
      return Outcome{0.0F};
  }
  return std::nullopt;
}

}  // namespace pyengine
