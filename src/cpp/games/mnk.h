/// m,n,k games: the first player with k stones in a row wins. Action row * columns + column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/rng.h"
#include "games/common/line_playout.h"
#include "games/common/placement.h"
#include "games/common/point_list.h"
#include "games/common/status.h"

namespace pyengine {

class Mnk {
 public:
  /// Each in 1..20. More than k in a row also wins; a k longer than the board makes every game a
  /// draw.
  struct Params {
    int rows = 3;
    int columns = 3;
    int k = 3;
    friend bool operator==(const Params&, const Params&) = default;
  };
  static constexpr std::string_view kName = "mnk";
  static constexpr bool kFillsUp = true;
  template <class Field>
  static void fields(Params& params, Field&& field) {
    field("rows", params.rows, 1, kMaxSide);
    field("columns", params.columns, 1, kMaxSide);
    field("k", params.k, 1, kMaxSide);
  }
  static Params parse(const ParamMap& given) { return parse_fields<Mnk>(given); }
  static ParamMap describe(const Params& params) { return describe_fields<Mnk>(params); }
  static GameShape shape(const Params& params);
  static std::string action_to_string(const Params& params, Action action);
  static Action string_to_action(const Params& params, std::string_view text);

  Mnk() : Mnk(Params{}) {}
  explicit Mnk(const Params& params) noexcept
      : board_(params.rows, params.columns), params_(params) {}
  static Mnk from_setup(const Params& params, const BoardSetup& setup);

  [[nodiscard]] const Params& params() const noexcept { return params_; }
  [[nodiscard]] int to_move() const noexcept { return board_.to_move(); }
  [[nodiscard]] std::optional<Outcome> outcome() const noexcept { return outcome_of(status_); }
  [[nodiscard]] BoardBits legal_bits() const noexcept {
    return status_ == Status::playing ? board_.empty() : BoardBits{};
  }
  void legal_actions(ActionList& moves) const { list_points(legal_bits(), board_.points(), moves); }
  [[nodiscard]] bool is_legal(Action action) const noexcept {
    return status_ == Status::playing && board_.is_free(action);
  }
  void play(Action action) noexcept {
    const int player = board_.to_move();
    board_.put(action);
    if (board_.wins_at(player, action, {.least = params_.k})) {
      status_ = won_by(player);
    } else if (board_.full()) {
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
  [[nodiscard]] bool has_light_playout() const noexcept { return true; }
  Playout light_playout(Rng& rng) const noexcept {
    return line_playout(board_, {.least = params_.k}, rng);
  }

  /// Same board and player to move.
  friend bool operator==(const Mnk& a, const Mnk& b) noexcept {
    return a.board_ == b.board_ && a.params_ == b.params_;
  }

 private:
  PlacementBoard board_;
  Params params_;
  Status status_ = Status::playing;
};

static_assert(Game<Mnk>);
static_assert(std::is_trivially_copyable_v<Mnk> && sizeof(Mnk) <= 176);

}  // namespace pyengine
