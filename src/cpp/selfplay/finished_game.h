/// A finished game of self-play; its positions are kept as columns.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/types.h"
#include "selfplay/packed_planes.h"

namespace pyengine {

/// One row of training data: what a search found at a position. Values are for the player to move.
struct SearchedPosition {
  std::vector<std::uint32_t> visits;  ///< of `actions`
  std::vector<std::int32_t> actions;
  float root_value = 0.0F;
  float network_value = 0.0F;
  int ply = 0;
  Action action = kNoAction;  ///< that was played
  int to_move = 0;
  float surprise = 0.0F;  ///< of the policy target, see policy_surprise(); 0 where there is none
  bool full = true;       ///< a full search
  bool taught = true;     ///< the visits of a full search are a policy target
};

struct FinishedGame {
  std::uint64_t number = 0;        ///< games are counted as they begin
  std::array<float, 2> returns{};  ///< of both players
  std::vector<ActionId> moves;     ///< all, with those of the opening
  int resigned = -1;               ///< player, or -1
  bool resignation_off = false;    ///< no side could resign
  bool cut_short = false;          ///< max_plies ended it: the returns of 0 are no result
  /// Of a game played on: the smallest value of a side that did not lose, see Resignation::add().
  std::optional<double> lowest;

  std::size_t positions = 0;
  std::vector<std::uint8_t> bits;     ///< [positions][sets][set_bytes]
  std::vector<float> fill;            ///< [positions][values]
  std::vector<float> dense;           ///< [positions][dense][points]
  std::vector<std::uint16_t> visits;  ///< [positions][actions]; a row above 65,535 is scaled down
  std::vector<float> root_value;      ///< [positions], as all below
  std::vector<float> network_value;
  std::vector<std::uint16_t> ply;
  std::vector<std::uint16_t> action;
  std::vector<std::uint8_t> to_move;
  std::vector<std::uint8_t> full;
  std::vector<std::uint8_t> taught;
  std::vector<float> surprise;

  /// Appends a position. When it throws, the record is unchanged.
  void add(const PackedShape& shape, const PlaneStack& planes, const SearchedPosition& found,
           int num_actions);

 private:
  void append(const PackedShape& shape, const PlaneStack& planes, const SearchedPosition& found,
              int num_actions);
};

}  // namespace pyengine
