/// A game in progress: position, how it began and the actions since. What Python calls a State.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "games/any/any_game.h"

namespace pyengine {

/// AnyGame::same_as().
[[nodiscard]] inline bool same_game(const AnyGame& a, const AnyGame& b) {
  return &a == &b || a.same_as(b);
}

/// Reads a board as a person writes it: rows from the top; X or x is a stone of player 0, O or o of
/// player 1, . or - an empty point. `ko`, where not empty, is the point that Go's ko rule forbids.
/// Throws ConfigError when the rows do not fit the board; whether the rules allow such a position
/// is for AnyGame::from_setup to say.
BoardSetup read_board(const AnyGame& game, std::span<const std::string> rows, int to_move,
                      std::string_view ko = {});

class State {
 public:
  /// The initial state; with a setup, the state that the setup describes (throws ConfigError).
  explicit State(std::shared_ptr<const AnyGame> game, std::optional<BoardSetup> start = {});
  /// What a search hands out: `position` must be where `history` leads from `start` (not checked).
  State(std::shared_ptr<const AnyGame> game, std::optional<BoardSetup> start,
        std::unique_ptr<AnyPosition> position, std::vector<ActionId> history);
  State(const State& other);
  State(State&&) noexcept = default;
  State& operator=(const State&) = delete;
  State& operator=(State&&) noexcept = default;
  ~State() = default;

  [[nodiscard]] const std::shared_ptr<const AnyGame>& game() const noexcept { return game_; }
  [[nodiscard]] const AnyPosition& position() const noexcept { return *position_; }
  /// For callers who run a user's code with it, which may let another thread play here meanwhile.
  [[nodiscard]] std::shared_ptr<const AnyPosition> kept_position() const noexcept {
    return position_;
  }
  [[nodiscard]] const std::vector<ActionId>& history() const noexcept { return history_; }
  [[nodiscard]] const std::optional<BoardSetup>& start() const noexcept { return start_; }

  /// Throws IllegalActionError and changes nothing when the action is not legal. Throws EngineError
  /// and changes nothing when another thread plays here while a user's code runs.
  void apply_action(Action action);
  /// Takes the last action back by replaying the others; throws ConfigError at the start, and
  /// EngineError as apply_action() does.
  void undo_action();

  /// Same game, same start and same actions since: the same past, so the same future.
  friend bool operator==(const State& a, const State& b);

  /// One line of text; deserialize() of the same game reads it back and throws ConfigError on what
  /// it cannot read.
  [[nodiscard]] std::string serialize() const;
  static State deserialize(std::shared_ptr<const AnyGame> game, std::string_view text);

 private:
  /// Takes what a user's code has made of the position `before`, if that is still the state's.
  void replace(const std::shared_ptr<AnyPosition>& before, std::unique_ptr<AnyPosition> next);

  std::shared_ptr<const AnyGame> game_;
  std::optional<BoardSetup> start_;
  std::vector<ActionId> history_;
  std::shared_ptr<AnyPosition> position_;  ///< of one state; shared with calls that are under way
};

}  // namespace pyengine
