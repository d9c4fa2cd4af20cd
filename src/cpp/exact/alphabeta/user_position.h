/// A position of a user's game for the alpha-beta search. Its code may be slow, may throw, and its
/// hash may be bad: before each call the clock is read, and no value depends on the hash.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "exact/alphabeta/listed_moves.h"
#include "exact/alphabeta/position.h"
#include "exact/alphabeta/user_memory.h"
#include "games/any/foreign.h"

namespace pyengine::alphabeta {

/// What the positions of one call share.
struct UserCall {
  const ForeignRules& rules;
  UserMemory& memory;
  std::function<void()> look;  ///< before each call of the game's code; may throw
};

/// The score is the outcome for the player to move, as its bits: larger outcomes have larger
/// scores, and the negative outcome has the negative score.
class UserPosition {
 public:
  using Score = std::int64_t;
  static constexpr bool kKeepsHistory = true;
  static constexpr bool kLooksUpChildren = false;
  static constexpr bool kKeyIsCheap = false;
  static constexpr bool kNullWindows = false;
  static constexpr bool kHasMargin = false;
  static constexpr bool kEndsAreProof = true;
  static constexpr bool kDeepens = true;
  using Children = ListedMoves;
  using Question = BasicQuestion<Score>;
  using Bounds = BasicBounds<Score>;

  UserPosition() = default;
  /// `root` is not over; `call` outlives the position.
  UserPosition(UserCall& call, const ForeignPosition& root);

  [[nodiscard]] std::optional<Score> over() const noexcept { return outcome_; }
  [[nodiscard]] std::optional<Score> known(const Question&, Children&, std::uint64_t&) const {
    return outcome_;
  }
  [[nodiscard]] Bounds bounds(const Question&) const noexcept { return range(); }
  [[nodiscard]] Bounds range() const noexcept;
  void list(const Question&, Children& children, std::uint64_t&) const;
  [[nodiscard]] std::optional<Score> known_by_children(const Question&, Children&) const noexcept {
    return std::nullopt;
  }
  void list_all(Children& children, std::uint64_t& nodes) const { list({}, children, nodes); }
  void play(const Children& children, int i, UserPosition& next) const;
  [[nodiscard]] bool same_mover(const UserPosition& next) const noexcept {
    return next.mover_ == mover_;
  }
  [[nodiscard]] Score estimate() const noexcept { return 0; }
  /// Of states that can be recognised, the number; else the moves since the start. Of states
  /// without both == and a hash every order of moves counts as a position of its own.
  [[nodiscard]] std::uint64_t key() const;
  [[nodiscard]] Action in_key(Action action) const noexcept { return action; }
  [[nodiscard]] Action from_key(Action action) const noexcept { return action; }
  [[nodiscard]] static constexpr bool is_kept() noexcept { return true; }
  [[nodiscard]] static constexpr bool is_large(const Question&) noexcept { return false; }
  [[nodiscard]] int entry_of(Score score) const;
  [[nodiscard]] Score score_of(int entry) const noexcept;

  /// The outcome of a score, as a part of the game's max_utility.
  [[nodiscard]] double value_of(Score score) const noexcept;
  /// Plays one game at random. Throws ConfigError where it does not end within max_game_length.
  void play_to_an_end(Rng& rng) const;

 private:
  /// Asks who is to move or how the game ended.
  void ask(int last_mover);

  UserCall* call_ = nullptr;
  std::shared_ptr<const ForeignState> state_;
  std::uint64_t path_ = 0;  ///< a hash of the actions since the start
  int plies_ = 0;
  int mover_ = 0;
  std::optional<Score> outcome_;  ///< for mover_
};

static_assert(SolverPosition<UserPosition>);

}  // namespace pyengine::alphabeta
