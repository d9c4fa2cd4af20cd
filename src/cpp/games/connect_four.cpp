#include "games/connect_four.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "games/any/setup_check.h"
#include "games/common/draws.h"
#include "games/common/grid_text.h"

namespace pyengine {

ConnectFour::Params ConnectFour::parse(const ParamMap& given) {
  ParamReader reader(kName, given);
  Params params;
  params.rows = static_cast<int>(reader.integer("rows", params.rows, 1, 63));
  params.columns = static_cast<int>(reader.integer("columns", params.columns, 1, kMaxColumns));
  reader.finish();
  if ((params.rows + 1) * params.columns > 64) {
    throw ConfigError(
        "game \"connect_four\": parameters \"rows\" and \"columns\": expected (rows + 1) * columns "
        "<= 64, got rows " +
        std::to_string(params.rows) + " and columns " + std::to_string(params.columns));
  }
  return params;
}

ParamMap ConnectFour::describe(const Params& params) {
  return {{"rows", static_cast<long long>(params.rows)},
          {"columns", static_cast<long long>(params.columns)}};
}

GameShape ConnectFour::shape(const Params& params) {
  return {.rows = params.rows,
          .columns = params.columns,
          .num_actions = params.columns,
          .max_game_length = params.rows * params.columns,
          .symmetry = SymmetryGroup::mirror};
}

std::string ConnectFour::action_to_string(const Params& /*params*/, Action action) {
  return std::to_string(action + 1);
}

Action ConnectFour::string_to_action(const Params& params, std::string_view text) {
  const int number = small_number(text, params.columns);
  return number == 0 ? kNoAction : number - 1;
}

ConnectFour::ConnectFour(const Params& params) noexcept : params_(params) {
  top_ = (std::uint64_t{1} << params.columns) - 1;
  floor_ = top_ << (params.rows * params.columns);
  for (int row = 0; row <= params.rows; ++row) {
    first_column_ |= std::uint64_t{1} << (row * params.columns);
  }
  for (int column = 0; column + 3 < params.columns; ++column) {
    from_left_ |= (first_column_ & ~floor_) << column;
  }
  from_right_ = from_left_ << 3;
}

ConnectFour ConnectFour::from_setup(const Params& params, const BoardSetup& setup) {
  check_setup(kName, shape(params), setup);
  check_no_ko(kName, setup);
  ConnectFour game(params);
  game.stones_ = {setup.first.words[0], setup.second.words[0]};
  game.to_move_ = static_cast<std::uint8_t>(setup.to_move);
  const std::uint64_t all = game.stones_[0] | game.stones_[1];
  const std::uint64_t floating = all & ~((all | game.floor_) >> params.columns);
  if (floating != 0) {
    const int point = std::countr_zero(floating);
    throw ConfigError("game \"connect_four\": stones must not float, got a floating stone at row " +
                      std::to_string(point / params.columns) + ", column " +
                      std::to_string(point % params.columns));
  }
  const bool first_won = game.has_four(game.stones_[0]);
  const bool second_won = game.has_four(game.stones_[1]);
  check_one_winner(kName, first_won, second_won);
  if (first_won || second_won) {
    game.status_ = won_by(first_won ? 0 : 1);
  } else if (game.open_columns() == 0) {
    game.status_ = Status::draw;
  }
  return game;
}

void ConnectFour::stones(int t, BoardBits& first, BoardBits& second) const noexcept {
  first = second = BoardBits{};
  if (t > plies_) return;
  ConnectFour earlier = *this;
  for (int i = 0; i < t; ++i) {
    const std::uint64_t stone = earlier.highest(last_move(i));
    earlier.stones_[0] &= ~stone;
    earlier.stones_[1] &= ~stone;
  }
  first.words[0] = earlier.stones_[0];
  second.words[0] = earlier.stones_[1];
}

Playout ConnectFour::light_playout(Rng& rng) const noexcept {
  SmallDraws draws(rng);
  std::array<std::uint64_t, kMaxColumns> lands;  // NOLINT: where a stone lands in each open column
  std::uint32_t num_open = 0;
  for (Action column = 0; column < params_.columns; ++column) {
    if (is_legal(column)) lands[num_open++] = highest(column) >> params_.columns;
  }
  std::uint64_t own = stones_[to_move_];
  std::uint64_t other = stones_[to_move_ ^ 1U];
  int plies = 0;
  for (float sign = to_move_ == 0 ? 1.0F : -1.0F; num_open > 0; sign = -sign) {
    ++plies;
    std::uint64_t& drawn = lands[draws.below(num_open)];
    own |= drawn;
    if (has_four(own)) return {{sign}, plies};
    drawn >>= params_.columns;
    if (drawn == 0) {  // the column is full; the others keep their order
      std::copy(&drawn + 1, &lands[num_open], &drawn);
      --num_open;
    }
    std::swap(own, other);
  }
  return {{0.0F}, plies};
}

std::string ConnectFour::to_string() const {
  BoardBits first;
  BoardBits second;
  stones(0, first, second);
  return column_board_text(params_.rows, params_.columns, first, second) +
      turn_text(status_, to_move_);
}

}  // namespace pyengine
