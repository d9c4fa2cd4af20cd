/// Many concurrent games with one evaluator. The searches of all games share batches.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "eval/abilities.h"
#include "search/run/pipeline.h"
#include "selfplay/game_in_play.h"

namespace pyengine {

/// Totals since construction.
struct SelfPlayCounters {
  std::uint64_t begun = 0;      ///< games
  std::uint64_t finished = 0;   ///< games
  std::uint64_t positions = 0;  ///< recorded positions of finished games
  std::uint64_t plies = 0;      ///< of finished games
  std::uint64_t first_wins = 0;
  std::uint64_t draws = 0;
  std::uint64_t resigned = 0;
  std::uint64_t cut_short = 0;    ///< games ended by max_plies; also counted as draws
  std::uint64_t searches = 0;     ///< number of searches begun
  std::uint64_t simulations = 0;  ///< of finished searches
  std::uint64_t evaluations = 0;  ///< rows, without padding and cache hits
  std::uint64_t batches = 0;
  std::uint64_t padding = 0;
  std::uint64_t cache_hits = 0;
  double waiting_seconds = 0.0;  ///< total idle time of the workers
  std::uint64_t bytes = 0;       ///< trees and cache
  std::uint64_t refusals = 0;    ///< expansions that failed for lack of memory
  std::string provider;
  std::optional<double> resign_threshold;
  Resignation::Measured resignation;
};

class SelfPlay final : private Succession {
 public:
  /// `recorded`: the encoding of recorded positions. `played_on`: FinishedGame::lowest of earlier
  /// games, oldest first, which set the initial resignation threshold. `openings`: of this game,
  /// none of which ends it. Throws ConfigError, ModelError.
  SelfPlay(std::shared_ptr<const AnyGame> game, std::shared_ptr<Evaluator> evaluator,
           const SelfPlayConfig& config, const ModelSpec& recorded,
           std::span<const double> played_on = {}, std::vector<Opening> openings = {});
  ~SelfPlay() override;

  /// Begins up to `games` games and plays until all of them have ended, or until stop() or the host
  /// ends the run. Unfinished games and their searches continue in the next run. Throws EngineError
  /// during another run.
  RunEnd run(std::uint64_t games, Host& host);
  /// Continues the open games with another evaluator; their current searches restart. Throws
  /// EngineError during a run, and ConfigError or ModelError if it does not fit.
  void replace_evaluator(std::shared_ptr<Evaluator> evaluator);
  /// Ends the current run soon, or else the next one. Thread-safe.
  void stop() noexcept { stop_.store(true, std::memory_order_relaxed); }

  /// The open games. Must not be called during a run.
  [[nodiscard]] std::span<const std::unique_ptr<GameInPlay>> games() const noexcept {
    return games_;
  }
  /// Games finished since the last call. Thread-safe.
  std::vector<FinishedGame> take_finished();
  [[nodiscard]] SelfPlayCounters counters() const;

 private:
  class Busy;
  bool ended(TreeSearch& search) override;
  void restart(TreeSearch& search) override;
  void bind(std::shared_ptr<Evaluator> evaluator);
  std::vector<TreeSearch*> open_searches();
  [[nodiscard]] bool begin_another(GameInPlay& game) noexcept;
  void count(GameInPlay& game);

  const long process_;  ///< id of the creating process
  SelfPlayContext context_;
  std::shared_ptr<Evaluator> evaluator_;
  std::unique_ptr<BoundEvaluator> bound_;
  std::shared_ptr<ChunkPool> pool_;
  std::unique_ptr<Pipeline> pipeline_;
  std::vector<std::unique_ptr<GameInPlay>> games_;
  std::unordered_map<const TreeSearch*, GameInPlay*> game_of_;  ///< in the current run
  std::atomic<bool> stop_{false};
  std::atomic<bool> busy_{false};  ///< during a run or replace_evaluator()

  mutable std::mutex mutex_;      ///< guards the members below
  std::uint64_t games_left_ = 0;  ///< games left to begin in this run
  SelfPlayCounters done_;
  EvaluatorStats replaced_;       ///< totals of replaced evaluators
  double replaced_waited_ = 0.0;  ///< seconds that workers waited for replaced evaluators
  std::vector<FinishedGame> finished_;
};

}  // namespace pyengine
