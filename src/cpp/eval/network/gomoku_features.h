/// The 17 features per point that hand-made Gomoku networks read.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "base/types.h"

namespace pyengine {

/// Directions refer to the printed board: n = towards row 0, e = towards the last column. A line
/// length is the number of consecutive stones of one colour through a stone, 0 on an empty point,
/// divided by 5. A direction is blocked (1) if the neighbour is of the other colour or off the
/// board, else 0; -1 on an empty point. The counts are of points on the board in the 7x7 square
/// around a point, including the point, divided by 15.
enum class GomokuFeature : std::uint8_t {
  stone,  ///< -1 empty, 1 first player (black), 2 second player (white)
  line_vertical,
  line_horizontal,
  line_diagonal,      ///< from north-west to south-east
  line_antidiagonal,  ///< from north-east to south-west
  blocked_n,
  blocked_ne,
  blocked_e,
  blocked_se,
  blocked_s,
  blocked_sw,
  blocked_w,
  blocked_nw,
  distance,  ///< distance of the last two moves / (14 sqrt 2), on all points; -1 with fewer than
             ///< two moves
  near_first,
  near_second,
  near_empty,
};
inline constexpr int kGomokuFeatures = 17;

/// Plane names in the order of the enumeration: "gomoku_stone", "gomoku_line_vertical", ...
inline constexpr std::array<std::string_view, kGomokuFeatures> kGomokuFeatureNames = {
    "gomoku_stone",         "gomoku_line_vertical",     "gomoku_line_horizontal",
    "gomoku_line_diagonal", "gomoku_line_antidiagonal", "gomoku_blocked_n",
    "gomoku_blocked_ne",    "gomoku_blocked_e",         "gomoku_blocked_se",
    "gomoku_blocked_s",     "gomoku_blocked_sw",        "gomoku_blocked_w",
    "gomoku_blocked_nw",    "gomoku_distance",          "gomoku_near_first",
    "gomoku_near_second",   "gomoku_near_empty"};

/// The input of the features.
struct GomokuBoard {
  int rows = 0;
  int columns = 0;
  BoardBits first;
  BoardBits second;
  Action last = kNoAction;      ///< point of the last move
  Action previous = kNoAction;  ///< point of the move before it
};

/// Writes all features, [17][rows * columns].
void gomoku_features(const GomokuBoard& board, std::span<float> planes);

/// The feature whose plane, after moving its points by board symmetry `k`, is plane `feature` of
/// the position moved by `k`: lines and directions turn with the board.
GomokuFeature gomoku_source(GomokuFeature feature, int k);

}  // namespace pyengine
