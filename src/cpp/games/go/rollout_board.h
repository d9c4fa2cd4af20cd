/// A board of Go that keeps, for every point and both players, the strength of a move there.
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

/// A position as a rollout needs it.
struct GoRolloutStart {
  BoardBits first;
  BoardBits second;
  int to_move = 0;
  Action ko = kNoAction;
  Action last = kNoAction;  ///< the last move; kNoAction at the start and after a pass
  bool passed = false;      ///< whether that was a pass
  int plies_left = 0;
};

/// A move that the policy may play, with its features.
struct GoRolloutMove {
  Action point = kNoAction;
  GoPattern pattern = 0;
  std::uint16_t features = 0;  ///< bits of GoRolloutFeature
};

/// Stones, chains with their exact liberties, 3x3 patterns and strengths. A play changes the
/// patterns of eight points and the tactics of the liberties of chains that have, or had, at most
/// two: those points are noted, and computed anew when the player concerned is to move.
///
/// The rules are those of the game but for superko, which no rollout looks at: simple ko alone is
/// kept, and the length of the game ends longer cycles. Suicide is never played.
template <int MaxSide>
class GoRolloutBoard {
 public:
  using Grid = GoRolloutGrid<MaxSide>;
  static constexpr int kPlaces = Grid::kPlaces;

  /// An empty board. Both must outlive the board and its copies.
  GoRolloutBoard(const Grid& grid, const GoRolloutStrengths& strengths);

  /// From the empty board to a position.
  void set_up(const GoRolloutStart& start);

  [[nodiscard]] int to_move() const noexcept { return to_move_; }
  [[nodiscard]] bool over() const noexcept { return passes_ >= 2 || plies_left_ <= 0; }
  /// Draws a move of the player to move by its probability; a pass is kNoAction, played where there
  /// is no other.
  [[nodiscard]] Action draw(Rng& rng) noexcept;
  /// Plays a point that is legal, or kNoAction for a pass.
  void play(Action point) noexcept;
  /// Points of the first player less those of the second, stones and territory, all stones alive.
  [[nodiscard]] int margin() const noexcept;

  /// The moves of the policy and their strengths in units; returns how many. Room for all points.
  int moves(std::span<GoRolloutMove> found, std::span<std::uint64_t> strengths) noexcept;

 private:
  static constexpr unsigned kSegment = 16;  ///< places whose strengths are summed
  static constexpr int kTries = 16;         ///< of drawing before the exact way
  static constexpr unsigned kNowhere = 0;   ///< a place of the border
  static constexpr std::uint8_t kEmpty = 0;
  static constexpr std::uint8_t kBorder = 3;  ///< as in patterns; a stone is 1 + its player
  using Places = typename Grid::Places;

  /// A place to which the last move gives features.
  struct Answer {
    std::uint16_t place;
    std::uint16_t features;
  };
  struct Answers {
    std::array<Answer, kPlaces> list;  // the first `count` are written, no more
    unsigned count;
    Places places;  ///< of the list
    void add(unsigned place, unsigned feature) noexcept;
  };

  static unsigned moved(unsigned place, int step) noexcept {
    return static_cast<unsigned>(static_cast<int>(place) + step);
  }
  /// The number of members, 3 for all above.
  static std::uint8_t up_to_three(const Places& set) noexcept;
  static unsigned only_member(const Places& set) noexcept;

  [[nodiscard]] GoPattern seen(unsigned place, int player) const noexcept {
    return player == 0 ? pattern_[place] : swapped(pattern_[place]);
  }
  /// Bits of the first kGoTacticBits features; kGoNever where the move would be suicide.
  [[nodiscard]] unsigned tactics(unsigned place, int player) const noexcept;
  /// Whether a chain beside the place has at most two liberties.
  [[nodiscard]] bool beside_tight_chain(unsigned place) const noexcept;
  /// Liberties of a stone of the colour `own` there, which takes nothing; 3 for all above.
  [[nodiscard]] unsigned liberties_after(unsigned place, unsigned own) const noexcept;
  /// Computes what has changed for the player to move.
  void refresh() noexcept;
  void find_answers(Answers& answers) const noexcept;
  /// Adds what answers the last move's threat to the chain of the mover at `place`.
  void find_defences(unsigned place, Answers& answers) const noexcept;
  [[nodiscard]] std::uint64_t answer_strength(const Answer& answer) const noexcept;
  /// The place where the running sum of the mover's strengths exceeds `sum`.
  [[nodiscard]] unsigned place_at(std::uint64_t sum) const noexcept;
  /// draw() by one look at every place, where answers take up nearly all of the sums.
  [[nodiscard]] Action draw_exactly(std::uint64_t drawn, const Answers& answers) const noexcept;

  /// Puts a stone down, removes what it takes; sets ko_.
  void place_stone(unsigned place, int player) noexcept;
  /// The chain of `head` has no liberty; returns how many stones are taken off.
  unsigned take_off(unsigned head) noexcept;
  void join(unsigned& head, unsigned other) noexcept;
  /// Notes that moves at the liberties of a chain may have changed.
  void note_liberties(unsigned head) noexcept {
    if (liberties_[head] > 2) return;
    changed_ |= open_[head];
    tight_ |= open_[head];
  }
  /// Changes the colour of a place, and with it the patterns around.
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
  Places tight_;                   ///< contains the liberties of all chains that have one or two
  Places changed_;                 ///< by the play under way
  std::array<Places, 2> stale_{};  ///< [player]: strengths to be computed anew
  std::array<std::uint64_t, 2> total_{};
  std::array<std::array<std::uint64_t, kPlaces / kSegment>, 2> sums_{};  ///< of a segment
  std::array<std::array<std::uint32_t, kPlaces>, 2> strength_{};
  std::array<std::uint8_t, kPlaces> colour_{};
  std::array<GoPattern, kPlaces> pattern_{};       ///< as player 0 sees it
  std::array<std::uint16_t, kPlaces> head_{};      ///< of a stone: a stone that names its chain
  std::array<std::uint16_t, kPlaces> next_{};      ///< of a stone: the next one of its chain's ring
  std::array<std::uint16_t, kPlaces> size_{};      ///< [head]: stones
  std::array<std::uint8_t, kPlaces> liberties_{};  ///< [head]: how many, 3 for all above
  std::array<Places, kPlaces> open_{};             ///< [head]: its liberties
};

static_assert(std::is_trivially_copyable_v<GoRolloutBoard<19>>);

extern template class GoRolloutBoard<9>;
extern template class GoRolloutBoard<13>;
extern template class GoRolloutBoard<19>;

}  // namespace pyengine
