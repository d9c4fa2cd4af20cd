/// One self-play game: its position, its tree and its record.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "eval/network/encoder.h"
#include "search/result.h"
#include "search/run/tree_search.h"
#include "selfplay/config.h"
#include "selfplay/finished_game.h"
#include "selfplay/opening.h"
#include "selfplay/resignation.h"

namespace pyengine {

/// State shared by all games, which it outlives.
class SelfPlayContext {
 public:
  SelfPlayContext(std::shared_ptr<const AnyGame> game, const SelfPlayConfig& config,
                  const ModelSpec& recorded, std::vector<Opening> openings = {});

  /// Search settings of a move: full or fast, with or without temperature.
  [[nodiscard]] const SearchConfig& search(bool full, bool warm) const noexcept {
    return searches_[full ? 1U : 0U][warm ? 1U : 0U];
  }

  const std::shared_ptr<const AnyGame> game;
  const SelfPlayConfig config;
  const Encoder encoder;
  const PackedShape packed;
  const std::vector<Opening> openings;
  Resignation resignation;
  /// Number of searches begun; it selects the random stream of a search.
  std::atomic<std::uint64_t> searches{0};

 private:
  std::array<std::array<SearchConfig, 2>, 2> searches_;
};

class GameInPlay {
 public:
  /// The trees of all games share an arena.
  GameInPlay(SelfPlayContext& context, const std::shared_ptr<Arena>& arena);

  /// Begins game `number`. The opening is played before the first search.
  void begin(std::uint64_t number) noexcept;
  /// True between begin() and end().
  [[nodiscard]] bool begun() const noexcept { return stage_ != Stage::none; }
  [[nodiscard]] bool over() const noexcept { return stage_ == Stage::over; }
  /// Starts the next search in place of the previous one. `evaluator` must outlive it. After an
  /// exception, the call can be repeated; the same holds for the functions below.
  void begin_search(BoundEvaluator& evaluator);
  /// Continues an unfinished search with the rest of its budget, or starts the next one.
  void continue_search(BoundEvaluator& evaluator);
  [[nodiscard]] TreeSearch& search() noexcept { return *search_; }
  /// nullptr if no game is being played.
  [[nodiscard]] const State* state() const noexcept { return state_ ? &*state_ : nullptr; }
  /// Drops the tree but keeps the game, so that it can continue with another network.
  void drop_tree();

  /// After a search: records the position and plays the move. Returns whether the game continues.
  bool move();
  /// The record of a finished game.
  [[nodiscard]] FinishedGame& record() noexcept { return record_; }
  /// Call after the record was taken: the next game may begin.
  void end() noexcept;

 private:
  enum class Stage : std::uint8_t { none, opening, playing, over };

  void play_opening();
  [[nodiscard]] State first_state();
  /// Visits of the actions, and whether they are a policy target.
  struct Lesson {
    std::vector<std::uint32_t> visits;
    bool taught = false;
  };
  [[nodiscard]] Lesson lesson_of(const SearchResult& result) const;
  void record(const SearchResult& result, const Lesson& lesson);
  [[nodiscard]] bool is_hopeless(const SearchResult& result);
  [[nodiscard]] bool resigns(const SearchResult& result);
  [[nodiscard]] bool too_long(const State& state) const noexcept;
  void finish(std::array<float, 2> returns, std::vector<ActionId> moves) noexcept;
  void advance_tree(ActionId action) noexcept;
  void clear_tree() noexcept;

  SelfPlayContext& context_;
  Tree tree_;
  bool tree_is_old_ = false;  ///< clearing the tree failed
  Stage stage_ = Stage::none;
  std::optional<State> state_;  ///< set while the game is played
  std::optional<TreeSearch> search_;
  Rng rng_;
  bool searching_ = false;          ///< the search has budget left
  bool full_ = true;                ///< the current search is a full one
  bool recorded_ = true;            ///< the position of the current search is recorded
  int given_up_by_ = -1;            ///< the side that resigned softly and has not recovered
  std::array<double, 2> lowest_{};  ///< lowest best_chance() of each side
  FinishedGame record_;
  PlaneStack planes_;
  ActionList legal_;
};

}  // namespace pyengine
