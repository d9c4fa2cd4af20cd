#include "games/go/playout_board.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "games/go/go.h"

namespace pyengine {

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): set_up() writes the arrays
template <int MaxSide>
GoPlayoutBoard<MaxSide>::GoPlayoutBoard(const GoPlayoutStart<MaxSide>& start) noexcept
    : earlier_(&start.history),
      columns_(static_cast<unsigned>(start.params.columns)),
      num_points_(static_cast<unsigned>(start.params.rows * start.params.columns)),
      own_(static_cast<unsigned>(start.to_move) + 1),
      passes_(start.passes),
      plies_left_(start.plies_left),
      suicide_(start.params.suicide),
      superko_(start.params.superko != Superko::simple),
      situational_(start.params.superko == Superko::situational),
      key_(start.board.board_key()),
      lead_(start.board.stones(0).count() - start.board.stones(1).count()) {
  set_up(start);
  if (start.ko != kNoAction) ko_ = place(start.ko);
}

template <int MaxSide>
void GoPlayoutBoard<MaxSide>::set_up_borders(unsigned rows) noexcept {
  constexpr unsigned kAbove = go_near::kBorder * 0x0501U;  // including both corners
  constexpr unsigned kBelow = go_near::kBorder * 0x5040U;
  constexpr unsigned kLeft = go_near::kBorder * 0x1104U;
  constexpr unsigned kRight = go_near::kBorder * 0x4410U;
  for (unsigned row = 0; row < rows; ++row) {
    const unsigned near = (row == 0 ? kAbove : 0) | (row + 1 == rows ? kBelow : 0);
    GoNear* const first = &near_[(row + 1) * kStride + 1];
    std::fill_n(first, columns_, near);
    first[0] |= kLeft;
    first[columns_ - 1] |= kRight;
  }
}

template <int MaxSide>
void GoPlayoutBoard<MaxSide>::set_up(const GoPlayoutStart<MaxSide>& start) noexcept {
  near_.fill(0);
  const auto rows = static_cast<unsigned>(start.params.rows);
  set_up_borders(rows);
  std::iota(head_.begin(), head_.end(), std::uint16_t{0});
  open_.fill(kNoChain);
  size_.fill(0);
  std::array<std::uint16_t, kPoints> places;  // NOLINT: written before it is read
  unsigned point = 0;
  for (unsigned row = 0; row < rows; ++row) {
    unsigned at = (row + 1) * kStride + 1;
    for (unsigned column = 0; column < columns_; ++column, ++point, ++at) {
      places[point] = static_cast<std::uint16_t>(at);
      list_[num_empty_] = {static_cast<std::uint16_t>(at), static_cast<std::uint16_t>(point)};
      num_empty_ += start.board.empty(point) ? 1U : 0U;
    }
  }
  for (const unsigned colour : {1U, 2U}) {
    const auto player = static_cast<int>(colour - 1);
    start.board.stones(player).for_each([&](unsigned stone) {
      const unsigned at = places[stone];
      const unsigned head = places[start.board.chain_name(stone)];
      toggle(at, colour);
      head_[at] = static_cast<std::uint16_t>(head);
      next_[at] = places[start.board.next_of_chain(stone)];
      open_[head] = static_cast<std::uint16_t>(start.board.open_sides(stone));
      ++size_[head];
    });
    start.taken[colour - 1].for_each(
        [&](unsigned taken) { near_[places[taken]] |= colour << go_near::kTaken; });
  }
}

template <int MaxSide>
void GoPlayoutBoard<MaxSide>::toggle(unsigned place, unsigned colour) noexcept {
  const auto at = [&](unsigned beside, unsigned shift) { near_[beside] ^= colour << shift; };
  at(place + kStride, 0);
  at(place + 1, 2);
  at(place - 1, 4);
  at(place - kStride, 6);
  at(place + kStride + 1, 8);
  at(place + kStride - 1, 10);
  at(place - kStride + 1, 12);
  at(place - kStride - 1, 14);
}

template <int MaxSide>
bool GoPlayoutBoard<MaxSide>::has_few_sides(unsigned place) noexcept {
  constexpr unsigned kMostSides = 4;
  bool few = false;
  for_beside(place, [&](unsigned p) { few |= open_of(p) <= kMostSides; });
  return few;
}

template <int MaxSide>
unsigned GoPlayoutBoard<MaxSide>::without_liberty(unsigned place) noexcept {
  const auto at = [this](unsigned p) { return open_of(p) == 0 ? 1U : 0U; };
  return at(place - kStride) | at(place - 1) << 2 | at(place + 1) << 4 | at(place + kStride) << 6;
}

/// The stone is legal if an adjacent point is empty, an adjacent friendly chain has another
/// liberty, or an adjacent opposing chain has no other.
template <int MaxSide>
template <unsigned kColour>
auto GoPlayoutBoard<MaxSide>::take_sides(unsigned place, unsigned near) noexcept -> Sides {
  if (place == ko_) return Sides::illegal;
  // Most illegal places are the opponent's eyes, whose chains have many liberties.
  if ((go_near::empties(near) | go_near::stones(near, kColour)) == 0 && !has_few_sides(place)) {
    return Sides::illegal;
  }
  unsigned none_left = 0;
  for_beside(place, [&](unsigned p) { none_left |= --open_of(p) == 0 ? 1U : 0U; });
  const unsigned friends = go_near::stones(near, kColour);
  bool lives = (go_near::empties(near) | friends) != 0;
  if (none_left != 0 && go_near::empties(near) == 0) {
    const unsigned dead = without_liberty(place);
    const unsigned others = go_near::stones(near, go_near::other(kColour));
    lives = ((friends & ~dead) | (others & dead)) != 0;
  }
  bool legal = lives || (suicide_ && friends != 0);
  if (!lives || (near >> go_near::kTaken & kColour) != 0) {
    legal = legal && !(superko_ && repeats(place, near, lives));
  }
  if (legal) return none_left != 0 ? Sides::settles : Sides::legal;
  give_sides(place);
  return Sides::illegal;
}

template <int MaxSide>
bool GoPlayoutBoard<MaxSide>::repeats(unsigned place, unsigned near, bool lives) noexcept {
  const unsigned loser = lives ? go_near::other(own_) : own_;
  std::uint64_t key = key_ ^ stone_key(own_, point(place));
  unsigned stones = num_points_ - num_empty_ + 1;
  const auto remove = [&](unsigned stone) {
    key ^= stone_key(loser, point(stone));
    --stones;
  };
  if (!lives) remove(place);
  std::array<unsigned, 4> removed{};  // heads
  unsigned count = 0;
  for_sides(place, go_near::stones(near, loser) & without_liberty(place), [&](unsigned p) {
    const unsigned head = head_[p];
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
  key ^= turn_key(go_near::other(own_));
  return history_.contains(key, stones) || earlier_->contains(key, static_cast<int>(stones));
}

template <int MaxSide>
bool GoPlayoutBoard<MaxSide>::is_legal(Action point) noexcept {
  const bool legal = take_sides(place(point)) != Sides::illegal;
  if (legal) give_sides(place(point));
  return legal;
}

template <int MaxSide>
void GoPlayoutBoard<MaxSide>::play(Action action) noexcept {
  if (static_cast<unsigned>(action) == num_points_) {
    pass();
    return;
  }
  unsigned index = 0;
  while (list_[index].point != action) ++index;
  const unsigned near = near_[list_[index].place];
  const bool settles = take_sides(list_[index].place) == Sides::settles;
  own_ == 1 ? play_empty<1>(index, near, settles) : play_empty<2>(index, near, settles);
}

template <int MaxSide>
int GoPlayoutBoard<MaxSide>::play_out(SmallDraws& draws) noexcept {
  int plies = 0;
  for (; !over(); ++plies) own_ == 1 ? play_drawn<1>(draws) : play_drawn<2>(draws);
  return plies;
}

template <int MaxSide>
template <unsigned kColour>
void GoPlayoutBoard<MaxSide>::play_drawn(SmallDraws& draws) noexcept {
  for (unsigned tried = 0; tried < num_empty_; ++tried) {
    const unsigned left = num_empty_ - tried;
    const unsigned drawn = draws.below(left);
    const unsigned place = list_[drawn].place;
    const unsigned near = near_[place];
    if (!go_near::is_eye(near, kColour)) {
      const Sides sides = take_sides<kColour>(place, near);
      if (sides != Sides::illegal) {
        play_empty<kColour>(drawn, near, sides == Sides::settles);
        return;
      }
    }
    std::swap(list_[drawn], list_[left - 1]);  // not tried again
  }
  pass();
}

template <int MaxSide>
void GoPlayoutBoard<MaxSide>::pass() noexcept {
  --plies_left_;
  ++passes_;
  ko_ = kNowhere;
  own_ = go_near::other(own_);
  // A pass does not change the board.
  if (superko_ && situational_) history_.add(key_ ^ turn_key(own_), num_points_ - num_empty_);
}

template <int MaxSide>
template <unsigned kColour>
void GoPlayoutBoard<MaxSide>::play_empty(unsigned index, unsigned near, bool settles) noexcept {
  --plies_left_;
  passes_ = 0;
  ko_ = kNowhere;
  const auto [place, point] = list_[index];
  list_[index] = list_[--num_empty_];
  toggle(place, kColour);
  lead_ += kColour == 1 ? 1 : -1;
  // It joins the first friendly chain; without friends it becomes a chain of its own.
  open_[place] = size_[place] = 0;
  next_[place] = place;
  const unsigned friends = go_near::stones(near, kColour);
  const unsigned first = beside(place, friends);
  const unsigned head = head_[first];
  head_[place] = static_cast<std::uint16_t>(head);
  std::swap(next_[place], next_[first]);
  open_[head] = static_cast<std::uint16_t>(open_[head] + go_near::count(go_near::empties(near)));
  ++size_[head];
  for_sides(place, friends & (friends - 1), [&](unsigned p) { join(place, p); });
  if (superko_) key_ ^= stone_key(kColour, point);
  if (settles) settle(place, near);
  own_ = go_near::other(kColour);
  if (superko_) history_.add(key_ ^ turn_key(own_), num_points_ - num_empty_);
}

/// Removes the chains without liberties: the opponent's, or else the stone's own.
template <int MaxSide>
void GoPlayoutBoard<MaxSide>::settle(unsigned place, unsigned near) noexcept {
  unsigned taken = 0;
  unsigned last_taken = kNowhere;
  const unsigned other = go_near::other(own_);
  for_sides(place, go_near::stones(near, other), [&](unsigned p) {
    if (open_of(p) != 0) return;
    taken += take_off(p, other);
    last_taken = p;
  });
  if (open_of(place) == 0) {
    take_off(place, own_);
  } else if (taken == 1 && open_of(place) == 1 && go_near::stones(near, own_) == 0) {
    ko_ = last_taken;
  }
}

/// The smaller chain is renamed.
template <int MaxSide>
void GoPlayoutBoard<MaxSide>::join(unsigned a, unsigned b) noexcept {
  unsigned larger = head_[a];
  unsigned smaller = head_[b];
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
unsigned GoPlayoutBoard<MaxSide>::take_off(unsigned stone, unsigned colour) noexcept {
  unsigned taken = 0;
  unsigned p = stone;
  do {
    const unsigned at = point(p);
    head_[p] = static_cast<std::uint16_t>(p);
    open_[p] = kNoChain;
    near_[p] |= colour << go_near::kTaken;
    if (superko_) key_ ^= stone_key(colour, at);
    list_[num_empty_++] = {static_cast<std::uint16_t>(p), static_cast<std::uint16_t>(at)};
    toggle(p, colour);
    give_sides(p);
    ++taken;
    p = next_[p];
  } while (p != stone);
  lead_ += (colour == 1 ? -1 : 1) * static_cast<int>(taken);
  return taken;
}

template <int MaxSide>
int GoPlayoutBoard<MaxSide>::margin() const noexcept {
  int margin = 0;
  std::array<bool, kPlaces> seen{};
  std::array<std::uint16_t, kPoints> region;  // NOLINT: written before it is read
  for (unsigned i = 0; i < num_empty_; ++i) {
    if (seen[list_[i].place]) continue;
    unsigned borders = 0;
    unsigned count = 0;
    const auto add = [&](unsigned place) {
      if (seen[place]) return;
      seen[place] = true;
      region[count++] = static_cast<std::uint16_t>(place);
    };
    add(list_[i].place);
    for (unsigned k = 0; k < count; ++k) {
      const unsigned near = near_[region[k]];
      for (const unsigned colour : {1U, 2U}) {
        if (go_near::stones(near, colour) != 0) borders |= colour;
      }
      for_sides(region[k], go_near::empties(near), add);
    }
    const int points = static_cast<int>(count);
    margin += borders == 1 ? points : borders == 2 ? -points : 0;
  }
  return margin + lead_;
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
