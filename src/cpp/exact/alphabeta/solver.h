/// Exact values by alpha-beta: Python's Solver.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "exact/alphabeta/table.h"
#include "games/any/state.h"

namespace pyengine {

namespace alphabeta {
struct UserMemory;
}

/// The limits and options of one call.
struct SolveLimits {
  std::optional<int> depth = std::nullopt;       ///< plies, 1..254
  std::optional<double> seconds = std::nullopt;  ///< > 0
  int threads = 1;                               ///< >= 1, including the calling thread
  bool score = false;  ///< find the game's margin instead of win, draw or loss
  /// When the time limit started, if before the call.
  std::optional<std::chrono::steady_clock::time_point> begun = std::nullopt;
};

struct SolveResult {
  double value = 0.0;      ///< for the player to move: outcome in [-1, 1], or the margin
  std::vector<Action> pv;  ///< best moves of both players; empty if no move is known yet
  bool exact = false;
  int depth = 0;  ///< plies searched; if exact, the length of the line
  std::uint64_t nodes = 0;
  double seconds = 0.0;
};

/// Keeps its table between calls. Only one call may run at a time; a second throws EngineError.
class Solver {
 public:
  /// `bytes`: size of the table, including the stored states of a user's game, of `state_bytes`
  /// each; 0 if its states cannot be compared. Throws ConfigError if there is no room for one
  /// bucket.
  Solver(std::shared_ptr<const AnyGame> game, std::uint64_t bytes, std::uint64_t state_bytes = 0);
  ~Solver();

  [[nodiscard]] const std::shared_ptr<const AnyGame>& game() const noexcept { return game_; }
  /// `poll` is called on this thread about every 2 ms; false ends the call with what it has, and it
  /// may throw. Throws ConfigError if the state is terminal or of another game, or if the game has
  /// no margin.
  SolveResult solve(const State& state, const SolveLimits& limits,
                    const std::function<bool()>& poll);
  void clear();
  /// Calls `visit` for each stored state of a user's game, for a garbage collector.
  void for_each_state(const std::function<void(const class ForeignState&)>& visit) const;
  [[nodiscard]] std::uint64_t table_bytes() const noexcept { return table_.bytes(); }

 private:
  void check(const State& state, const SolveLimits& limits) const;

  std::shared_ptr<const AnyGame> game_;
  alphabeta::Table table_;
  std::unique_ptr<alphabeta::UserMemory>
      user_memory_;  ///< for a user's game; its states refer to game_
  std::mutex busy_;
};

/// Solves endgames for a tree search. Used by one thread at a time.
class EndgameSolver {
 public:
  static constexpr std::uint64_t kTableBytes = 1U << 20;

  EndgameSolver();
  /// The outcome for the player to move of a non-terminal position of a game that fills up; nullopt
  /// if more than `most` of the board's `points` are empty, or once `goes_on`, called about every
  /// millisecond, returns false.
  std::optional<float> solve(const AnyPosition& position, int points, int most,
                             const std::function<bool()>& goes_on);

 private:
  alphabeta::Table table_;
};

/// Whether this game has margins: Connect Four, and Othello on 8x8.
[[nodiscard]] bool has_margin(const AnyGame& game);

}  // namespace pyengine
