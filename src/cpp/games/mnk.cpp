#include "games/mnk.h"

#include "games/any/setup_check.h"
#include "games/common/grid_text.h"

namespace pyengine {
namespace {

GridNames names_of(const Mnk::Params& params) {
  return {.rows = params.rows, .columns = params.columns};
}

}  // namespace

GameShape Mnk::shape(const Params& params) {
  const int points = params.rows * params.columns;
  const bool square = params.rows == params.columns;
  return {.rows = params.rows,
          .columns = params.columns,
          .num_actions = points,
          .max_game_length = points,
          .symmetry = square ? SymmetryGroup::square : SymmetryGroup::rectangle};
}

std::string Mnk::action_to_string(const Params& params, Action action) {
  return point_name(names_of(params), action);
}

Action Mnk::string_to_action(const Params& params, std::string_view text) {
  return point_named(names_of(params), text);
}

Mnk Mnk::from_setup(const Params& params, const BoardSetup& setup) {
  check_setup(kName, shape(params), setup);
  check_no_ko(kName, setup);
  Mnk game(params);
  game.board_ = PlacementBoard(params.rows, params.columns, setup);
  const bool first_won = game.board_.wins_anywhere(0, {.least = params.k});
  const bool second_won = game.board_.wins_anywhere(1, {.least = params.k});
  check_one_winner(kName, first_won, second_won);
  if (first_won || second_won) {
    game.status_ = won_by(first_won ? 0 : 1);
  } else if (game.board_.full()) {
    game.status_ = Status::draw;
  }
  return game;
}

std::string Mnk::to_string() const {
  return board_text(names_of(params_), board_.of(0), board_.of(1)) + turn_text(status_, to_move());
}

}  // namespace pyengine
