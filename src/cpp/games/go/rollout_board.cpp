#include "games/go/rollout_board.h"

#include <bit>
#include <utility>

namespace pyengine {

template <int MaxSide>
GoRolloutBoard<MaxSide>::GoRolloutBoard(const Grid& grid, const GoRolloutStrengths& strengths)
    : grid_(&grid), strengths_(&strengths) {
  colour_.fill(kBorder);
  for (Action point = 0; point < grid.rows * grid.columns; ++point) {
    colour_[grid.place(point)] = kEmpty;
  }
  for (Action point = 0; point < grid.rows * grid.columns; ++point) {
    const unsigned place = grid.place(point);
    unsigned pattern = 0;
    for (unsigned i = 0; i < 8; ++i) {
      pattern |= static_cast<unsigned>(colour_[moved(place, grid.around[i])]) << (2 * i);
    }
    pattern_[place] = static_cast<GoPattern>(pattern);
    empty_.set(place);
  }
  stale_ = {empty_, empty_};
}

template <int MaxSide>
void GoRolloutBoard<MaxSide>::set_up(const GoRolloutStart& start) {
  // Nothing is captured on the way: fewer stones leave more liberties.
  const auto put = [&](const BoardBits& stones, int player) {
    stones.for_each([&](int point) { place_stone(grid_->place(point), player); });
  };
  put(start.first, 0);
  put(start.second, 1);
  to_move_ = start.to_move;
  passes_ = start.passed ? 1 : 0;
  plies_left_ = start.plies_left;
  ko_ = start.ko == kNoAction ? kNowhere : grid_->place(start.ko);
  last_ = start.last == kNoAction ? kNowhere : grid_->place(start.last);
}

template <int MaxSide>
std::uint8_t GoRolloutBoard<MaxSide>::up_to_three(const Places& set) noexcept {
  unsigned count = 0;
  for (std::uint64_t word : set.words) {
    for (; word != 0 && count < 3; word &= word - 1) ++count;
  }
  return static_cast<std::uint8_t>(count);
}

template <int MaxSide>
unsigned GoRolloutBoard<MaxSide>::only_member(const Places& set) noexcept {
  unsigned w = 0;
  while (set.words[w] == 0) ++w;
  return w * 64 + static_cast<unsigned>(std::countr_zero(set.words[w]));
}

template <int MaxSide>
unsigned GoRolloutBoard<MaxSide>::tactics(unsigned place, int player) const noexcept {
  const unsigned own = colour_of(player);
  unsigned taken = 0;
  unsigned empty = 0;
  unsigned friends = 0;
  bool safe = false;  // whether a chain of the player has enough liberties
  unsigned features = 0;
  for (const int step : grid_->beside) {
    const unsigned there = moved(place, step);
    const unsigned colour = colour_[there];
    if (colour == kEmpty) ++empty;
    if (colour == kEmpty || colour == kBorder) continue;
    const unsigned head = head_[there];
    const unsigned liberties = liberties_[head];
    if (colour == own) {
      ++friends;
      safe = safe || liberties >= 3;
      if (liberties == 1) features |= kEscape;
    } else if (liberties == 1) {
      taken += size_[head];  // a single stone is counted once, so 1 is exact
    } else if (liberties == 2) {
      features |= kAtari;
    }
  }
  if (taken != 0) return features | (taken == 1 ? kCaptureStone : kCaptureChain);
  if (safe || empty >= 2) return features;
  const unsigned left = friends == 0 ? empty : liberties_after(place, own);
  if (left == 0) return kGoNever;
  if (left > 1) return features;
  features &= ~static_cast<unsigned>(kEscape);
  return features | (friends != 0 ? kSelfAtariChain : kSelfAtariStone);
}

template <int MaxSide>
unsigned GoRolloutBoard<MaxSide>::liberties_after(unsigned place, unsigned own) const noexcept {
  Places open;
  for (const int step : grid_->beside) {
    const unsigned there = moved(place, step);
    if (colour_[there] == kEmpty) open.set(there);
    if (colour_[there] == own) open |= open_[head_[there]];
  }
  open.reset(place);
  return up_to_three(open);
}

template <int MaxSide>
void GoRolloutBoard<MaxSide>::refresh() noexcept {
  const auto mover = static_cast<unsigned>(to_move_);
  const Places stale = stale_[mover] & empty_;
  (stale - tight_).for_each([&](unsigned place) {
    set_strength(mover, place, strengths_->of_quiet_point(seen(place, to_move_)));
  });
  (stale & tight_).for_each([&](unsigned place) {
    const unsigned features = tactics(place, to_move_);
    const GoPattern pattern = seen(place, to_move_);
    set_strength(mover, place, features == kGoNever ? 0 : strengths_->of_point(pattern, features));
    if (!beside_tight_chain(place)) tight_.reset(place);
  });
  stale_[mover] = {};
}

template <int MaxSide>
bool GoRolloutBoard<MaxSide>::beside_tight_chain(unsigned place) const noexcept {
  for (const int step : grid_->beside) {
    const unsigned there = moved(place, step);
    const unsigned colour = colour_[there];
    if (colour != kEmpty && colour != kBorder && liberties_[head_[there]] <= 2) return true;
  }
  return false;
}

template <int MaxSide>
void GoRolloutBoard<MaxSide>::Answers::add(unsigned place, unsigned feature) noexcept {
  for (unsigned i = 0; i < count; ++i) {
    if (list[i].place != place) continue;
    list[i].features = static_cast<std::uint16_t>(list[i].features | feature);
    return;
  }
  list[count++] = {static_cast<std::uint16_t>(place), static_cast<std::uint16_t>(feature)};
  places.set(place);
}

template <int MaxSide>
void GoRolloutBoard<MaxSide>::find_answers(Answers& answers) const noexcept {
  answers.count = 0;
  answers.places = {};
  if (last_ != kNowhere) {
    answers.places = grid_->near[last_] & empty_;
    answers.places.for_each([&](unsigned place) {
      answers.list[answers.count++] = {static_cast<std::uint16_t>(place),
                                       grid_->answer_features(last_, place)};
    });
    const unsigned threat = head_[last_];
    if (liberties_[threat] == 1) answers.add(only_member(open_[threat]), kRetake);
    const unsigned own = colour_of(to_move_);
    for (const int step : grid_->beside) {
      const unsigned there = moved(last_, step);
      if (colour_[there] == own && liberties_[head_[there]] == 1) find_defences(there, answers);
    }
  }
  if (ko_ != kNowhere) answers.add(ko_, 0);  // its strength as an answer is 0
}

template <int MaxSide>
void GoRolloutBoard<MaxSide>::find_defences(unsigned place, Answers& answers) const noexcept {
  answers.add(only_member(open_[head_[place]]), kExtend);
  const unsigned opponent = opposite(colour_of(to_move_));
  unsigned stone = place;
  do {
    for (const int step : grid_->beside) {
      const unsigned there = moved(stone, step);
      if (colour_[there] != opponent || liberties_[head_[there]] != 1) continue;
      answers.add(only_member(open_[head_[there]]), kRescue);
    }
    stone = next_[stone];
  } while (stone != place);
}

template <int MaxSide>
std::uint64_t GoRolloutBoard<MaxSide>::answer_strength(const Answer& answer) const noexcept {
  if (answer.place == ko_) return 0;
  const std::uint32_t strength = strength_[static_cast<unsigned>(to_move_)][answer.place];
  return strengths_->near_last(strength, seen(answer.place, to_move_), answer.features);
}

template <int MaxSide>
unsigned GoRolloutBoard<MaxSide>::place_at(std::uint64_t sum) const noexcept {
  const auto mover = static_cast<unsigned>(to_move_);
  unsigned segment = 0;
  for (; sum >= sums_[mover][segment]; ++segment) sum -= sums_[mover][segment];
  unsigned place = segment * kSegment;
  for (; sum >= strength_[mover][place]; ++place) sum -= strength_[mover][place];
  return place;
}

/// Answers to the last move have separate strengths; the sums over the board apply to all other
/// points. A draw from the combined distribution is repeated if it falls on an answer's part of the
/// sums.
template <int MaxSide>
Action GoRolloutBoard<MaxSide>::draw(Rng& rng) noexcept {
  refresh();
  Answers answers;
  find_answers(answers);
  const auto mover = static_cast<unsigned>(to_move_);
  std::uint64_t elsewhere = total_[mover];
  std::uint64_t here = 0;
  std::array<std::uint64_t, kPlaces> running;  // parallel to answers.list
  for (unsigned i = 0; i < answers.count; ++i) {
    elsewhere -= strength_[mover][answers.list[i].place];
    here += answer_strength(answers.list[i]);
    running[i] = here;
  }
  if (here + elsewhere == 0) return kNoAction;
  for (int tries = 0; tries < kTries; ++tries) {
    const std::uint64_t drawn = multiply_wide(rng.next(), here + total_[mover]).high;
    if (drawn < here) {
      unsigned i = 0;
      while (drawn >= running[i]) ++i;
      return grid_->point(answers.list[i].place);
    }
    const unsigned place = place_at(drawn - here);
    if (!answers.places.test(place)) return grid_->point(place);
  }
  return draw_exactly(multiply_wide(rng.next(), here + elsewhere).high, answers);
}

template <int MaxSide>
Action GoRolloutBoard<MaxSide>::draw_exactly(std::uint64_t drawn,
                                             const Answers& answers) const noexcept {
  for (unsigned i = 0; i < answers.count; ++i) {
    const std::uint64_t strength = answer_strength(answers.list[i]);
    if (drawn < strength) return grid_->point(answers.list[i].place);
    drawn -= strength;
  }
  const auto mover = static_cast<unsigned>(to_move_);
  unsigned place = 0;
  for (;; ++place) {
    if (strength_[mover][place] == 0 || answers.places.test(place)) continue;
    if (drawn < strength_[mover][place]) return grid_->point(place);
    drawn -= strength_[mover][place];
  }
}

template <int MaxSide>
int GoRolloutBoard<MaxSide>::moves(std::span<GoRolloutMove> found,
                                   std::span<std::uint64_t> strengths) noexcept {
  refresh();
  Answers answers;
  find_answers(answers);
  std::size_t count = 0;
  for (Action point = 0; point < grid_->rows * grid_->columns; ++point) {
    const unsigned place = grid_->place(point);
    if (strength_[static_cast<unsigned>(to_move_)][place] == 0 || place == ko_) continue;
    Answer own{static_cast<std::uint16_t>(place), 0};
    for (unsigned i = 0; i < answers.count; ++i) {
      if (answers.list[i].place == place) own = answers.list[i];
    }
    const auto features = static_cast<std::uint16_t>(own.features | tactics(place, to_move_));
    found[count] = {point, seen(place, to_move_), features};
    strengths[count++] = answer_strength(own);
  }
  return static_cast<int>(count);
}

template <int MaxSide>
void GoRolloutBoard<MaxSide>::play(Action point) noexcept {
  --plies_left_;
  ko_ = kNowhere;
  last_ = kNowhere;
  if (point == kNoAction) {
    ++passes_;
  } else {
    passes_ = 0;
    last_ = grid_->place(point);
    place_stone(last_, to_move_);
  }
  to_move_ = 1 - to_move_;
}

template <int MaxSide>
void GoRolloutBoard<MaxSide>::colour(unsigned place, unsigned before, unsigned after) noexcept {
  colour_[place] = static_cast<std::uint8_t>(after);
  changed_ |= grid_->block[place];
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned there = moved(place, grid_->around[i]);
    // From there, the place lies in the opposite direction.
    pattern_[there] = static_cast<GoPattern>(pattern_[there] ^ ((before ^ after) << (2 * (7 - i))));
  }
}

template <int MaxSide>
void GoRolloutBoard<MaxSide>::place_stone(unsigned place, int player) noexcept {
  changed_ = {};
  const unsigned own = colour_of(player);
  colour(place, kEmpty, own);
  empty_.reset(place);
  set_strength(0, place, 0);
  set_strength(1, place, 0);
  head_[place] = next_[place] = static_cast<std::uint16_t>(place);
  size_[place] = 1;
  unsigned head = place;
  unsigned taken = 0;
  unsigned last_taken = kNowhere;
  Places open;
  for (const int step : grid_->beside) {
    const unsigned there = moved(place, step);
    if (colour_[there] == kEmpty) open.set(there);
  }
  open_[place] = open;
  liberties_[place] = up_to_three(open);
  for (const int step : grid_->beside) {
    const unsigned there = moved(place, step);
    if (colour_[there] == kBorder || colour_[there] == kEmpty) continue;
    const unsigned other = head_[there];
    if (colour_[there] == own) {
      if (other != head) join(head, other);
      continue;
    }
    open_[other].reset(place);
    liberties_[other] = up_to_three(open_[other]);
    note_liberties(other);
    if (liberties_[other] != 0) continue;
    last_taken = there;
    taken += take_off(other);
  }
  open_[head].reset(place);
  liberties_[head] = up_to_three(open_[head]);
  note_liberties(head);
  ko_ = taken == 1 && size_[head] == 1 && liberties_[head] == 1 ? last_taken : kNowhere;
  stale_[0] |= changed_;
  stale_[1] |= changed_;
}

template <int MaxSide>
void GoRolloutBoard<MaxSide>::join(unsigned& head, unsigned other) noexcept {
  note_liberties(other);
  unsigned larger = other;
  unsigned smaller = head;
  if (size_[smaller] > size_[larger]) std::swap(larger, smaller);
  unsigned stone = smaller;
  do {
    head_[stone] = static_cast<std::uint16_t>(larger);
    stone = next_[stone];
  } while (stone != smaller);
  std::swap(next_[larger], next_[smaller]);
  size_[larger] = static_cast<std::uint16_t>(size_[larger] + size_[smaller]);
  open_[larger] |= open_[smaller];
  head = larger;
}

template <int MaxSide>
unsigned GoRolloutBoard<MaxSide>::take_off(unsigned head) noexcept {
  const unsigned own = colour_[head];
  const unsigned count = size_[head];
  unsigned stone = head;
  do {
    const unsigned following = next_[stone];
    colour(stone, own, kEmpty);
    empty_.set(stone);
    for (const int step : grid_->beside) {
      const unsigned there = moved(stone, step);
      if (colour_[there] != opposite(own)) continue;
      const unsigned other = head_[there];
      note_liberties(other);
      open_[other].set(stone);
      liberties_[other] = up_to_three(open_[other]);
      note_liberties(other);
    }
    stone = following;
  } while (stone != head);
  return count;
}

template <int MaxSide>
int GoRolloutBoard<MaxSide>::margin() const noexcept {
  constexpr unsigned kFirst = 1U << colour_of(0);
  constexpr unsigned kSecond = 1U << colour_of(1);
  int margin = 0;
  Places visited;
  std::array<std::uint16_t, kPlaces> region;  // NOLINT: written before it is read
  for (Action point = 0; point < grid_->rows * grid_->columns; ++point) {
    const unsigned place = grid_->place(point);
    if (colour_[place] != kEmpty) {
      margin += colour_[place] == colour_of(0) ? 1 : -1;
      continue;
    }
    if (visited.test(place)) continue;
    unsigned borders = 0;  // bits of the adjacent colours
    unsigned count = 0;
    region[count++] = static_cast<std::uint16_t>(place);
    visited.set(place);
    for (unsigned i = 0; i < count; ++i) {
      for (const int step : grid_->beside) {
        const unsigned there = moved(region[i], step);
        if (colour_[there] != kEmpty) {
          borders |= 1U << colour_[there];
        } else if (!visited.test(there)) {
          visited.set(there);
          region[count++] = static_cast<std::uint16_t>(there);
        }
      }
    }
    borders &= kFirst | kSecond;
    if (borders == kFirst) margin += static_cast<int>(count);
    if (borders == kSecond) margin -= static_cast<int>(count);
  }
  return margin;
}

template class GoRolloutBoard<9>;
template class GoRolloutBoard<13>;
template class GoRolloutBoard<19>;

}  // namespace pyengine
