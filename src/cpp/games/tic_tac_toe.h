/// Tic-tac-toe: action row * 3 + column.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/rng.h"
#include "games/common/hashing.h"
#include "games/common/point_list.h"
#include "games/common/status.h"
#include "games/game.h"

namespace pyengine {

class TicTacToe {
 public:
  struct Params {
    friend bool operator==(const Params&, const Params&) = default;
  };
  static constexpr std::string_view kName = "tic_tac_toe";
  static constexpr bool kFillsUp = true;
  static Params parse(const ParamMap& given);
  static ParamMap describe(const Params& params);
  static GameShape shape(const Params& params);
  static std::string action_to_string(const Params& params, Action action);
  static Action string_to_action(const Params& params, std::string_view text);

  TicTacToe() = default;
  explicit TicTacToe(const Params& /*params*/) noexcept {}
  static TicTacToe from_setup(const Params& params, const BoardSetup& setup);

  [[nodiscard]] const Params& params() const noexcept { return kParams; }
  [[nodiscard]] int to_move() const noexcept { return to_move_; }
  [[nodiscard]] std::optional<Outcome> outcome() const noexcept { return outcome_of(status_); }
  [[nodiscard]] BoardBits legal_bits() const noexcept {
    return {{status_ == Status::playing ? empty() : 0U}};
  }
  void legal_actions(ActionList& moves) const { list_bits(legal_bits().words[0], moves); }
  [[nodiscard]] bool is_legal(Action action) const noexcept {
    return status_ == Status::playing && action >= 0 && action < kPoints &&
        ((empty() >> action) & 1U) != 0;
  }
  void play(Action action) noexcept {
    unsigned board = stones_[to_move_] | (1U << action);
    stones_[to_move_] = static_cast<std::uint16_t>(board);
    status_ = kStatus[to_move_][board];
    if (empty() == 0 && status_ == Status::playing) status_ = Status::draw;
    recent_ = (recent_ << 4) | static_cast<std::uint32_t>(action);
    ++plies_;
    to_move_ ^= 1U;
  }
  [[nodiscard]] std::uint64_t hash() const noexcept {
    return hash_words(stones_[0], stones_[1], to_move_);
  }
  [[nodiscard]] PositionKey transposition_key() const noexcept {
    return {stones_[0] | std::uint64_t{to_move_} << 63, stones_[1]};
  }
  void stones(int t, BoardBits& first, BoardBits& second) const noexcept;
  [[nodiscard]] Action last_move(int t) const noexcept {
    return t < plies_ ? static_cast<Action>((recent_ >> (4 * t)) & 0xFU) : kNoAction;
  }
  [[nodiscard]] std::string to_string() const;
  [[nodiscard]] bool has_light_playout() const noexcept { return true; }
  Playout light_playout(Rng& rng) const noexcept;

  /// Same board and player to move.
  friend bool operator==(const TicTacToe& a, const TicTacToe& b) noexcept {
    return a.stones_ == b.stones_ && a.to_move_ == b.to_move_;
  }

 private:
  static constexpr int kPoints = 9;
  static constexpr unsigned kFull = (1U << kPoints) - 1;
  static constexpr Params kParams{};
  /// For each set of points: whether three of them are in a row.
  static constexpr std::array<bool, kFull + 1> kHasLine = [] {
    std::array<bool, kFull + 1> has_line{};
    for (unsigned board = 0; board <= kFull; ++board) {
      for (const unsigned line : {0007U, 0070U, 0700U, 0111U, 0222U, 0444U, 0421U, 0124U}) {
        has_line[board] = has_line[board] || (board & line) == line;
      }
    }
    return has_line;
  }();

  /// [player][points of their stones]: won or playing. A branch would often be mispredicted.
  static constexpr std::array<std::array<Status, kFull + 1>, 2> kStatus = [] {
    std::array<std::array<Status, kFull + 1>, 2> status{};
    for (unsigned board = 0; board <= kFull; ++board) {
      for (int player = 0; player < 2; ++player) {
        if (kHasLine[board]) status[static_cast<unsigned>(player)][board] = won_by(player);
      }
    }
    return status;
  }();

  [[nodiscard]] unsigned empty() const noexcept {
    return kFull & ~unsigned{stones_[0]} & ~unsigned{stones_[1]};
  }

  std::array<std::uint16_t, 2> stones_{};
  std::uint32_t recent_ = 0;  ///< the last eight moves, four bits each, the latest lowest
  std::uint8_t plies_ = 0;    ///< since the start
  std::uint8_t to_move_ = 0;
  Status status_ = Status::playing;
};

static_assert(Game<TicTacToe>);
static_assert(std::is_trivially_copyable_v<TicTacToe> && sizeof(TicTacToe) <= 16);

}  // namespace pyengine
