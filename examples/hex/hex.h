/// Hex: the first player (X) connects the top and bottom of the board, the second (O) the left and
/// right. Each point touches six others, and there are no draws. Action row * size + column.
///
/// With the swap rule the second player may answer the first move with action size * size, which
/// takes the stone over: it becomes O's and is mirrored in the diagonal.
#pragma once

#include <pyengine/plugin/game.h>

#include <array>
#include <cstdlib>

namespace pyengine_hex {

using namespace pyengine;

class Hex {
 public:
  struct Params {
    int board_size = 11;
    bool swap = false;
    bool operator==(const Params&) const = default;
  };
  static constexpr std::string_view kName = "hex";
  static constexpr bool kFillsUp = true;

  static void fields(Params& params, auto&& field) {
    field("board_size", params.board_size, 2, 19);
    field("swap", params.swap);
  }
  static Params parse(const ParamMap& given) { return parse_fields<Hex>(given); }
  static ParamMap describe(const Params& params) { return describe_fields<Hex>(params); }
  static GameShape shape(const Params& params) {
    const int points = params.board_size * params.board_size;
    return {.rows = params.board_size,
            .columns = params.board_size,
            .num_actions = points + params.swap,
            .max_game_length = points + params.swap};
  }
  /// The board turned by 180 degrees, where both players keep their edges.
  static Symmetries symmetries(const Params& params) {
    const int points = params.board_size * params.board_size;
    const auto turned = [points](int i) { return i < points ? points - 1 - i : i; };
    return make_symmetries(shape(params), {{turned, turned}});
  }
  static std::string action_to_string(const Params& params, Action action) {
    if (action == params.board_size * params.board_size) return "swap";
    return point_name({params.board_size, params.board_size}, action);
  }
  static Action string_to_action(const Params& params, std::string_view text) {
    if (params.swap && text == "swap") return params.board_size * params.board_size;
    return point_named({params.board_size, params.board_size}, text);
  }

  Hex() : Hex(Params{}) {}
  explicit Hex(const Params& params)
      : params_(params), board_(params.board_size, params.board_size) {}

  const Params& params() const noexcept { return params_; }
  int to_move() const noexcept { return board_.to_move(); }
  std::optional<Outcome> outcome() const noexcept { return outcome_of(status_); }
  void legal_actions(ActionList& moves) const {
    list_points(board_.empty(), board_.points(), moves);
    if (may_swap()) moves.push_back(board_.points());
  }
  bool is_legal(Action action) const noexcept {
    if (status_ != Status::playing) return false;
    return action == board_.points() ? may_swap() : board_.is_free(action);
  }
  void play(Action action) noexcept {
    ++plies_;
    if (action == board_.points()) return swap_opening();
    const int player = to_move();
    board_.put(action);
    if (connects(player, board_.of(player), action)) status_ = won_by(player);
  }
  std::uint64_t hash() const noexcept { return board_.hash(); }
  PositionKey transposition_key() const noexcept { return board_.transposition_key(); }
  void stones(int t, BoardBits& first, BoardBits& second) const noexcept {
    board_.stones(t, first, second);
    if (swapped_ && t == plies_ - 1) first.set(opening_);
  }
  Action last_move(int t) const noexcept {
    if (swapped_ && t == plies_ - 2) return board_.points();
    return swapped_ && t == plies_ - 1 ? opening_ : board_.last_move(t);
  }
  /// Moves after the connection do not change who has it, so a playout fills the board.
  bool has_light_playout() const noexcept { return !may_swap(); }
  Playout light_playout(Rng& rng) const noexcept {
    std::array<ActionId, kMaxPoints> empty{};
    unsigned count = 0;
    board_.empty().for_each([&](int point) { empty[count++] = static_cast<ActionId>(point); });
    BoardBits first = board_.of(0);
    for (unsigned left = count, player = to_move() & 1; left > 0; --left, player ^= 1) {
      const unsigned chosen = rng.below(left);
      if (player == 0) first.set(empty[chosen]);
      empty[chosen] = empty[left - 1];
    }
    bool won = false;
    for (int column = 0; column < params_.board_size; ++column) {
      won = won || (first.test(column) && connects(0, first, column));
    }
    return {Outcome{won ? 1.0F : -1.0F}, static_cast<int>(count)};
  }
  /// For solve(): the centre first.
  int move_order(Action action) const noexcept {
    const int size = params_.board_size;
    return -std::abs(2 * (action / size) - size + 1) - std::abs(2 * (action % size) - size + 1);
  }
  bool operator==(const Hex& other) const noexcept {
    return board_ == other.board_ && params_ == other.params_;
  }

 private:
  bool may_swap() const noexcept { return params_.swap && plies_ == 1; }
  void swap_opening() noexcept {
    const int size = params_.board_size;
    opening_ = static_cast<ActionId>(board_.last_move(0));
    BoardSetup swapped;
    swapped.second.set(opening_ % size * size + opening_ / size);
    board_ = PlacementBoard(size, size, swapped);
    swapped_ = true;
  }
  /// Whether the chain of `from`, one of a player's stones, touches both edges of that player.
  bool connects(int player, BoardBits stones, int from) const noexcept {
    const int size = params_.board_size;
    std::array<ActionId, kMaxPoints> open;  // filled before it is read
    unsigned count = 0;
    bool near_edge = false, far_edge = false;
    const auto visit = [&](int row, int column) {
      const int point = row * size + column;
      if (row < 0 || row == size || column < 0 || column == size || !stones.test(point)) return;
      stones.reset(point);
      open[count++] = static_cast<ActionId>(point);
    };
    visit(from / size, from % size);
    while (count > 0 && !(near_edge && far_edge)) {
      const int point = open[--count], row = point / size, column = point % size;
      near_edge |= (player == 0 ? row : column) == 0;
      far_edge |= (player == 0 ? row : column) == size - 1;
      for (const auto [down, right] : kNeighbours) visit(row + down, column + right);
    }
    return near_edge && far_edge;
  }
  static constexpr int kNeighbours[6][2] = {{-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}};

  Params params_;
  PlacementBoard board_;
  std::uint16_t plies_ = 0;
  ActionId opening_ = 0;  ///< the first move, if it was swapped
  bool swapped_ = false;
  Status status_ = Status::playing;
};

}  // namespace pyengine_hex
