/// A position of a user's game for the alpha-beta search. Its code may be slow, may throw, and may
/// have a bad hash: the clock is checked before each call, and no value depends on the hash.
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

/// Data shared by the positions of one call.
struct UserCall {
  const ForeignRules& rules;
  UserMemory& memory;
  std::function<void()> look;  ///< called before each call to the game's code; may throw
};

/// The score is the outcome for the player to move, as its bits: larger outcomes have larger
/// scores, and negated outcomes have negated scores.
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
  /// `root` must not be terminal; `call` must outlive the position.
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
  /// The number of the state if it can be recognised; else a hash of the moves since the start, so
  /// that for states without == and a hash every move order counts as a separate position.
  [[nodiscard]] std::uint64_t key() const;
  [[nodiscard]] Action in_key(Action action) const noexcept { return action; }
  [[nodiscard]] Action from_key(Action action) const noexcept { return action; }
  [[nodiscard]] static constexpr bool is_kept() noexcept { return true; }
  [[nodiscard]] static constexpr bool is_large(const Question&) noexcept { return false; }
  [[nodiscard]] int entry_of(Score score) const;
  [[nodiscard]] Score score_of(int entry) const noexcept;

  /// The outcome of a score as a fraction of the game's max_utility.
  [[nodiscard]] double value_of(Score score) const noexcept;
  /// Plays one random game. Throws ConfigError if it does not end within max_game_length.
  void play_to_an_end(Rng& rng) const;

 private:
  /// Queries the player to move or the result.
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
