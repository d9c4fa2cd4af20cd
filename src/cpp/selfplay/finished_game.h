/// A finished self-play game; its positions are stored as columns.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"
#include "selfplay/packed_planes.h"

namespace pyengine {

/// One row of training data: the result of a search. Values are for the player to move.
struct SearchedPosition {
  std::vector<std::uint32_t> visits;  ///< parallel to `actions`
  std::vector<std::int32_t> actions;
  float root_value = 0.0F;
  float network_value = 0.0F;
  int ply = 0;
  Action action = kNoAction;  ///< the move played
  int to_move = 0;
  float surprise = 0.0F;  ///< see policy_surprise(); 0 without a policy target
  bool full = true;       ///< whether the search was a full one
  bool taught = true;     ///< whether the visits are a policy target
};

struct FinishedGame {
  std::uint64_t number = 0;        ///< in the order in which games begin
  std::array<float, 2> returns{};  ///< per player
  std::vector<ActionId> moves;     ///< including the opening
  /// State::serialize() of the position before the first move if it was set up.
  std::optional<std::string> start;
  int resigned = -1;             ///< the player who resigned, or -1
  bool resignation_off = false;  ///< whether resignation was disabled
  bool cut_short =
      false;  ///< whether max_plies ended the game; the returns of 0 are then not a result
  /// For a game played to the end: the smallest value of a side that did not lose, see
  /// Resignation::add().
  std::optional<double> lowest;

  std::size_t positions = 0;
  std::vector<std::uint8_t> bits;     ///< [positions][sets][set_bytes]
  std::vector<float> fill;            ///< [positions][values]
  std::vector<float> dense;           ///< [positions][dense][points]
  std::vector<std::uint16_t> visits;  ///< [positions][actions]; rows above 65,535 are scaled down
  std::vector<float> root_value;      ///< [positions], like all below
  std::vector<float> network_value;
  std::vector<std::uint16_t> ply;
  std::vector<std::uint16_t> action;
  std::vector<std::uint8_t> to_move;
  std::vector<std::uint8_t> full;
  std::vector<std::uint8_t> taught;
  std::vector<float> surprise;

  /// Appends a position. If it throws, the record is unchanged.
  void add(const PackedShape& shape, const PlaneStack& planes, const SearchedPosition& position,
           int num_actions);

 private:
  void append(const PackedShape& shape, const PlaneStack& planes, const SearchedPosition& position,
              int num_actions);
};

}  // namespace pyengine
