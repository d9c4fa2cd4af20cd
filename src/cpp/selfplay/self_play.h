/// Many games at once with one evaluator: the searches of all games fill the same batches.
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

#include "search/run/pipeline.h"
#include "selfplay/game_in_play.h"

namespace pyengine {

/// Counted since the object was made.
struct SelfPlayCounters {
  std::uint64_t begun = 0;      ///< games
  std::uint64_t finished = 0;   ///< games
  std::uint64_t positions = 0;  ///< recorded, of finished games
  std::uint64_t plies = 0;      ///< of finished games
  std::uint64_t first_wins = 0;
  std::uint64_t draws = 0;
  std::uint64_t resigned = 0;
  std::uint64_t cut_short = 0;    ///< games that max_plies ended; they are draws, too
  std::uint64_t searches = 0;     ///< begun
  std::uint64_t simulations = 0;  ///< of searches that have ended
  std::uint64_t evaluations = 0;  ///< rows evaluated, without padding and cache hits
  std::uint64_t batches = 0;
  std::uint64_t padding = 0;
  std::uint64_t cache_hits = 0;
  double waiting_seconds = 0.0;  ///< of workers without work
  std::uint64_t bytes = 0;       ///< of trees and cache
  std::uint64_t refusals = 0;    ///< of memory: a node got no children
  std::string provider;
  std::optional<double> resign_threshold;
  Resignation::Measured resignation;
};

class SelfPlay final : private Succession {
 public:
  /// `recorded`: how the positions of the records are encoded. `played_on`: FinishedGame::lowest of
  /// earlier games, the oldest first, by which the threshold of resignation begins. Throws
  /// ConfigError, ModelError.
  SelfPlay(std::shared_ptr<const AnyGame> game, std::shared_ptr<Evaluator> evaluator,
           const SelfPlayConfig& config, const ModelSpec& recorded,
           std::span<const double> played_on = {});
  ~SelfPlay() override;

  /// Begins `games` games at most and plays until all that are begun have ended, or until stop(),
  /// or until the host ends it: games that are open then go on in the next run, and so do their
  /// searches. Throws EngineError during another run.
  RunEnd run(std::uint64_t games, Host& host);
  /// Games under way go on with another evaluator, their searches from the start. Throws
  /// EngineError during a run, and ConfigError or ModelError where it does not fit.
  void replace_evaluator(std::shared_ptr<Evaluator> evaluator);
  /// Ends the run under way soon, or the next one; from any thread.
  void stop() noexcept { stop_.store(true, std::memory_order_relaxed); }

  /// The open games; not during a run.
  [[nodiscard]] std::span<const std::unique_ptr<GameInPlay>> games() const noexcept {
    return games_;
  }
  /// Games that have ended since the last call; from any thread.
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

  const long process_;  ///< in which this object was made
  SelfPlayContext context_;
  std::shared_ptr<Evaluator> evaluator_;
  std::unique_ptr<BoundEvaluator> bound_;
  std::shared_ptr<ChunkPool> pool_;
  std::unique_ptr<Pipeline> pipeline_;
  std::vector<std::unique_ptr<GameInPlay>> games_;
  std::unordered_map<const TreeSearch*, GameInPlay*> game_of_;  ///< of the run under way
  std::atomic<bool> stop_{false};
  std::atomic<bool> busy_{false};  ///< a run, or a change of evaluator, is under way

  mutable std::mutex mutex_;      ///< guards what follows
  std::uint64_t games_left_ = 0;  ///< to begin in this run
  SelfPlayCounters done_;
  EvaluatorStats replaced_;       ///< of evaluators that were replaced
  double replaced_waited_ = 0.0;  ///< seconds, likewise
  std::vector<FinishedGame> finished_;
};

}  // namespace pyengine
