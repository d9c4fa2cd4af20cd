#include "exact/alphabeta/solver.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <typeinfo>
#include <utility>

#include "base/deadline.h"
#include "base/error.h"
#include "base/type_table.h"
#include "exact/alphabeta/connect_four_position.h"
#include "exact/alphabeta/game_position.h"
#include "exact/alphabeta/line_position.h"
#include "exact/alphabeta/othello_solver.h"
#include "exact/alphabeta/run.h"
#include "exact/alphabeta/solve_game.h"
#include "exact/alphabeta/user_position.h"
#include "games/any/state_check.h"
#include "games/list.h"

namespace pyengine {
namespace {

using alphabeta::Call;
using alphabeta::kWholeGame;
using alphabeta::Plan;
using alphabeta::solve_as_played;
using alphabeta::solve_position;
using alphabeta::SolvePosition;
using Clock = std::chrono::steady_clock;

SolveResult solve_game(const Call& call, const ConnectFour& game) {
  const auto [rows, columns] = game.params();
  if (rows == 6 && columns == 7) {
    using Board = alphabeta::FixedBoard<6, 7>;
    return solve_position(call, alphabeta::ConnectFourPosition<Board>(game, {}));
  }
  return solve_position(call,
                        alphabeta::ConnectFourPosition<alphabeta::AnyBoard>(game, {rows, columns}));
}

template <Game G>
SolveResult solve_game(const Call& call, const G& game) {
  return solve_as_played(call, game);
}

SolveResult solve_game(const Call& call, const Othello& game) {
  if (game.params().board_size != 8) return solve_as_played(call, game);
  return solve_position(call, alphabeta::OthelloPosition(game));
}

template <std::size_t kWords, Game G>
SolveResult solve_lines(const Call& call, const G& game, const alphabeta::LineGame& lines) {
  const alphabeta::LineBoard<kWords> board(lines);
  BoardBits stones[2];
  game.stones(0, stones[0], stones[1]);
  const int mover = game.to_move();
  const alphabeta::LinePosition<kWords> root(board, board.points_of(stones[mover]),
                                             board.points_of(stones[1 - mover]));
  return solve_position(call, root);
}

/// Uses as many words as the board needs.
template <Game G>
SolveResult solve_lines(const Call& call, const G& game, const alphabeta::LineGame& lines) {
  if (alphabeta::LineBoard<1>::fits(lines)) return solve_lines<1>(call, game, lines);
  if (alphabeta::LineBoard<4>::fits(lines)) return solve_lines<4>(call, game, lines);
  return solve_lines<7>(call, game, lines);
}

SolveResult solve_game(const Call& call, const TicTacToe& game) {
  return solve_lines(call, game, {3, 3, 3});
}

SolveResult solve_game(const Call& call, const Mnk& game) {
  const auto [rows, columns, k] = game.params();
  return solve_lines(call, game, {rows, columns, k});
}

SolveResult solve_game(const Call& call, const Gomoku& game) {
  const auto [size, rule, length] = game.params();
  if (rule != GomokuRule::freestyle) return solve_as_played(call, game);
  return solve_lines(call, game, {size, size, length});
}

/// A user's code is called by one thread, which holds the necessary locks.
SolveResult solve_game(Call call, const ForeignPosition& game) {
  using alphabeta::Stopped;
  const ForeignPosition::WalkScope scope(game);
  call.plan.threads = 1;
  alphabeta::UserCall shared{
      .rules = *game.params().rules, .memory = *call.user_memory, .look = [&call] {
        if (!call.poll()) throw Stopped();
      }};
  try {
    const alphabeta::UserPosition root(shared, game);
    // Without a limit, a game that never ends would be searched forever.
    Rng rng;
    if (!call.plan.deepens) root.play_to_an_end(rng);
    return solve_position(call, root);
  } catch (const Stopped&) {
    return {};
  }
}

template <Game G>
SolveResult solve_built_in(const Call& call, const AnyPosition& position) {
  return solve_game(call, static_cast<const PositionOf<G>&>(position).value);
}

TypeTable<SolvePosition>& solvers() {
  static TypeTable<SolvePosition> table =
      table_by_position<SolvePosition>([]<Game G>() { return &solve_built_in<G>; });
  return table;
}

SolveResult solve_any(const Call& call, const AnyPosition& position) {
  const SolvePosition solve = solvers().find(typeid(position));
  if (solve == nullptr) throw EngineError("no solver for the game of this position");
  return solve(call, position);
}

/// Calls `poll` every 2 ms and ends the search when its time is over.
std::function<bool()> polled(const SolveLimits& limits, Clock::time_point begun,
                             const std::function<bool()>& poll) {
  const std::optional<Clock::time_point> deadline = deadline_after(begun, limits.seconds);
  return [poll, deadline, next = begun]() mutable {
    const Clock::time_point now = Clock::now();
    if (deadline && now >= *deadline) return false;
    if (now < next) return true;
    next = now + std::chrono::milliseconds(2);
    return poll();
  };
}

/// Maximum number of states that a solver stores. The memory of each includes the two table entries
/// that it probably fills.
std::uint64_t states_in(std::uint64_t bytes, std::uint64_t state_bytes) noexcept {
  constexpr std::uint64_t kEntries = 32;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 22;  // limits the pause of a single call
  return state_bytes == 0 ? 0 : std::min(kMost, bytes / (state_bytes + kEntries));
}

/// The rest of the memory; at least one bucket.
std::uint64_t table_bytes_in(std::uint64_t bytes, std::uint64_t state_bytes) noexcept {
  return std::max(std::min<std::uint64_t>(bytes, 64),
                  bytes - states_in(bytes, state_bytes) * state_bytes);
}

void check_limits(const SolveLimits& limits) {
  const auto refuse = [](const char* name, const char* expected, const std::string& found) {
    throw ConfigError(std::string(name) + ": expected " + expected + ", got " + found);
  };
  if (limits.depth && (*limits.depth < 1 || *limits.depth >= kWholeGame)) {
    refuse("depth", "1 .. 254 or None", std::to_string(*limits.depth));
  }
  if (limits.seconds && !(std::isfinite(*limits.seconds) && *limits.seconds > 0)) {
    refuse("seconds", "a number > 0 or None", std::to_string(*limits.seconds));
  }
  if (limits.threads < 1 || limits.threads > 1024) {
    refuse("threads", "1 .. 1024", std::to_string(limits.threads));
  }
}

}  // namespace

bool alphabeta::add_solver(const std::type_info& position, SolvePosition solve) {
  return solvers().add(position, solve);
}

bool has_margin(const AnyGame& game) {
  if (game.name() == ConnectFour::kName) return true;
  return game.name() == Othello::kName && game.shape().rows == 8;
}

Solver::Solver(std::shared_ptr<const AnyGame> game, std::uint64_t bytes, std::uint64_t state_bytes)
    : game_(std::move(game)), table_(table_bytes_in(bytes, state_bytes)) {
  if (dynamic_cast<const ForeignGame*>(game_.get()) == nullptr) return;
  const std::uint64_t states = std::max<std::uint64_t>(1, states_in(bytes, state_bytes));
  user_memory_ = std::make_unique<alphabeta::UserMemory>(states);
}

Solver::~Solver() = default;

void Solver::check(const State& state, const SolveLimits& limits) const {
  check_limits(limits);
  check_unfinished(state, *game_);
  if (limits.score && !has_margin(*game_)) {
    throw ConfigError("score: expected False, since a game of " + game_->to_string() +
                      " is won, drawn or lost without a margin (connect_four and 8x8 othello have "
                      "one), got True");
  }
}

SolveResult Solver::solve(const State& state, const SolveLimits& limits,
                          const std::function<bool()>& poll) {
  const std::unique_lock lock(busy_, std::try_to_lock);
  if (!lock) throw EngineError("solve: this solver is solving; use another one");
  check(state, limits);
  const Plan plan{.threads = limits.threads,
                  .margin = limits.score,
                  .deepens = limits.depth || limits.seconds,
                  .depth = limits.depth.value_or(kWholeGame)};
  const Clock::time_point begun = limits.begun.value_or(Clock::now());
  const Call call{table_, plan, polled(limits, begun, poll), user_memory_.get(), &state};
  SolveResult result = solve_any(call, state.position());
  result.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  return result;
}

void Solver::clear() {
  const std::unique_lock lock(busy_, std::try_to_lock);
  if (!lock) throw EngineError("clear: this solver is solving");
  table_.clear();
  if (user_memory_) user_memory_->numbers.clear();
}

void Solver::for_each_state(const std::function<void(const ForeignState&)>& visit) const {
  if (user_memory_) user_memory_->numbers.for_each(visit);
}

EndgameSolver::EndgameSolver() : table_(kTableBytes) {}

std::optional<float> EndgameSolver::solve(const AnyPosition& position, int points, int most,
                                          const std::function<bool()>& goes_on) {
  BoardBits first;
  BoardBits second;
  position.stones(0, first, second);
  if (points - first.count() - second.count() > most) return std::nullopt;
  Plan plan;
  plan.line = false;
  const Call call{table_, plan, goes_on};
  const SolveResult result = solve_any(call, position);
  if (!result.exact) return std::nullopt;
  return static_cast<float>(result.value);
}

}  // namespace pyengine
