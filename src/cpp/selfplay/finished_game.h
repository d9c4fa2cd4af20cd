/// A game of self-play as it is handed out, positions as columns.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "selfplay/packed_planes.h"

namespace pyengine {

/// What a search said of a position that becomes training data. Values are for the player to move.
struct Judged {
  std::vector<std::uint32_t> visits;  ///< of `actions`
  std::vector<std::int32_t> actions;
  float root_value = 0.0F;
  float network_value = 0.0F;
  int ply = 0;
  Action action = kNoAction;  ///< played
  int to_move = 0;
  bool full = true;  ///< a full search, whose visits are a policy target
};

struct FinishedGame {
  std::uint64_t number = 0;        ///< of the game, in the order in which they began
  std::array<float, 2> returns{};  ///< of both players
  std::vector<ActionId> moves;     ///< all, those of the opening included
  int resigned = -1;               ///< player, or -1
  bool resignation_off = false;    ///< played on whatever the values said

  std::size_t positions = 0;
  std::vector<std::uint8_t> bits;     ///< [positions][sets][set_bytes]
  std::vector<float> fill;            ///< [positions][values]
  std::vector<float> dense;           ///< [positions][dense][points]
  std::vector<std::uint16_t> visits;  ///< [positions][actions]; scaled down where more than 65,535
  std::vector<float> root_value;      ///< [positions], as all below
  std::vector<float> network_value;
  std::vector<std::uint16_t> ply;
  std::vector<std::uint16_t> action;
  std::vector<std::uint8_t> to_move;
  std::vector<std::uint8_t> full;

  /// Appends a position; where that fails the record is as it was.
  void add(const PackedShape& shape, const PlaneStack& planes, const Judged& judged,
           int num_actions);

 private:
  void append(const PackedShape& shape, const PlaneStack& planes, const Judged& judged,
              int num_actions);
};

}  // namespace pyengine
