/// A Go board that maintains the strength of a move on every point for both players.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "base/rng.h"
#include "base/wide.h"
#include "games/go/bits.h"
#include "games/go/rollout_grid.h"
#include "games/go/rollout_weights.h"

namespace pyengine {

/// The part of a position that a rollout needs.
struct GoRolloutStart {
  BoardBits first;
  BoardBits second;
  int to_move = 0;
  Action ko = kNoAction;
  Action last = kNoAction;  ///< the last move; kNoAction at the start and after a pass
  bool passed = false;      ///< whether the last move was a pass
  int plies_left = 0;
};

/// A move that the policy may play, with its features.
struct GoRolloutMove {
  Action point = kNoAction;
  GoPattern pattern = 0;
  std::uint16_t features = 0;  ///< bits of GoRolloutFeature
};

/// Stones, chains with exact liberties, 3x3 patterns and strengths. A play changes the patterns of
/// eight points and the tactics at the liberties of chains that have, or had, at most two: those
/// points are recorded and recomputed when the player concerned is to move. The rules are those of
/// the game except that superko is ignored: only simple ko is enforced, and the maximum game length
/// ends longer cycles. Suicide is never played.
template <int MaxSide>
class GoRolloutBoard {
 public:
  using Grid = GoRolloutGrid<MaxSide>;
  static constexpr int kPlaces = Grid::kPlaces;

  /// An empty board. Both arguments must outlive the board and its copies.
  GoRolloutBoard(const Grid& grid, const GoRolloutStrengths& strengths);

  /// Sets up a position on the empty board.
  void set_up(const GoRolloutStart& start);

  [[nodiscard]] int to_move() const noexcept { return to_move_; }
  [[nodiscard]] bool over() const noexcept { return passes_ >= 2 || plies_left_ <= 0; }
  /// Draws a move for the player to move according to the moves' probabilities; kNoAction (pass)
  /// only if there is no other.
  [[nodiscard]] Action draw(Rng& rng) noexcept;
  /// Plays a legal point, or kNoAction for a pass.
  void play(Action point) noexcept;
  /// Area score with all stones alive: the first player's points minus the second's.
  [[nodiscard]] int margin() const noexcept;

  /// Writes the policy's moves and their strengths; returns their number. Needs space for all
  /// points.
  int moves(std::span<GoRolloutMove> found, std::span<std::uint64_t> strengths) noexcept;

 private:
  static constexpr unsigned kSegment = 16;  ///< places per partial sum of strengths
  static constexpr int kTries = 16;         ///< random draws before the exact method
  static constexpr unsigned kNowhere = 0;   ///< a place of the border
  static constexpr std::uint8_t kEmpty = 0;
  static constexpr std::uint8_t kBorder = 3;  ///< as in patterns
  using Places = typename Grid::Places;

  /// A place with features from the last move.
  struct Answer {
    std::uint16_t place;
    std::uint16_t features;
  };
  struct Answers {
    std::array<Answer, kPlaces> list;  // only the first `count` are written
    unsigned count;
    Places places;  ///< the places in `list`
    void add(unsigned place, unsigned feature) noexcept;
  };

  /// The colour of a player's stones.
  static constexpr unsigned colour_of(int player) noexcept {
    return 1U + static_cast<unsigned>(player);
  }
  static constexpr unsigned opposite(unsigned colour) noexcept { return 3U - colour; }
  static unsigned moved(unsigned place, int step) noexcept {
    return static_cast<unsigned>(static_cast<int>(place) + step);
  }
  /// The number of elements, at most 3.
  static std::uint8_t up_to_three(const Places& set) noexcept;
  static unsigned only_member(const Places& set) noexcept;

  [[nodiscard]] GoPattern seen(unsigned place, int player) const noexcept {
    return player == 0 ? pattern_[place] : swapped(pattern_[place]);
  }
  /// Bits of the first kGoTacticBits features; kGoNever if the move would be suicide.
  [[nodiscard]] unsigned tactics(unsigned place, int player) const noexcept;
  /// Whether an adjacent chain has at most two liberties.
  [[nodiscard]] bool beside_tight_chain(unsigned place) const noexcept;
  /// Liberties of a stone of colour `own` there that captures nothing; at most 3.
  [[nodiscard]] unsigned liberties_after(unsigned place, unsigned own) const noexcept;
  /// Recomputes the changed places for the player to move.
  void refresh() noexcept;
  void find_answers(Answers& answers) const noexcept;
  /// Adds the answers to the last move's threat against the player's chain at `place`.
  void find_defences(unsigned place, Answers& answers) const noexcept;
  [[nodiscard]] std::uint64_t answer_strength(const Answer& answer) const noexcept;
  /// The place where the cumulative sum of the player's strengths exceeds `sum`.
  [[nodiscard]] unsigned place_at(std::uint64_t sum) const noexcept;
  /// draw() with one pass over all places, for when answers account for nearly all of the sums.
  [[nodiscard]] Action draw_exactly(std::uint64_t drawn, const Answers& answers) const noexcept;

  /// Places a stone, removes captures and sets ko_.
  void place_stone(unsigned place, int player) noexcept;
  /// Removes the chain of `head`, which has no liberties; returns the number of stones.
  unsigned take_off(unsigned head) noexcept;
  void join(unsigned& head, unsigned other) noexcept;
  /// Marks the liberties of a chain as changed.
  void note_liberties(unsigned head) noexcept {
    if (liberties_[head] > 2) return;
    changed_ |= open_[head];
    tight_ |= open_[head];
  }
  /// Changes the colour of a place and the surrounding patterns.
  void colour(unsigned place, unsigned before, unsigned after) noexcept;
  void set_strength(unsigned player, unsigned place, std::uint32_t strength) noexcept {
    const std::uint64_t more = std::uint64_t{strength} - strength_[player][place];  // modulo 2^64
    strength_[player][place] = strength;
    sums_[player][place / kSegment] += more;
    total_[player] += more;
  }

  const Grid* grid_;
  const GoRolloutStrengths* strengths_;
  int to_move_ = 0;
  int passes_ = 0;
  int plies_left_ = 0;
  unsigned ko_ = kNowhere;
  unsigned last_ = kNowhere;
  Places empty_;
  Places tight_;                   ///< contains the liberties of all chains with one or two
  Places changed_;                 ///< changed by the current play
  std::array<Places, 2> stale_{};  ///< [player]: strengths to recompute
  std::array<std::uint64_t, 2> total_{};
  std::array<std::array<std::uint64_t, kPlaces / kSegment>, 2> sums_{};  ///< per segment
  std::array<std::array<std::uint32_t, kPlaces>, 2> strength_{};
  std::array<std::uint8_t, kPlaces> colour_{};
  std::array<GoPattern, kPlaces> pattern_{};       ///< from player 0's perspective
  std::array<std::uint16_t, kPlaces> head_{};      ///< of a stone: identifies its chain
  std::array<std::uint16_t, kPlaces> next_{};      ///< of a stone: the next one in its chain's ring
  std::array<std::uint16_t, kPlaces> size_{};      ///< [head]: stones
  std::array<std::uint8_t, kPlaces> liberties_{};  ///< [head]: number of liberties, at most 3
  std::array<Places, kPlaces> open_{};             ///< [head]: the liberties
};

static_assert(std::is_trivially_copyable_v<GoRolloutBoard<19>>);

extern template class GoRolloutBoard<9>;
extern template class GoRolloutBoard<13>;
extern template class GoRolloutBoard<19>;

}  // namespace pyengine
