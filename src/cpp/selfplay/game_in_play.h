/// One game of self-play: its position, its tree and its record.
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
#include "selfplay/resignation.h"

namespace pyengine {

/// What all games share. It outlives them.
class SelfPlayContext {
 public:
  SelfPlayContext(std::shared_ptr<const AnyGame> game, const SelfPlayConfig& config,
                  const ModelSpec& recorded);

  /// The settings of a move: a full search or a fast one, with temperature or without.
  [[nodiscard]] const SearchConfig& search(bool full, bool warm) const noexcept {
    return searches_[full ? 1U : 0U][warm ? 1U : 0U];
  }

  const std::shared_ptr<const AnyGame> game;
  const SelfPlayConfig config;
  const Encoder encoder;
  const PackedShape packed;
  Resignation resignation;
  /// Begun so far; the number of a search names its random stream.
  std::atomic<std::uint64_t> searches{0};

 private:
  std::array<std::array<SearchConfig, 2>, 2> searches_;
};

class GameInPlay {
 public:
  /// Trees of all games share an arena.
  GameInPlay(SelfPlayContext& context, const std::shared_ptr<Arena>& arena);

  /// Begins game `number`. Its opening is played before its first search.
  void begin(std::uint64_t number) noexcept;
  /// From begin() to end().
  [[nodiscard]] bool begun() const noexcept { return stage_ != Stage::none; }
  [[nodiscard]] bool over() const noexcept { return stage_ == Stage::over; }
  /// Puts the next search in the place of the last one. `evaluator` outlives it. A call that threw
  /// can be repeated; this holds for the functions below as well.
  void begin_search(BoundEvaluator& evaluator);
  /// Goes on with the search that a run left open and the rest of its budget; without one begins
  /// the next search.
  void continue_search(BoundEvaluator& evaluator);
  [[nodiscard]] TreeSearch& search() noexcept { return *search_; }
  /// Null where no game is being played.
  [[nodiscard]] const State* state() const noexcept { return state_ ? &*state_ : nullptr; }
  /// Drops the tree and keeps the game, so that another network can go on with it.
  void drop_tree();

  /// After a search: records the position and plays the move. Returns whether the game goes on.
  bool move();
  /// The record of a game that is over.
  [[nodiscard]] FinishedGame& record() noexcept { return record_; }
  /// The record was taken: the next game may begin.
  void end() noexcept;

 private:
  enum class Stage : std::uint8_t { none, opening, playing, over };

  void play_opening();
  /// Visits of the actions, and whether they are a policy target.
  struct Lesson {
    std::vector<std::uint32_t> visits;
    bool taught = false;
  };
  [[nodiscard]] Lesson lesson_of(const SearchResult& result) const;
  void record(const SearchResult& result, const Lesson& lesson);
  [[nodiscard]] bool resigns(const SearchResult& result);
  [[nodiscard]] bool too_long(const State& state) const noexcept;
  void finish(std::array<float, 2> returns, std::vector<ActionId> moves) noexcept;
  void advance_tree(ActionId action) noexcept;
  void clear_tree() noexcept;

  SelfPlayContext& context_;
  Tree tree_;
  bool tree_is_old_ = false;  ///< clearing it failed
  Stage stage_ = Stage::none;
  std::optional<State> state_;  ///< while the game is played
  std::optional<TreeSearch> search_;
  Rng rng_;
  bool searching_ = false;          ///< the search has not used up its budget
  bool full_ = true;                ///< the search under way is a full one
  std::array<double, 2> lowest_{};  ///< of all values of best_chance() of each side
  FinishedGame record_;
  PlaneStack planes_;
  ActionList legal_;
};

}  // namespace pyengine
