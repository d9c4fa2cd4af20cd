/// Breakthrough (Dan Troyka, 2000): a pawn moves one step forward, straight onto an empty square,
/// or diagonally onto one without a pawn of its own; only a diagonal step captures. X starts on the
/// two bottom rows, O on the two top rows. Whoever reaches the far row, or captures all pawns,
/// wins.
///
/// Action square * 6 + direction: left, straight, right for X, who moves up, then the same for O,
/// who moves down. With three directions "a2b3" and "a2b1" would be one action.
#pragma once

#include <pyengine/plugin/game.h>

#include <array>

namespace pyengine_breakthrough {

using namespace pyengine;

class Breakthrough {
 public:
  struct Params {
    int rows = 8;
    int columns = 8;
    bool operator==(const Params&) const = default;
  };
  static constexpr std::string_view kName = "breakthrough";

  static void fields(Params& params, auto&& field) {
    field("rows", params.rows, 4, 8);
    field("columns", params.columns, 2, 8);
  }
  static Params parse(const ParamMap& given) { return parse_fields<Breakthrough>(given); }
  static ParamMap describe(const Params& params) { return describe_fields<Breakthrough>(params); }
  static GameShape shape(const Params& params) {
    return {.rows = params.rows,
            .columns = params.columns,
            .num_actions = 6 * params.rows * params.columns,
            .max_game_length = 2 * params.columns * (2 * params.rows - 5) + 1};
  }
  /// The columns in reverse order.
  static Symmetries symmetries(const Params& params) {
    const auto point = [n = params.columns](int p) { return p + n - 1 - 2 * (p % n); };
    const auto action = [point](int a) { return 6 * point(a / 6) + a % 6 + 2 - 2 * (a % 3); };
    return make_symmetries(shape(params), {{point, action}});
  }
  /// "a2b3"; "#12" for an action that leaves the board.
  static std::string action_to_string(const Params& params, Action action) {
    const int square = action / 6, target = target_of(params, action), columns = params.columns;
    const bool inside = target >= 0 && target < params.rows * columns &&
        target % columns == square % columns + action % 3 - 1;
    if (!inside) return "#" + std::to_string(action);
    return point_name(names_of(params), square) + point_name(names_of(params), target);
  }
  static Action string_to_action(const Params& params, std::string_view text) {
    Action action = shape(params).num_actions - 1;
    while (action >= 0 && !same_word(action_to_string(params, action), text)) --action;
    return action;
  }

  Breakthrough() : Breakthrough(Params{}) {}
  explicit Breakthrough(const Params& params) : params_(params) {
    for (int square = 0; square < 64; square += params.columns) first_column_ |= bit(square);
    pawns_ = {row(params.rows - 1) | row(params.rows - 2), row(0) | row(1)};
  }

  const Params& params() const noexcept { return params_; }
  int to_move() const noexcept { return plies_ % 2; }
  std::optional<Outcome> outcome() const noexcept { return outcome_of(status_); }
  void legal_actions(ActionList& moves) const {
    moves.clear();
    const auto choices = movers();
    for (auto rest = choices[0] | choices[1] | choices[2]; rest != 0; rest &= rest - 1) {
      const int square = std::countr_zero(rest);
      for (int to = 0; to < 3; ++to) {
        if (choices[to] & bit(square)) moves.push_back(6 * square + 3 * to_move() + to);
      }
    }
  }
  bool is_legal(Action action) const noexcept {
    if (action < 0 || action / 6 >= params_.rows * params_.columns) return false;
    return status_ == Status::playing && action / 3 % 2 == to_move() &&
        (movers()[action % 3] & bit(action / 6)) != 0;
  }
  void play(Action action) noexcept {
    const int player = to_move();
    const std::uint64_t target = bit(target_of(params_, action));
    recent_[plies_++ % 8] = {action, (pawns_[1 - player] & target) != 0};
    pawns_[player] ^= bit(action / 6) | target;
    pawns_[1 - player] &= ~target;
    const std::uint64_t goals = row(0) | row(params_.rows - 1);
    if ((target & goals) || pawns_[1 - player] == 0) status_ = won_by(player);
  }
  std::uint64_t hash() const noexcept { return hash_words(pawns_[0], pawns_[1], to_move()); }
  /// A player has pawns on at most half of the squares, so a complement is no set of pawns.
  PositionKey transposition_key() const noexcept {
    return {pawns_[0], to_move() == 0 ? pawns_[1] : ~pawns_[1]};
  }
  void stones(int t, BoardBits& first, BoardBits& second) const noexcept {
    first = second = {};
    if (t > plies_) return;
    std::array<std::uint64_t, 2> pawns = pawns_;
    for (int ply = plies_ - 1; ply >= plies_ - t; --ply) {
      const auto [action, captured] = recent_[ply % 8];
      pawns[ply % 2] ^= bit(action / 6) | bit(target_of(params_, action));
      if (captured) pawns[1 - ply % 2] |= bit(target_of(params_, action));
    }
    first.words[0] = pawns[0];
    second.words[0] = pawns[1];
  }
  Action last_move(int t) const noexcept {
    return t < plies_ ? recent_[(plies_ - 1 - t) % 8].first : kNoAction;
  }
  std::string to_string() const {
    return board_text(names_of(params_), {{pawns_[0]}}, {{pawns_[1]}}) +
        turn_text(status_, to_move());
  }
  bool has_light_playout() const noexcept { return true; }
  Playout light_playout(Rng& rng) const noexcept {
    Breakthrough position = *this;
    while (position.status_ == Status::playing) {
      const auto choices = position.movers();
      const int count = count_bits(choices[0]) + count_bits(choices[1]) + count_bits(choices[2]);
      const unsigned chosen = nth_bit(choices.data(), rng.below(static_cast<unsigned>(count)));
      position.play(static_cast<int>(6 * (chosen % 64) + chosen / 64) + 3 * position.to_move());
    }
    return {*position.outcome(), position.plies_ - plies_};
  }
  /// For solve(): a pawn before the far row wins; of two such pawns only one can be captured.
  std::pair<int, int> outcome_bounds() const noexcept {
    const std::array<std::uint64_t, 2> before{row(1), row(params_.rows - 2)};
    const std::uint64_t threats = pawns_[1 - to_move()] & before[1 - to_move()];
    if (pawns_[to_move()] & before[to_move()]) return {1, 1};
    return {-1, (threats & (threats - 1)) == 0 ? 1 : -1};
  }
  /// For solve(): captures first.
  int move_order(Action action) const noexcept {
    return (pawns_[1 - to_move()] & bit(target_of(params_, action))) != 0 ? 1 : 0;
  }
  bool operator==(const Breakthrough& other) const noexcept {
    return params_ == other.params_ && pawns_ == other.pawns_ && to_move() == other.to_move();
  }

 private:
  static GridNames names_of(const Params& params) {
    return {.rows = params.rows, .columns = params.columns, .rows_from_bottom = true};
  }
  static std::uint64_t bit(int square) noexcept { return std::uint64_t{1} << square; }
  std::uint64_t row(int row) const noexcept {
    return (bit(params_.columns) - 1) << (row * params_.columns);
  }
  static int target_of(const Params& params, Action action) noexcept {
    return action / 6 + action % 3 - 1 + (action % 6 < 3 ? -params.columns : params.columns);
  }
  /// The pawns of the player to move that can step to the left, straight and to the right.
  std::array<std::uint64_t, 3> movers() const noexcept {
    const std::uint64_t own = pawns_[to_move()], all = pawns_[0] | pawns_[1];
    const std::uint64_t last_column = first_column_ << (params_.columns - 1);
    std::array<std::uint64_t, 3> sets{~(own | last_column), ~all, ~(own | first_column_)};
    for (int to = 0; to < 3; ++to) {
      const int ahead = params_.columns + (to_move() == 0 ? 1 - to : to - 1);
      sets[to] = own & (to_move() == 0 ? sets[to] << ahead : sets[to] >> ahead);
    }
    return sets;
  }

  Params params_;
  std::array<std::uint64_t, 2> pawns_{};  ///< bit = square, from the top left
  std::uint64_t first_column_ = 0;
  std::array<std::pair<Action, bool>, 8> recent_{};  ///< move of ply p at p % 8, with a capture?
  std::uint16_t plies_ = 0;
  Status status_ = Status::playing;
};

}  // namespace pyengine_breakthrough
