/// Go with area (Tromp-Taylor) scoring, 1x1 to 19x19, including non-square boards.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/rng.h"
#include "games/common/hashing.h"
#include "games/common/key_hash.h"
#include "games/game_options.h"
#include "games/go/board.h"
#include "games/go/history.h"
#include "games/go/params.h"
#include "games/go/playout_board.h"

namespace pyengine {

/// Each player's stones and territory: empty regions that touch only that player's stones.
struct GoArea {
  int first = 0;
  int second = 0;
  friend bool operator==(const GoArea&, const GoArea&) = default;
};

/// A game of Go on a board of at most MaxSide rows and columns. Action = row * columns + column
/// from the top left, pass = rows * columns. Ends after two consecutive passes or at
/// max_game_length. Superko compares 64-bit position keys. The position after a play contains the
/// new stone, so it can only repeat a position from before a stone of that player was removed from
/// that point: only such points (`taken_`) and suicides are ever looked up.
template <int MaxSide>
class BasicGo {
 public:
  using Params = GoParams;
  static constexpr std::string_view kName = "go";

  BasicGo() = default;
  explicit BasicGo(const GoParams& params);
  /// Throws ConfigError for stones outside the board or on top of each other, groups without
  /// liberties, and a `ko` that is not the point where the player to move would recapture a single
  /// stone.
  static BasicGo from_setup(const GoParams& params, const BoardSetup& setup);

  /// Each board uses the smallest of Go9, Go13 and Go19 that fits it.
  static bool accepts(const GoParams& params) noexcept {
    const int side = params.rows > params.columns ? params.rows : params.columns;
    return side <= MaxSide && side > kSmallerSide;
  }
  static GoParams parse(ParamMap map) { return parse_go_params(std::move(map)); }
  static ParamMap describe(const GoParams& params) { return describe_go_params(params); }
  static GameShape shape(const GoParams& params) { return go_shape(params); }

  [[nodiscard]] const GoParams& params() const noexcept { return params_; }
  [[nodiscard]] int to_move() const noexcept { return to_move_; }
  /// Moves since the start, including passes.
  [[nodiscard]] int ply() const noexcept { return ply_; }
  [[nodiscard]] std::optional<Outcome> outcome() const noexcept {
    return over() ? std::optional(score()) : std::nullopt;
  }
  /// Empty if the game is over.
  void legal_actions(ActionList& moves) const;
  [[nodiscard]] BoardBits legal_bits() const noexcept;
  [[nodiscard]] bool is_legal(Action action) const noexcept;
  void play(Action action);
  /// Hash of board, player to move, ko point and passes, which determine the next two moves.
  /// Excludes superko history and ply; otherwise no position could recur by transposition.
  [[nodiscard]] std::uint64_t hash() const noexcept {
    const std::uint64_t ko = ko_ == kNoAction ? 0 : mix64(static_cast<std::uint64_t>(ko_) + 1);
    return situation_key() ^ ko ^ mix64(std::uint64_t{passes_} << 16);
  }
  /// Stones, player to move, ko point, passes, and under superko a 64-bit hash of the set of
  /// earlier boards up to the last that removed a stone. Since then each board contains the one
  /// before it, so they need not be in the key to decide which plays are legal here: a play adds a
  /// stone to a point that is empty on all of them, and unless it is a suicide, that stone stays. A
  /// difference can only come after another capture, which may lead back to one of these boards
  /// on one path and not on another. If suicide is allowed, the set contains all boards.
  [[nodiscard]] PositionKey transposition_key() const noexcept;
  /// Whether the future may depend on boards that transposition_key() leaves out.
  [[nodiscard]] bool key_forgets_history() const noexcept {
    return params_.superko != Superko::simple && !params_.suicide;
  }
  /// Whether an action is illegal that is legal in another position with this key: it would repeat
  /// a board that the key leaves out.
  [[nodiscard]] bool repeats_forgotten(Action action) const noexcept {
    const auto point = static_cast<unsigned>(action);
    return key_forgets_history() && point != pass() && taken_[to_move_].test(point) &&
        repeats(point, true);
  }

  void stones(int t, BoardBits& first, BoardBits& second) const noexcept;
  [[nodiscard]] Action last_move(int t) const noexcept {
    return t < ply_ ? plies_[slot(ply_ - 1 - t)].move : kNoAction;
  }
  void liberties(int k, BoardBits& bits) const noexcept;
  /// The point where a single stone would recapture the single stone that has just captured one.
  /// All three superko rules forbid it.
  [[nodiscard]] Action ko_point() const noexcept { return ko_; }
  /// Uniform over the legal moves that do not fill one of the player's own eyes; else a pass. An
  /// eye is a point whose neighbours are all own stones, with at most one opposing stone diagonal
  /// to it, and none at the edge. Requires a non-terminal position.
  [[nodiscard]] Action playout_move(Rng& rng, ActionList& scratch) const noexcept;
  [[nodiscard]] GoArea area() const noexcept;
  /// The points counted by area().
  void area_points(BoardBits& first, BoardBits& second) const noexcept;
  /// The superko history needs space for every ply; without superko there is no limit.
  [[nodiscard]] bool has_light_playout() const noexcept {
    return params_.superko == Superko::simple ||
        params_.max_game_length - ply_ <= GoPlayoutHistory<MaxSide>::kMost;
  }
  /// Plays the moves that playout_move() chooses.
  Playout light_playout(Rng& rng) const noexcept;
  /// The initial board of light_playout(); refers to this position.
  [[nodiscard]] GoPlayoutBoard<MaxSide> playout_board() const noexcept;

  static std::string action_to_string(const GoParams& params, Action action) {
    return go_action_to_string(params, action);
  }
  static Action string_to_action(const GoParams& params, std::string_view text) {
    return go_string_to_action(params, text);
  }
  [[nodiscard]] std::string to_string() const;

  /// Equal if both have the same future: earlier boards count only if superko applies to them.
  friend bool operator==(const BasicGo& a, const BasicGo& b) {
    return a.params_ == b.params_ && a.ply_ == b.ply_ && a.passes_ == b.passes_ &&
        a.to_move_ == b.to_move_ && a.board_.stones(0) == b.board_.stones(0) &&
        a.board_.stones(1) == b.board_.stones(1) && a.same_memory(b);
  }

 private:
  using Board = GoBoard<MaxSide>;
  using Points = typename Board::Points;
  static constexpr int kSmallerSide = MaxSide <= 9 ? 0 : MaxSide <= 13 ? 9 : 13;
  static constexpr int kPlies = 8;  ///< a power of two, > the largest t of stones()

  /// The data that stones() needs to undo a ply.
  struct Ply {
    std::int16_t move = 0;
    bool suicide = false;
    bool captured = false;  ///< whether `removed` is valid
    Points removed;
  };

  static unsigned slot(int ply) noexcept { return static_cast<unsigned>(ply) % kPlies; }
  [[nodiscard]] unsigned pass() const noexcept { return static_cast<unsigned>(geometry_->points); }
  [[nodiscard]] bool over() const noexcept {
    return passes_ >= 2 || ply_ >= params_.max_game_length;
  }
  [[nodiscard]] bool same_memory(const BasicGo& other) const {
    return ko_ == other.ko_ && (params_.superko == Superko::simple || history_ == other.history_);
  }
  [[nodiscard]] Points legal_points() const noexcept;
  [[nodiscard]] Points empties() const noexcept {
    return Points::of(geometry_->all) - board_.stones(0) - board_.stones(1);
  }
  /// Legality of a play on an empty point of a non-terminal position.
  [[nodiscard]] bool is_legal_point(unsigned point) const noexcept;
  /// Whether superko forbids a play on the point; `lives` = can_live().
  [[nodiscard]] bool repeats(unsigned point, bool lives) const noexcept;
  /// The eyes of playout_move() among the empty points.
  [[nodiscard]] Points own_eyes(const Points& empty) const noexcept;
  /// playout_move() with exact candidate sets.
  [[nodiscard]] Action draw_playout_move(Rng& rng) const noexcept;
  /// Stones and territory, indexed by player.
  [[nodiscard]] std::array<Points, 2> areas() const noexcept;
  [[nodiscard]] Outcome score() const noexcept;
  /// `margin`: the first player's points minus the second's.
  [[nodiscard]] Outcome outcome_of(int margin) const noexcept {
    const double lead = margin - params_.komi;
    return {lead > 0 ? 1.0F : lead < 0 ? -1.0F : 0.0F};
  }
  /// The part of play() for moves other than a pass; the turn has already changed.
  void place(unsigned point, Ply& ply) noexcept;
  [[nodiscard]] std::uint64_t situation_key() const noexcept {
    return board_.board_key() ^ (to_move_ != 0 ? kGoKeys.second_to_move : 0);
  }
  [[nodiscard]] std::uint64_t history_key() const noexcept {
    return params_.superko == Superko::situational ? situation_key() : board_.board_key();
  }
  void set_up_ko(Action ko);

  GoParams params_;
  const GoGeometry* geometry_ = nullptr;
  int ply_ = 0;
  Action ko_ = kNoAction;
  std::uint8_t to_move_ = 0;
  std::uint8_t passes_ = 0;  ///< consecutive passes
  Board board_;
  std::array<Points, 2>
      taken_{};  ///< [player]: points from which stones of the player were ever removed
  std::array<Ply, kPlies> plies_{};
  GoHistory history_;  ///< empty with Superko::simple
};

using Go9 = BasicGo<9>;
using Go13 = BasicGo<13>;
using Go19 = BasicGo<19>;

extern template class BasicGo<9>;
extern template class BasicGo<13>;
extern template class BasicGo<19>;

static_assert(Game<Go9> && Game<Go13> && Game<Go19>);
static_assert(HasLiberties<Go19> && HasKo<Go19>);
static_assert(HasPlayoutMove<Go19> && HasLightPlayout<Go19>);

}  // namespace pyengine
