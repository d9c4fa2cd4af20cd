#include "games/go/playout_board.h"

#include <utility>

#include "games/go/go.h"

namespace pyengine {

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): set_up() writes the arrays
template <int MaxSide>
GoPlayoutBoard<MaxSide>::GoPlayoutBoard(const GoPlayoutStart<MaxSide>& start) noexcept
    : earlier_(&start.history),
      columns_(static_cast<unsigned>(start.params.columns)),
      num_points_(static_cast<unsigned>(start.params.rows * start.params.columns)),
      mover_(static_cast<unsigned>(start.to_move)),
      passes_(start.passes),
      plies_left_(start.plies_left),
      suicide_(start.params.suicide),
      superko_(start.params.superko != Superko::simple),
      situational_(start.params.superko == Superko::situational),
      key_(start.board.board_key()),
      stones_{start.board.stones(0).count(), start.board.stones(1).count()} {
  set_up(start);
  if (start.ko != kNoAction) ko_ = place(start.ko);
}

template <int MaxSide>
void GoPlayoutBoard<MaxSide>::set_up(const GoPlayoutStart<MaxSide>& start) noexcept {
  colour_.fill(kBorder);
  head_.fill(0);
  size_.fill(0);
  open_[0] = 0;
  unsigned point = 0;
  for (int row = 0; row < start.params.rows; ++row) {
    unsigned at = static_cast<unsigned>(row + 1) * kStride + 1;
    for (unsigned column = 0; column < columns_; ++column, ++point, ++at) {
      taken_[at] = static_cast<std::uint8_t>((start.taken[0].test(point) ? 1U : 0U) |
                                             (start.taken[1].test(point) ? 2U : 0U));
      if (start.board.empty(point)) {
        colour_[at] = kEmpty;
        add_empty(at);
        continue;
      }
      const unsigned head = place(static_cast<Action>(start.board.chain_name(point)));
      colour_[at] = start.board.stones(0).test(point) ? 1 : 2;
      head_[at] = static_cast<std::uint16_t>(head);
      next_[at] =
          static_cast<std::uint16_t>(place(static_cast<Action>(start.board.next_of_chain(point))));
      ++size_[head];
      open_[head] = static_cast<std::uint16_t>(start.board.open_sides(point));
    }
  }
}

template <int MaxSide>
bool GoPlayoutBoard<MaxSide>::has_sound_corners(unsigned place, unsigned beside) const noexcept {
  const unsigned other = 3U - own();
  unsigned hostile = (beside & kBorder) != 0 ? 1 : 0;
  for (const unsigned corner :
       {place - kStride - 1, place - kStride + 1, place + kStride - 1, place + kStride + 1}) {
    hostile += colour_[corner] == other ? 1U : 0U;
  }
  return hostile < 2;
}

/// The stone takes a pseudo-liberty for each side that a chain has beside it: the mover's chains
/// with one left live, and so does the stone if it leaves the other's without.
template <int MaxSide>
bool GoPlayoutBoard<MaxSide>::lives_by_chains(unsigned place) noexcept {
  constexpr unsigned kMostSides = 4;
  bool lives = false;
  for_beside(place,
             [&](unsigned p) { lives |= colour_[p] == own() && open_[head_[p]] > kMostSides; });
  if (lives) return true;
  for_beside(place, [&](unsigned p) { --open_[head_[p]]; });
  for_beside(place, [&](unsigned p) {
    if (colour_[p] == kBorder) return;
    lives |= (open_[head_[p]] != 0) == (colour_[p] == own());
  });
  for_beside(place, [&](unsigned p) { ++open_[head_[p]]; });
  return lives;
}

template <int MaxSide>
bool GoPlayoutBoard<MaxSide>::is_legal_place(unsigned place, unsigned beside) noexcept {
  if (place == ko_) return false;
  const bool lives = (beside & kEmpty) != 0 || lives_by_chains(place);
  if (!lives && !(suicide_ && (beside & own()) != 0)) return false;
  if (!superko_ || (lives && (taken_[place] & own()) == 0)) return true;
  return !repeats(place, lives);
}

template <int MaxSide>
bool GoPlayoutBoard<MaxSide>::repeats(unsigned place, bool lives) noexcept {
  const unsigned loser = lives ? 1U - mover_ : mover_;
  std::uint64_t key = key_ ^ stone_key(mover_, place);
  unsigned stones = num_points_ - num_empty_ + 1;
  const auto remove = [&](unsigned stone) {
    key ^= stone_key(loser, stone);
    --stones;
  };
  if (!lives) remove(place);
  for_beside(place, [&](unsigned p) { --open_[head_[p]]; });
  std::array<unsigned, 4> removed{};  // heads
  unsigned count = 0;
  for_beside(place, [&](unsigned p) {
    const unsigned head = head_[p];
    if (colour_[p] != 1U << loser || open_[head] != 0) return;
    for (unsigned i = 0; i < count; ++i) {
      if (removed[i] == head) return;
    }
    removed[count++] = head;
    unsigned stone = p;
    do {
      remove(stone);
      stone = next_[stone];
    } while (stone != p);
  });
  for_beside(place, [&](unsigned p) { ++open_[head_[p]]; });
  key ^= turn_key(1U - mover_);
  return history_.contains(key, stones) || earlier_->contains(key, static_cast<int>(stones));
}

template <int MaxSide>
void GoPlayoutBoard<MaxSide>::swap_empties(unsigned i, unsigned j) noexcept {
  const std::uint16_t a = list_[i];
  const std::uint16_t b = list_[j];
  list_[i] = b;
  list_[j] = a;
  index_[b] = static_cast<std::uint16_t>(i);
  index_[a] = static_cast<std::uint16_t>(j);
}

template <int MaxSide>
unsigned GoPlayoutBoard<MaxSide>::draw(SmallDraws& draws) noexcept {
  for (unsigned left = num_empty_; left > 0; --left) {
    const unsigned drawn = draws.below(left);
    const unsigned place = list_[drawn];
    const unsigned beside = around(place);
    if (!is_eye(place, beside) && is_legal_place(place, beside)) return place;
    swap_empties(drawn, left - 1);  // not tried again
  }
  return kNowhere;
}

template <int MaxSide>
void GoPlayoutBoard<MaxSide>::play_place(unsigned place) noexcept {
  --plies_left_;
  ko_ = kNowhere;
  const bool passes = place == kNowhere;
  if (passes) {
    ++passes_;
  } else {
    passes_ = 0;
    place_stone(place);
  }
  mover_ ^= 1U;
  if (!superko_ || (passes && !situational_)) return;  // a pass leaves the board as it was
  history_.add(key_ ^ turn_key(mover_), num_points_ - num_empty_);
}

template <int MaxSide>
void GoPlayoutBoard<MaxSide>::place_stone(unsigned place) noexcept {
  unsigned open = 0;
  for_beside(place, [&](unsigned p) {
    open += colour_[p] == kEmpty ? 1U : 0U;
    --open_[head_[p]];
  });
  remove_empty(place);
  colour_[place] = static_cast<std::uint8_t>(own());
  head_[place] = next_[place] = static_cast<std::uint16_t>(place);
  size_[place] = 1;
  ++stones_[mover_];
  open_[place] = static_cast<std::uint16_t>(open);
  if (superko_) key_ ^= stone_key(mover_, place);
  unsigned taken = 0;
  unsigned last_taken = kNowhere;
  const unsigned other = 3U - own();
  for_beside(place, [&](unsigned p) {
    if (colour_[p] == own()) {
      join(place, p);
    } else if (colour_[p] == other && open_[head_[p]] == 0) {
      taken += take_off(p);
      last_taken = p;
    }
  });
  const unsigned head = head_[place];
  if (open_[head] == 0) {
    take_off(place);
  } else if (taken == 1 && size_[head] == 1 && open_[head] == 1) {
    ko_ = last_taken;
  }
}

/// The smaller chain takes the name of the larger one.
template <int MaxSide>
void GoPlayoutBoard<MaxSide>::join(unsigned place, unsigned other) noexcept {
  unsigned larger = head_[other];
  unsigned smaller = head_[place];
  if (larger == smaller) return;
  if (size_[smaller] > size_[larger]) std::swap(larger, smaller);
  size_[larger] = static_cast<std::uint16_t>(size_[larger] + size_[smaller]);
  open_[larger] = static_cast<std::uint16_t>(open_[larger] + open_[smaller]);
  unsigned stone = smaller;
  do {
    head_[stone] = static_cast<std::uint16_t>(larger);
    stone = next_[stone];
  } while (stone != smaller);
  std::swap(next_[larger], next_[smaller]);
}

template <int MaxSide>
unsigned GoPlayoutBoard<MaxSide>::take_off(unsigned stone) noexcept {
  const unsigned player = colour_[stone] - 1U;
  unsigned taken = 0;
  unsigned p = stone;
  do {
    const unsigned following = next_[p];
    colour_[p] = kEmpty;
    head_[p] = 0;
    taken_[p] = static_cast<std::uint8_t>(taken_[p] | (1U << player));
    if (superko_) key_ ^= stone_key(player, p);
    add_empty(p);
    for_beside(p, [&](unsigned beside) { ++open_[head_[beside]]; });
    ++taken;
    p = following;
  } while (p != stone);
  stones_[player] -= static_cast<int>(taken);
  return taken;
}

template <int MaxSide>
int GoPlayoutBoard<MaxSide>::margin() const noexcept {
  int margin = 0;
  std::array<bool, kPlaces> seen{};
  std::array<std::uint16_t, kPoints> region;  // NOLINT: written before it is read
  for (unsigned i = 0; i < num_empty_; ++i) {
    if (seen[list_[i]]) continue;
    unsigned borders = 0;
    unsigned count = 0;
    const auto add = [&](unsigned place) {
      if (colour_[place] != kEmpty || seen[place]) return;
      seen[place] = true;
      region[count++] = static_cast<std::uint16_t>(place);
    };
    add(list_[i]);
    for (unsigned k = 0; k < count; ++k) {
      const unsigned beside = around(region[k]);
      borders |= beside;
      if ((beside & kEmpty) != 0) for_beside(region[k], add);
    }
    const int points = static_cast<int>(count);
    borders &= 3U;
    margin += borders == 1 ? points : borders == 2 ? -points : 0;
  }
  return margin + stones_[0] - stones_[1];
}

template class GoPlayoutBoard<9>;
template class GoPlayoutBoard<13>;
template class GoPlayoutBoard<19>;

template <int MaxSide>
GoPlayoutBoard<MaxSide> BasicGo<MaxSide>::playout_board() const noexcept {
  return GoPlayoutBoard<MaxSide>(
      {params_, board_, taken_, history_, to_move_, ko_, passes_, params_.max_game_length - ply_});
}

template <int MaxSide>
Playout BasicGo<MaxSide>::light_playout(Rng& rng) const noexcept {
  GoPlayoutBoard<MaxSide> board = playout_board();
  SmallDraws draws(rng);
  const int plies = board.play_out(draws);
  return {outcome_of(board.margin()), plies};
}

template GoPlayoutBoard<9> BasicGo<9>::playout_board() const noexcept;
template GoPlayoutBoard<13> BasicGo<13>::playout_board() const noexcept;
template GoPlayoutBoard<19> BasicGo<19>::playout_board() const noexcept;
template Playout BasicGo<9>::light_playout(Rng& rng) const noexcept;
template Playout BasicGo<13>::light_playout(Rng& rng) const noexcept;
template Playout BasicGo<19>::light_playout(Rng& rng) const noexcept;

}  // namespace pyengine
