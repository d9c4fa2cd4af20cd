#include "games/tic_tac_toe.h"

#include <utility>

#include "games/any/setup_check.h"
#include "games/common/draws.h"
#include "games/common/grid_text.h"

namespace pyengine {
namespace {

constexpr GridNames kNames{.rows = 3, .columns = 3};

}  // namespace

TicTacToe::Params TicTacToe::parse(const ParamMap& given) {
  ParamReader(kName, given).finish();
  return {};
}

ParamMap TicTacToe::describe(const Params& /*params*/) { return {}; }

GameShape TicTacToe::shape(const Params& /*params*/) {
  return {.rows = 3,
          .columns = 3,
          .num_actions = kPoints,
          .max_game_length = kPoints,
          .symmetry = SymmetryGroup::square};
}

std::string TicTacToe::action_to_string(const Params& /*params*/, Action action) {
  return point_name(kNames, action);
}

Action TicTacToe::string_to_action(const Params& /*params*/, std::string_view text) {
  return point_named(kNames, text);
}

TicTacToe TicTacToe::from_setup(const Params& params, const BoardSetup& setup) {
  check_setup(kName, shape(params), setup);
  check_no_ko(kName, setup);
  TicTacToe game;
  game.stones_ = {static_cast<std::uint16_t>(setup.first.words[0]),
                  static_cast<std::uint16_t>(setup.second.words[0])};
  game.to_move_ = static_cast<std::uint8_t>(setup.to_move);
  const bool first_won = kHasLine[game.stones_[0]];
  const bool second_won = kHasLine[game.stones_[1]];
  check_one_winner(kName, first_won, second_won);
  if (first_won || second_won) {
    game.status_ = won_by(first_won ? 0 : 1);
  } else if (game.empty() == 0) {
    game.status_ = Status::draw;
  }
  return game;
}

void TicTacToe::stones(int t, BoardBits& first, BoardBits& second) const noexcept {
  first = second = BoardBits{};
  if (t > plies_) return;
  unsigned later = 0;
  for (int i = 0; i < t; ++i) later |= 1U << last_move(i);
  first.words[0] = stones_[0] & ~later;
  second.words[0] = stones_[1] & ~later;
}

Playout TicTacToe::light_playout(Rng& rng) const noexcept {
  SmallDraws draws(rng);
  unsigned own = stones_[to_move_];
  unsigned other = stones_[to_move_ ^ 1U];
  int plies = 0;
  for (float sign = to_move_ == 0 ? 1.0F : -1.0F; (own | other) != kFull; sign = -sign) {
    ++plies;
    own |= static_cast<unsigned>(draw_bit(kFull & ~(own | other), draws));
    if (kHasLine[own]) return {{sign}, plies};
    std::swap(own, other);
  }
  return {{0.0F}, plies};
}

std::string TicTacToe::to_string() const {
  BoardBits first;
  BoardBits second;
  stones(0, first, second);
  return board_text(kNames, first, second) + turn_text(status_, to_move_);
}

}  // namespace pyengine
