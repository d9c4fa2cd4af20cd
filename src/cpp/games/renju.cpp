#include "games/renju.h"

#include <bit>
#include <cstring>

namespace pyengine {
namespace {

struct Step {
  int row;
  int column;
};
constexpr std::array<Step, 4> kSteps = {{{0, 1}, {1, 0}, {1, 1}, {1, -1}}};

/// `size` bits of a board from `start`.
std::uint32_t row_of(const BoardBits& bits, int start, int size) noexcept {
  const auto word = static_cast<unsigned>(start) / 64;
  const auto shift = static_cast<unsigned>(start) % 64;
  std::uint64_t row = bits.words[word] >> shift;
  if (shift + static_cast<unsigned>(size) > 64) row |= bits.words[word + 1] << (64 - shift);
  return static_cast<std::uint32_t>(row & ((std::uint64_t{1} << size) - 1));
}

int ones_from(unsigned bits, int lowest) noexcept { return std::countr_one(bits >> lowest); }

/// Ones from bit `highest` downwards; none for -1.
int ones_down_from(unsigned bits, int highest) noexcept {
  return highest < 0 ? 0 : std::countl_one(static_cast<std::uint32_t>(bits) << (31 - highest));
}

/// Whether the middle and at least two of the six adjacent points are stones, a necessary condition
/// for any foul on a line (see RenjuBoard::crowded).
bool has_three_near(unsigned line) noexcept {
  const unsigned nearby = line & 0b00111111100U;
  const unsigned without_one = nearby & (nearby - 1);
  return (without_one & (without_one - 1)) != 0;
}

bool has(unsigned bits, int i) noexcept { return i >= 0 && ((bits >> i) & 1U) != 0; }

}  // namespace

RenjuBoard::RenjuBoard(int size, const BoardBits& black, const BoardBits& white) noexcept
    : size_(size) {
  const std::uint32_t board = (std::uint32_t{1} << size) - 1;
  for (int row = 0; row < size; ++row) {
    const std::uint32_t own = row_of(black, row * size, size);
    const std::uint32_t other = row_of(white, row * size, size);
    const auto r = static_cast<std::size_t>(row + kReach);
    black_[r] = own << kReach;
    empty_[r] = (board & ~(own | other)) << kReach;
  }
}

// Lines. The stone in the middle is black; a row is the run of black stones through it. Ends of a
// five are never out of reach: a stone beyond would make the row six or longer.

int RenjuBoard::length(Line line) noexcept {
  return ones_from(line.black, kReach) + ones_down_from(line.black, kReach) - 1;
}

/// Whether a stone on the first point below the row makes exactly five.
bool RenjuBoard::makes_five_below(Line line) noexcept {
  const int end = kReach - ones_down_from(line.black, kReach);
  return has(line.empty, end) && length(line) + 1 + ones_down_from(line.black, end - 1) == 5;
}

bool RenjuBoard::makes_five_above(Line line) noexcept {
  const int end = kReach + ones_from(line.black, kReach);
  return has(line.empty, end) && length(line) + 1 + ones_from(line.black, end + 1) == 5;
}

bool RenjuBoard::is_straight_four(Line line) noexcept {
  return length(line) == 4 && makes_five_below(line) && makes_five_above(line);
}

/// There can be two fours on one line (B_BBB_B); a straight four counts as one.
int RenjuBoard::count_fours(Line line) noexcept {
  const int fives = int{makes_five_below(line)} + int{makes_five_above(line)};
  return fives == 2 && length(line) == 4 ? 1 : fives;
}

/// The points of the line where another stone makes a straight four.
unsigned RenjuBoard::straight_four_makers(Line line) noexcept {
  unsigned makers = 0;
  for (const int end :
       {kReach - ones_down_from(line.black, kReach), kReach + ones_from(line.black, kReach)}) {
    if (!has(line.empty, end)) continue;
    const unsigned stone = 1U << end;
    if (is_straight_four({line.black | stone, line.empty & ~stone})) makers |= stone;
  }
  return makers;
}

// Points.

unsigned RenjuBoard::gather(const Rows& rows, Place place, int direction) noexcept {
  const Step step = kSteps[static_cast<std::size_t>(direction)];
  const int first_row = place.row + kReach - kReach * step.row;
  const int first_column = place.column + kReach - kReach * step.column;
  unsigned bits = 0;
  for (int i = 0; i <= 2 * kReach; ++i) {
    const std::uint32_t row = rows[static_cast<std::size_t>(first_row + i * step.row)];
    bits |= ((row >> (first_column + i * step.column)) & 1U) << i;
  }
  return bits;
}

void RenjuBoard::put(Place place) noexcept {
  black_[static_cast<std::size_t>(place.row + kReach)] |= 1U << (place.column + kReach);
  empty_[static_cast<std::size_t>(place.row + kReach)] &= ~(1U << (place.column + kReach));
}

void RenjuBoard::take(Place place) noexcept {
  black_[static_cast<std::size_t>(place.row + kReach)] &= ~(1U << (place.column + kReach));
  empty_[static_cast<std::size_t>(place.row + kReach)] |= 1U << (place.column + kReach);
}

RenjuMove RenjuBoard::classify(int point) noexcept {
  return classify(Place{point / size_, point % size_});
}

RenjuMove RenjuBoard::classify(Place place) noexcept {
  put(place);
  const RenjuMove move = classify_stone(place);
  take(place);
  return move;
}

RenjuMove RenjuBoard::classify_stone(Place place) noexcept {
  std::array<unsigned, kSteps.size()> makers{};
  int longest = 0;
  int fours = 0;
  int threes = 0;
  for (std::size_t d = 0; d < kSteps.size(); ++d) {
    Line line{.black = gather(black_, place, static_cast<int>(d))};
    if (!has_three_near(line.black)) continue;
    line.empty = gather(empty_, place, static_cast<int>(d));
    const int stones = length(line);
    if (stones == 5) return RenjuMove::five;
    longest = stones > longest ? stones : longest;
    fours += count_fours(line);
    makers[d] = straight_four_makers(line);
    threes += makers[d] != 0 ? 1 : 0;
  }
  if (longest > 5) return RenjuMove::overline;
  if (fours >= 2) return RenjuMove::double_four;
  for (std::size_t d = 0; d < kSteps.size() && threes >= 2; ++d) {
    if (makers[d] != 0 && !is_three(place, static_cast<int>(d), makers[d])) --threes;
  }
  return threes >= 2 ? RenjuMove::double_three : RenjuMove::plain;
}

/// A three counts only if Black may make the straight four: without a foul and without making five.
bool RenjuBoard::is_three(Place place, int direction, unsigned makers) noexcept {
  const Step step = kSteps[static_cast<std::size_t>(direction)];
  for (; makers != 0; makers &= makers - 1) {
    const int i = std::countr_zero(makers) - kReach;
    const Place next{place.row + i * step.row, place.column + i * step.column};
    if (classify(next) == RenjuMove::plain) return true;
  }
  return false;
}

// Boards.

/// A double three needs two other stones within three points on each of two lines; a double four
/// needs that or three on one line; an overline needs three on one line.
std::uint64_t RenjuBoard::crowded(int row) const noexcept {
  std::uint64_t two_somewhere = 0;
  std::uint64_t enough = 0;
  for (const Step step : kSteps) {
    std::uint64_t one = 0;
    std::uint64_t two = 0;
    for (int i = -3; i <= 3; ++i) {
      if (i == 0) continue;
      std::uint64_t stones = 0;  // two rows at a time: the margin keeps shifted bits apart
      std::memcpy(&stones, &black_[static_cast<std::size_t>(row + kReach + i * step.row)],
                  sizeof stones);
      const int shift = i * step.column;
      stones = shift >= 0 ? stones >> shift : stones << -shift;
      enough |= two & stones;
      two |= one & stones;
      one |= stones;
    }
    enough |= two_somewhere & two;
    two_somewhere |= two;
  }
  return enough;
}

BoardBits RenjuBoard::forbidden_points() noexcept {
  BoardBits forbidden;
  for (int row = 0; row < size_; row += 2) {
    const std::uint64_t pair = crowded(row);
    std::array<std::uint32_t, 2> candidates{};
    std::memcpy(candidates.data(), &pair, sizeof pair);
    for (int r = row; r < row + 2; ++r) {
      const std::uint32_t empty = empty_[static_cast<std::size_t>(r + kReach)];
      std::uint32_t rest = candidates[static_cast<std::size_t>(r - row)] & empty;
      for (; rest != 0; rest &= rest - 1) {
        const Place place{r, std::countr_zero(rest) - kReach};
        if (is_forbidden(classify(place))) forbidden.set(place.row * size_ + place.column);
      }
    }
  }
  return forbidden;
}

bool RenjuBoard::black_can_move() noexcept {
  for (int row = 0; row < size_; ++row) {
    std::uint32_t rest = empty_[static_cast<std::size_t>(row + kReach)];
    for (; rest != 0; rest &= rest - 1) {
      if (!is_forbidden(classify(Place{row, std::countr_zero(rest) - kReach}))) return true;
    }
  }
  return false;
}

}  // namespace pyengine
