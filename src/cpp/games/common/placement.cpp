#include "games/common/placement.h"

namespace pyengine {

PlacementBoard::PlacementBoard(int rows, int columns, const BoardSetup& setup) noexcept
    : PlacementBoard(rows, columns) {
  stones_ = {setup.first, setup.second};
  to_move_ = static_cast<std::uint8_t>(setup.to_move);
  if (to_move_ == 1) hash_ ^= kStoneKeys.second_to_move;
  for (unsigned player = 0; player < 2; ++player) {
    stones_[player].for_each([&](int point) {
      hash_ ^= kStoneKeys.stone[player][static_cast<unsigned>(point)];
      --free_;
    });
  }
}

bool PlacementBoard::wins_anywhere(int player, WinningLength length) const noexcept {
  bool found = false;
  of(player).for_each([&](int point) { found = found || wins_at(player, point, length); });
  return found;
}

void PlacementBoard::stones(int t, BoardBits& first, BoardBits& second) const noexcept {
  if (t > plies_) {
    first = second = BoardBits{};
    return;
  }
  first = stones_[0];
  second = stones_[1];
  for (int i = 0; i < t; ++i) {
    first.reset(last_move(i));
    second.reset(last_move(i));
  }
}

}  // namespace pyengine
