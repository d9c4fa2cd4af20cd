/// The rules: players place stones in turn, and three in a row win. Action row * size + column.
///
/// Replace them with your own. pyengine's header games/game.h states what a game must have, and
/// games/game_options.h what it may have: names of actions, positions set up by hand, planes ...
#pragma once

#include <pyengine/plugin/game.h>

namespace pyengine_starter {

using namespace pyengine;

class Starter {
 public:
  struct Params {
    int board_size = 4;
    bool operator==(const Params&) const = default;
  };
  static constexpr std::string_view kName = "starter";

  static void fields(Params& params, auto&& field) {
    field("board_size", params.board_size, 3, 19);
  }
  static Params parse(const ParamMap& given) { return parse_fields<Starter>(given); }
  static ParamMap describe(const Params& params) { return describe_fields<Starter>(params); }
  static GameShape shape(const Params& params) {
    const int points = params.board_size * params.board_size;
    return {.rows = params.board_size,
            .columns = params.board_size,
            .num_actions = points,
            .max_game_length = points,
            .symmetry = SymmetryGroup::square};
  }

  Starter() : Starter(Params{}) {}
  explicit Starter(const Params& params)
      : params_(params), board_(params.board_size, params.board_size) {}

  const Params& params() const noexcept { return params_; }
  int to_move() const noexcept { return board_.to_move(); }
  std::optional<Outcome> outcome() const noexcept { return outcome_of(status_); }
  void legal_actions(ActionList& moves) const {
    list_points(board_.empty(), board_.points(), moves);
  }
  bool is_legal(Action action) const noexcept {
    return status_ == Status::playing && board_.is_free(action);
  }
  void play(Action action) noexcept {
    const int player = to_move();
    board_.put(action);
    if (board_.wins_at(player, action, {.least = 3})) {
      status_ = won_by(player);
    } else if (board_.full()) {
      status_ = Status::draw;
    }
  }
  std::uint64_t hash() const noexcept { return board_.hash(); }
  PositionKey transposition_key() const noexcept { return board_.transposition_key(); }
  void stones(int t, BoardBits& first, BoardBits& second) const noexcept {
    board_.stones(t, first, second);
  }
  Action last_move(int t) const noexcept { return board_.last_move(t); }
  bool operator==(const Starter& other) const noexcept {
    return board_ == other.board_ && params_ == other.params_;
  }

 private:
  Params params_;
  PlacementBoard board_;
  Status status_ = Status::playing;
};

}  // namespace pyengine_starter
