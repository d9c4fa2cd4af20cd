/// One game of self-play: its position, its tree and what has been recorded of it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/rng.h"
#include "eval/network/encoder.h"
#include "search/result.h"
#include "search/run/tree_search.h"
#include "selfplay/config.h"
#include "selfplay/finished_game.h"
#include "selfplay/resignation.h"

namespace pyengine {

/// What all games of a run share. Outlives them.
class Table {
 public:
  Table(std::shared_ptr<const AnyGame> game, const SelfPlayConfig& config,
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
  std::atomic<std::uint64_t> searches{0};  ///< begun so far: each has random numbers of its own

 private:
  std::array<std::array<SearchConfig, 2>, 2> searches_;
};

class GameInPlay {
 public:
  /// Trees of all games share an arena.
  GameInPlay(Table& table, const std::shared_ptr<Arena>& arena);

  /// Begins the game of this number; its opening is played before its first search.
  void begin(std::uint64_t number) noexcept;
  /// It has a number, and its record was not taken yet.
  [[nodiscard]] bool begun() const noexcept { return stage_ != Stage::none; }
  [[nodiscard]] bool over() const noexcept { return stage_ == Stage::over; }
  /// The next search, in the place of the last one. `evaluator` outlives it. Where that fails it
  /// can be tried again, and the same holds for what follows.
  void begin_search(BoundEvaluator& evaluator);
  /// The search that a run left open goes on, with what is left of its budget; else the next one.
  void continue_search(BoundEvaluator& evaluator);
  [[nodiscard]] TreeSearch& search() noexcept { return *search_; }
  /// Forgets the tree, not the game: before another network goes on with it.
  void drop_tree();

  /// After a search: records the position and plays. Whether the game goes on; if not, it is over.
  bool move();
  /// Of a game that is over.
  [[nodiscard]] FinishedGame& record() noexcept { return record_; }
  /// The record was taken: another game may begin.
  void end() noexcept;

 private:
  enum class Stage : std::uint8_t { none, opening, playing, over };

  void play_opening();
  void record(const SearchResult& result);
  [[nodiscard]] bool resigns(const SearchResult& result);
  void finish(std::array<float, 2> returns, std::vector<ActionId> moves) noexcept;
  void advance_tree(ActionId action) noexcept;
  void clear_tree() noexcept;

  Table& table_;
  Tree tree_;
  bool tree_is_old_ = false;  ///< it could not be cleared yet
  Stage stage_ = Stage::none;
  std::optional<State> state_;  ///< while it is played
  std::optional<TreeSearch> search_;
  Rng rng_;
  bool searching_ = false;          ///< a search has not had its budget yet
  bool full_ = true;                ///< the search under way
  std::array<double, 2> lowest_{};  ///< of what each side thought of its best chance
  FinishedGame record_;
  PlaneStack planes_;
  ActionList legal_;
};

}  // namespace pyengine
