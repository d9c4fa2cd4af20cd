// Solves Connect Four positions (6 rows, 7 columns) to measure players; the engine does not use it.
// Reads lines such as "4453 1": the columns played, 1 to 7, and the question about the player to
// move, 1 = can win, 0 = can at least draw. Prints 1 or 0.
//
// The search is alpha-beta with two values: the mover wins if after some move the opponent cannot
// draw, and draws if the opponent cannot win. The bitboards, with an empty cell on top of each
// column, and the move ordering by threats follow Pascal Pons' tutorial and John Tromp's
// Fhourstones.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace {

using Bits = std::uint64_t;

constexpr int kRows = 6;
constexpr int kColumns = 7;
constexpr int kStride = kRows + 1;  // bits per column
constexpr int kCells = kRows * kColumns;

constexpr Bits column_bits(int column) { return ((Bits{1} << kRows) - 1) << (kStride * column); }

constexpr Bits bottom_bits() {
  Bits bits = 0;
  for (int column = 0; column < kColumns; ++column) bits |= Bits{1} << (kStride * column);
  return bits;
}

constexpr Bits kBottom = bottom_bits();
constexpr Bits kBoard = kBottom * ((Bits{1} << kRows) - 1);

/// Cells, empty or not, that would complete four in a row of these stones.
Bits completing(Bits stones) {
  Bits found = (stones << 1) & (stones << 2) & (stones << 3);  // upwards
  for (const int step : {kStride, kStride - 1, kStride + 1}) {
    const Bits right = (stones << step) & (stones << (2 * step));
    const Bits left = (stones >> step) & (stones >> (2 * step));
    found |= right & (stones << (3 * step));
    found |= right & (stones >> step);
    found |= left & (stones >> (3 * step));
    found |= left & (stones << step);
  }
  return found & kBoard;
}

struct Position {
  Bits own = 0;  ///< stones of the player to move
  Bits all = 0;
  int plies = 0;

  Bits playable() const { return (all + kBottom) & kBoard; }
  Bits wins() const { return completing(own) & playable(); }

  Position after(Bits move) const { return {own ^ all, all | move, plies + 1}; }

  /// A unique key, except that mirrored positions share one.
  Bits key() const {
    const Bits here = own + all;
    Bits there = 0;
    for (int column = 0; column < kColumns; ++column) {
      const Bits cells = (here >> (kStride * column)) & ((Bits{1} << kStride) - 1);
      there |= cells << (kStride * (kColumns - 1 - column));
    }
    return here < there ? here : there;
  }

  /// Moves that leave the opponent no win in one.
  Bits safe() const {
    const Bits open = playable();
    const Bits threats = completing(own ^ all) & ~all;
    const Bits forced = open & threats;
    if (std::popcount(forced) > 1) return 0;
    return (forced != 0 ? forced : open) & ~(threats >> 1);
  }
};

/// A cache of answers: a key of 49 bits and, per question, whether it is known and its answer.
class Table {
 public:
  Table() : entries_(kSize, 0) {}

  /// 1 or 0, -1 if unknown.
  int find(Bits key, bool win) const {
    const Bits entry = entries_[key % kSize];
    if (entry >> kFlags != key || ((entry >> (2 * win)) & 1) == 0) return -1;
    return static_cast<int>((entry >> (2 * win + 1)) & 1);
  }

  void add(Bits key, bool win, bool answer) {
    Bits& entry = entries_[key % kSize];
    if (entry >> kFlags != key) entry = key << kFlags;
    entry |= Bits{answer ? 3U : 1U} << (2 * win);
  }

 private:
  static constexpr std::size_t kSize = 8'388'593;  // a prime: 64 MiB
  static constexpr int kFlags = 4;
  std::vector<Bits> entries_;
};

/// Moves ordered by the number of winning cells they create, then by distance to the middle.
class Ordered {
 public:
  Ordered(const Position& position, Bits moves) {
    for (const int column : {3, 2, 4, 1, 5, 0, 6}) {
      const Bits move = moves & column_bits(column);
      if (move == 0) continue;
      const Bits open = ~(position.all | move);
      insert({std::popcount(completing(position.own | move) & open), move});
    }
  }

  auto begin() const { return moves_.begin(); }
  auto end() const { return moves_.begin() + size_; }

 private:
  using Scored = std::pair<int, Bits>;

  void insert(Scored move) {
    int at = size_++;
    for (; at > 0 && moves_[at - 1].first < move.first; --at) moves_[at] = moves_[at - 1];
    moves_[at] = move;
  }

  std::array<Scored, kColumns> moves_{};
  int size_ = 0;
};

/// Whether the mover can win, or with win = false at least draw.
bool reaches(const Position& position, bool win, Table& table) {
  if (position.wins() != 0) return true;
  if (position.plies == kCells) return !win;
  const Bits moves = position.safe();
  if (moves == 0) return false;
  if (position.plies >= kCells - 2) return !win;
  const Bits key = position.key();
  if (const int known = table.find(key, win); known >= 0) return known != 0;
  bool found = false;
  for (const auto& [score, move] : Ordered(position, moves)) {
    if (reaches(position.after(move), !win, table)) continue;
    found = true;
    break;
  }
  table.add(key, win, found);
  return found;
}

/// Plays columns "1" to "7". Returns false if a move is illegal or ends the game.
bool play(const std::string& columns, Position& position) {
  for (const char name : columns) {
    if (name < '1' || name > '7') return false;
    const Bits move = position.playable() & column_bits(name - '1');
    if (move == 0 || (move & position.wins()) != 0) return false;
    position = position.after(move);
  }
  return true;
}

}  // namespace

int main() {
  Table table;
  std::string columns;
  int win = 0;
  while (std::cin >> columns >> win) {
    Position position;
    if (columns == "-") columns.clear();
    if (!play(columns, position)) {
      std::cout << "expected the moves of an open game, got " << columns << std::endl;
      return 1;
    }
    std::cout << (reaches(position, win != 0, table) ? 1 : 0) << std::endl;
  }
  return 0;
}
