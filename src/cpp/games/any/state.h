/// A game in progress: its start, the actions since, and the position. Python's State.
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

/// Reads a board in human notation: rows from the top; X or x is a stone of player 0, O or o of
/// player 1, . or - an empty point. `ko`, if not empty, is the point forbidden by Go's ko rule.
/// Throws ConfigError if the rows do not fit the board; AnyGame::from_setup checks the rules.
BoardSetup read_board(const AnyGame& game, std::span<const std::string> rows, int to_move,
                      std::string_view ko = {});

class State {
 public:
  /// The initial state, or the state described by a setup (throws ConfigError).
  explicit State(std::shared_ptr<const AnyGame> game, std::optional<BoardSetup> start = {});
  /// For results of a search: `position` must be the one after `history` from `start` (not
  /// checked).
  State(std::shared_ptr<const AnyGame> game, std::optional<BoardSetup> start,
        std::unique_ptr<AnyPosition> position, std::vector<ActionId> history);
  State(const State& other);
  State(State&&) noexcept = default;
  State& operator=(const State&) = delete;
  State& operator=(State&&) noexcept = default;
  ~State() = default;

  [[nodiscard]] const std::shared_ptr<const AnyGame>& game() const noexcept { return game_; }
  [[nodiscard]] const AnyPosition& position() const noexcept { return *position_; }
  /// For callers that run user code with it, during which another thread may play here.
  [[nodiscard]] std::shared_ptr<const AnyPosition> kept_position() const noexcept {
    return position_;
  }
  [[nodiscard]] const std::vector<ActionId>& history() const noexcept { return history_; }
  [[nodiscard]] const std::optional<BoardSetup>& start() const noexcept { return start_; }

  /// Throws IllegalActionError for an illegal action, and EngineError if another thread plays here
  /// while user code runs. The state is then unchanged.
  void apply_action(Action action);
  /// Why an action is illegal: "action 400 does not exist, expected 0..81".
  [[nodiscard]] std::string why_illegal(Action action) const;
  /// Undoes the last action by replaying the others; throws ConfigError at the start, and
  /// EngineError like apply_action().
  void undo_action();

  /// Same game, start and actions since: the same history, so the same future.
  friend bool operator==(const State& a, const State& b);

  /// One line of text, which deserialize() of the same game reads back; it throws ConfigError for
  /// invalid text.
  [[nodiscard]] std::string serialize() const;
  static State deserialize(std::shared_ptr<const AnyGame> game, std::string_view text);

 private:
  /// Installs the position that user code made from `before`, if that is still the current one.
  void replace(const std::shared_ptr<AnyPosition>& before, std::unique_ptr<AnyPosition> next);

  std::shared_ptr<const AnyGame> game_;
  std::optional<BoardSetup> start_;
  std::vector<ActionId> history_;
  std::shared_ptr<AnyPosition> position_;  ///< of one state; shared with calls in progress
};

}  // namespace pyengine
