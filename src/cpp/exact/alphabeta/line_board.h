/// Boards of k-in-a-row games. Rows are stored consecutively with an empty point after each, so a
/// line never wraps around the edge.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/types.h"
#include "exact/alphabeta/point_set.h"

namespace pyengine::alphabeta {

/// The size of a board and the number of stones in a row that wins; more stones win too.
struct LineGame {
  int rows = 0;
  int columns = 0;
  int length = 0;
};

template <std::size_t kWords>
class LineBoard {
 public:
  using Points = PointSet<kWords>;
  /// One number per bit of Points.
  using Weights = std::array<int, static_cast<std::size_t>(Points::kBits)>;

  [[nodiscard]] static constexpr bool fits(const LineGame& game) noexcept {
    return game.rows * (game.columns + 1) <= Points::kBits;
  }

  /// Requires fits(game) and a length of 1 to kMaxSide.
  explicit LineBoard(const LineGame& game)
      : columns_(game.columns),
        length_(game.length),
        steps_{1, game.columns, game.columns + 1, game.columns + 2} {
    for (Action point = 0; point < game.rows * columns_; ++point) all_ |= Points::of(bit_of(point));
    list_lines();
    const int symmetries = game.rows == columns_ ? 8 : 4;
    for (int s = 1; s < symmetries; ++s) turns_.push_back(turn(game.rows, s));
  }

  [[nodiscard]] const Points& all() const noexcept { return all_; }
  [[nodiscard]] int bit_of(Action point) const noexcept {
    return point / columns_ * (columns_ + 1) + point % columns_;
  }
  [[nodiscard]] Action point_of(int bit) const noexcept {
    return bit / (columns_ + 1) * columns_ + bit % (columns_ + 1);
  }
  [[nodiscard]] Points points_of(const BoardBits& stones) const {
    Points found;
    stones.for_each([&](Action point) { found |= Points::of(bit_of(point)); });
    return found;
  }

  [[nodiscard]] bool has_line(const Points& stones) const noexcept {
    return std::any_of(steps_.begin(), steps_.end(), [&](int step) {
      Points run = stones;
      for (int i = 1; i < length_ && run.any(); ++i) run &= stones >> (step * i);
      return run.any();
    });
  }
  /// Points, empty or not, that complete a line of `stones`.
  [[nodiscard]] Points completing(const Points& stones) const noexcept {
    Points found;
    for (const int step : steps_) {
      // ahead[i]: points followed by i stones in a row; behind[i]: points preceded by i.
      std::array<Points, kMaxSide> ahead;
      ahead[0] = all_;
      for (int i = 1; i < length_; ++i) {
        ahead[at(i)] = ahead[at(i - 1)] & (stones >> (step * i));
      }
      Points behind = all_;
      for (int i = 0; i < length_ && behind.any(); ++i) {
        if (i > 0) behind &= stones << (step * i);
        found |= behind & ahead[at(length_ - 1 - i)];
      }
    }
    return found;
  }

  /// The potential of `own`, in units of 2^-length: each line without a stone of `other` adds 2^-n,
  /// where n is the number of missing points.
  [[nodiscard]] std::uint64_t potential(const Points& own, const Points& other) const noexcept {
    std::uint64_t sum = 0;
    for (const Points& line : lines_) {
      if (!(line & other).any()) sum += std::uint64_t{1} << (line & own).count();
    }
    return sum;
  }
  /// The player to move cannot win if his potential is below this; the other player cannot if it is
  /// below twice this [Erdos and Selfridge, "On a combinatorial game", 1973].
  [[nodiscard]] std::uint64_t least_potential() const noexcept {
    return std::uint64_t{1} << (length_ - 1);
  }
  /// The weight of each empty point: the lines through it that one of the players can still
  /// complete.
  void weigh(const Points& first, const Points& second, Weights& weights) const noexcept {
    weights.fill(0);
    for (const Points& line : lines_) {
      const Points mine = line & first;
      const Points others = line & second;
      if (mine.any() && others.any()) continue;
      const Points stones = mine | others;
      const int weight = 1 << std::min(2 * stones.count(), kMostWeight);
      for (Points rest = line - stones; rest.any(); rest = rest.rest()) {
        weights[at(rest.first())] += weight;
      }
    }
  }

  /// The symmetries of the board, except the identity.
  [[nodiscard]] int turns() const noexcept { return static_cast<int>(turns_.size()); }
  [[nodiscard]] Points turned(const Points& points, int t) const noexcept {
    Points found;
    for (Points rest = points; rest.any(); rest = rest.rest()) {
      found |= Points::of(turns_[at(t)].to[at(rest.first())]);
    }
    return found;
  }
  /// Where a symmetry moves each point, and which point it moves here.
  [[nodiscard]] Action turned(Action point, int t) const noexcept {
    return point_of(turns_[at(t)].to[at(bit_of(point))]);
  }
  [[nodiscard]] Action turned_back(Action point, int t) const noexcept {
    return point_of(turns_[at(t)].from[at(bit_of(point))]);
  }

 private:
  static constexpr int kMostWeight = 10;  ///< log2 of the weight of a line

  /// Indexed by bit.
  struct Turn {
    std::array<std::uint16_t, static_cast<std::size_t>(Points::kBits)> to{};
    std::array<std::uint16_t, static_cast<std::size_t>(Points::kBits)> from{};
  };

  [[nodiscard]] static constexpr std::size_t at(int i) noexcept {
    return static_cast<std::size_t>(i);
  }

  void list_lines() {
    for (const int step : steps_) {
      for (Points rest = all_; rest.any(); rest = rest.rest()) {
        Points line;
        for (int i = 0; i < length_; ++i) line |= Points::of(rest.first()) << (step * i);
        if ((line & all_).count() == length_) lines_.push_back(line);
      }
      if (length_ == 1) return;
    }
  }
  /// Bits 0 to 2 of `s`: reverse rows, reverse columns, transpose.
  [[nodiscard]] Turn turn(int rows, int s) const noexcept {
    Turn made;
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns_; ++column) {
        int r = (s & 1) != 0 ? rows - 1 - row : row;
        int c = (s & 2) != 0 ? columns_ - 1 - column : column;
        if ((s & 4) != 0) std::swap(r, c);
        const int here = row * (columns_ + 1) + column;
        const int there = r * (columns_ + 1) + c;
        made.to[at(here)] = static_cast<std::uint16_t>(there);
        made.from[at(there)] = static_cast<std::uint16_t>(here);
      }
    }
    return made;
  }

  int columns_;
  int length_;
  std::array<int, 4> steps_;
  Points all_;
  std::vector<Points> lines_;
  std::vector<Turn> turns_;
};

}  // namespace pyengine::alphabeta
