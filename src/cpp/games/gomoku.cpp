#include "games/gomoku.h"

#include <array>
#include <vector>

#include "base/error.h"
#include "games/any/setup_check.h"
#include "games/common/grid_text.h"

namespace pyengine {
namespace {

constexpr std::array<std::string_view, 3> kRules = {"freestyle", "standard", "renju"};

GridNames names_of(const Gomoku::Params& params) {
  return {.rows = params.board_size,
          .columns = params.board_size,
          .upper_case = true,
          .rows_from_bottom = true};
}

GomokuRule rule_named(std::string_view name) {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (kRules[i] == name) return static_cast<GomokuRule>(i);
  }
  return GomokuRule::freestyle;
}

}  // namespace

Gomoku::Params Gomoku::parse(const ParamMap& given) {
  ParamReader reader(kName, given);
  Params params;
  params.board_size =
      static_cast<int>(reader.integer("board_size", params.board_size, 3, kMaxSide));
  params.rule = rule_named(reader.choice("rule", kRules.front(), {kRules.begin(), kRules.end()}));
  params.win_length =
      static_cast<int>(reader.integer("win_length", params.win_length, 3, kMaxSide));
  reader.finish();
  if (params.rule == GomokuRule::renju && params.win_length != 5) {
    throw ConfigError(
        "game \"gomoku\": parameter \"win_length\": expected 5 with rule renju, got " +
        std::to_string(params.win_length));
  }
  return params;
}

ParamMap Gomoku::describe(const Params& params) {
  return {{"board_size", static_cast<long long>(params.board_size)},
          {"rule", std::string(kRules[static_cast<std::size_t>(params.rule)])},
          {"win_length", static_cast<long long>(params.win_length)}};
}

GameShape Gomoku::shape(const Params& params) {
  const int points = params.board_size * params.board_size;
  return {.rows = params.board_size,
          .columns = params.board_size,
          .num_actions = points,
          .max_game_length = points,
          .symmetry = SymmetryGroup::square};
}

std::string Gomoku::action_to_string(const Params& params, Action action) {
  return point_name(names_of(params), action);
}

Action Gomoku::string_to_action(const Params& params, std::string_view text) {
  return point_named(names_of(params), text);
}

Gomoku Gomoku::from_setup(const Params& params, const BoardSetup& setup) {
  check_setup(kName, shape(params), setup);
  check_no_ko(kName, setup);
  Gomoku game(params);
  game.board_ = PlacementBoard(params.board_size, params.board_size, setup);
  const bool first_won = game.board_.wins_anywhere(0, game.winning_length(0));
  const bool second_won = game.board_.wins_anywhere(1, game.winning_length(1));
  check_one_winner(kName, first_won, second_won);
  if (first_won || second_won) {
    game.status_ = won_by(first_won ? 0 : 1);
  } else if (game.board_.full() || (game.black_is_bound() && !game.black_can_move())) {
    game.status_ = Status::draw;
  }
  return game;
}

bool Gomoku::is_forbidden(Action point) const noexcept {
  return pyengine::is_forbidden(renju_board().classify(point));
}

BoardBits Gomoku::permitted() const noexcept {
  return board_.empty() - renju_board().forbidden_points();
}

bool Gomoku::black_can_move() const noexcept { return renju_board().black_can_move(); }

std::string Gomoku::to_string() const {
  return board_text(names_of(params_), board_.of(0), board_.of(1)) + turn_text(status_, to_move());
}

}  // namespace pyengine
