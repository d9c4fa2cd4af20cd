/// Connect Four on boards of any size that fits into a word: action = column.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/rng.h"
#include "games/common/hashing.h"
#include "games/common/point_list.h"
#include "games/common/status.h"
#include "games/game.h"

namespace pyengine {

/// Bit row * columns + column, row 0 on top: the order of BoardBits. With a floor row below the
/// board, the highest stone of a column (or its floor) is the column's lowest bit; a stone lands on
/// the point above it. Four in a row is found on the whole board with shifts; masks of possible
/// starts keep it from wrapping around the edge.
class ConnectFour {
 public:
  /// (rows + 1) * columns <= 64.
  struct Params {
    int rows = 6;
    int columns = 7;
    friend bool operator==(const Params&, const Params&) = default;
  };
  static constexpr std::string_view kName = "connect_four";
  static constexpr bool kFillsUp = true;
  static constexpr int kMaxColumns = 32;
  static Params parse(const ParamMap& given);
  static ParamMap describe(const Params& params);
  static GameShape shape(const Params& params);
  static std::string action_to_string(const Params& params, Action action);
  static Action string_to_action(const Params& params, std::string_view text);

  ConnectFour() : ConnectFour(Params{}) {}
  explicit ConnectFour(const Params& params) noexcept;
  static ConnectFour from_setup(const Params& params, const BoardSetup& setup);

  [[nodiscard]] const Params& params() const noexcept { return params_; }
  [[nodiscard]] int to_move() const noexcept { return to_move_; }
  [[nodiscard]] std::optional<Outcome> outcome() const noexcept { return outcome_of(status_); }
  [[nodiscard]] BoardBits legal_bits() const noexcept {
    return {{status_ == Status::playing ? open_columns() : 0}};
  }
  void legal_actions(ActionList& moves) const { list_bits(legal_bits().words[0], moves); }
  [[nodiscard]] bool is_legal(Action action) const noexcept {
    return status_ == Status::playing && action >= 0 && action < params_.columns &&
        ((open_columns() >> action) & 1U) != 0;
  }
  void play(Action action) noexcept {
    stones_[to_move_] |= highest(action) >> params_.columns;
    if (has_four(stones_[to_move_])) {
      status_ = won_by(to_move_);
    } else if (open_columns() == 0) {
      status_ = Status::draw;
    }
    recent_ = (recent_ << 8) | static_cast<std::uint64_t>(action);
    ++plies_;
    to_move_ ^= 1U;
  }
  [[nodiscard]] std::uint64_t hash() const noexcept {
    return hash_words(stones_[0], stones_[1], to_move_);
  }
  [[nodiscard]] PositionKey transposition_key() const noexcept {
    return {stones_[0] ^ (std::uint64_t{to_move_} << 63), stones_[1]};
  }
  void stones(int t, BoardBits& first, BoardBits& second) const noexcept;
  [[nodiscard]] Action last_move(int t) const noexcept {
    return t < plies_ ? static_cast<Action>((recent_ >> (8 * t)) & 0xFFU) : kNoAction;
  }
  [[nodiscard]] std::string to_string() const;
  [[nodiscard]] bool has_light_playout() const noexcept { return true; }
  Playout light_playout(Rng& rng) const noexcept;

  /// Same board and player to move.
  friend bool operator==(const ConnectFour& a, const ConnectFour& b) noexcept {
    return a.stones_ == b.stones_ && a.to_move_ == b.to_move_ && a.params_ == b.params_;
  }

 private:
  [[nodiscard]] std::uint64_t open_columns() const noexcept {
    return ~(stones_[0] | stones_[1]) & top_;
  }
  /// The highest stone of a column, or its floor.
  [[nodiscard]] std::uint64_t highest(Action column) const noexcept {
    const std::uint64_t taken = (stones_[0] | stones_[1] | floor_) & (first_column_ << column);
    return taken & (~taken + 1);
  }
  /// Constant shifts, as on the standard board, take fewer instructions.
  [[nodiscard]] bool has_four(std::uint64_t stones) const noexcept {
    constexpr std::integral_constant<int, 7> kUsual;
    return params_.columns == kUsual ? has_four(stones, kUsual) : has_four(stones, params_.columns);
  }
  template <class Columns>
  [[nodiscard]] bool has_four(std::uint64_t stones, Columns columns) const noexcept {
    const auto in_row = [stones](int step) {
      const std::uint64_t pairs = stones & (stones >> step);
      return pairs & (pairs >> (2 * step));
    };
    std::uint64_t fours = in_row(1) & from_left_;
    if (params_.rows >= 4) {  // also keeps the shifts below 64
      fours |= in_row(columns) | (in_row(columns + 1) & from_left_) |
          (in_row(columns - 1) & from_right_);
    }
    return fours != 0;
  }

  std::array<std::uint64_t, 2> stones_{};
  std::uint64_t recent_ = 0;        ///< the last eight columns, one byte each, the latest lowest
  std::uint64_t top_ = 0;           ///< the top row
  std::uint64_t floor_ = 0;         ///< the row below the board
  std::uint64_t first_column_ = 0;  ///< column 0 with its floor
  std::uint64_t from_left_ = 0;     ///< points with at least three columns to their right
  std::uint64_t from_right_ = 0;    ///< points with at least three columns to their left
  Params params_;
  std::uint8_t plies_ = 0;  ///< since the start
  std::uint8_t to_move_ = 0;
  Status status_ = Status::playing;
};

static_assert(Game<ConnectFour>);
static_assert(std::is_trivially_copyable_v<ConnectFour> && sizeof(ConnectFour) <= 80);

}  // namespace pyengine
