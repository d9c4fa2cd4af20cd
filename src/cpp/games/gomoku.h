/// Gomoku and Renju: action row * size + column.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/rng.h"
#include "games/common/line_playout.h"
#include "games/common/placement.h"
#include "games/common/point_list.h"
#include "games/common/status.h"
#include "games/renju.h"

namespace pyengine {

enum class GomokuRule : std::uint8_t {
  freestyle,  ///< win_length or more in a row win
  standard,   ///< exactly win_length win
  renju,      ///< Black needs exactly five and has forbidden points; White needs five or more
};

class Gomoku {
 public:
  /// board_size and win_length in 3..20; Renju requires win_length 5. A win_length above board_size
  /// makes every game a draw.
  struct Params {
    int board_size = 15;
    GomokuRule rule = GomokuRule::freestyle;
    int win_length = 5;
    friend bool operator==(const Params&, const Params&) = default;
  };
  static constexpr std::string_view kName = "gomoku";
  static constexpr bool kFillsUp = true;
  static Params parse(const ParamMap& given);
  static ParamMap describe(const Params& params);
  static GameShape shape(const Params& params);
  static std::string action_to_string(const Params& params, Action action);
  static Action string_to_action(const Params& params, std::string_view text);

  Gomoku() : Gomoku(Params{}) {}
  explicit Gomoku(const Params& params) noexcept
      : board_(params.board_size, params.board_size), params_(params) {}
  static Gomoku from_setup(const Params& params, const BoardSetup& setup);

  [[nodiscard]] const Params& params() const noexcept { return params_; }
  [[nodiscard]] int to_move() const noexcept { return board_.to_move(); }
  [[nodiscard]] std::optional<Outcome> outcome() const noexcept { return outcome_of(status_); }
  [[nodiscard]] BoardBits legal_bits() const noexcept {
    if (status_ != Status::playing) return {};
    return black_is_bound() ? permitted() : board_.empty();
  }
  void legal_actions(ActionList& moves) const { list_points(legal_bits(), board_.points(), moves); }
  [[nodiscard]] bool is_legal(Action action) const noexcept {
    return status_ == Status::playing && board_.is_free(action) &&
        !(black_is_bound() && is_forbidden(action));
  }
  void play(Action action) noexcept {
    const int player = board_.to_move();
    board_.put(action);
    if (board_.wins_at(player, action, winning_length(player))) {
      status_ = won_by(player);
    } else if (board_.full() || (black_is_bound() && !black_can_move())) {
      status_ = Status::draw;
    }
  }
  [[nodiscard]] std::uint64_t hash() const noexcept { return board_.hash(); }
  [[nodiscard]] PositionKey transposition_key() const noexcept {
    return board_.transposition_key();
  }
  void stones(int t, BoardBits& first, BoardBits& second) const noexcept {
    board_.stones(t, first, second);
  }
  [[nodiscard]] Action last_move(int t) const noexcept { return board_.last_move(t); }
  [[nodiscard]] std::string to_string() const;
  /// Renju's forbidden points need the exact board.
  [[nodiscard]] bool has_light_playout() const noexcept {
    return params_.rule != GomokuRule::renju;
  }
  Playout light_playout(Rng& rng) const noexcept {
    return line_playout(board_, winning_length(board_.to_move()), rng);
  }

  /// Same board and player to move.
  friend bool operator==(const Gomoku& a, const Gomoku& b) noexcept {
    return a.board_ == b.board_ && a.params_ == b.params_;
  }

 private:
  [[nodiscard]] WinningLength winning_length(int player) const noexcept {
    const bool exact =
        params_.rule == GomokuRule::standard || (params_.rule == GomokuRule::renju && player == 0);
    return {.least = params_.win_length,
            .most = exact ? params_.win_length : std::numeric_limits<int>::max()};
  }
  /// Whether Renju's forbidden points apply to the player to move.
  [[nodiscard]] bool black_is_bound() const noexcept {
    return params_.rule == GomokuRule::renju && board_.to_move() == 0;
  }
  [[nodiscard]] RenjuBoard renju_board() const noexcept {
    return {params_.board_size, board_.of(0), board_.of(1)};
  }
  [[nodiscard]] bool is_forbidden(Action point) const noexcept;
  [[nodiscard]] BoardBits permitted() const noexcept;
  [[nodiscard]] bool black_can_move() const noexcept;

  PlacementBoard board_;
  Params params_;
  Status status_ = Status::playing;
};

static_assert(Game<Gomoku>);
static_assert(std::is_trivially_copyable_v<Gomoku> && sizeof(Gomoku) <= 176);

}  // namespace pyengine
