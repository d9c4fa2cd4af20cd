#include "eval/network/gomoku_features.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pyengine {
namespace {

struct Step {
  int row;
  int column;
  friend bool operator==(const Step&, const Step&) = default;
};
/// n, ne, e, se, s, sw, w, nw: the order of blocked_n ... blocked_nw.
constexpr std::array<Step, 8> kCompass = {
    {{-1, 0}, {-1, 1}, {0, 1}, {1, 1}, {1, 0}, {1, -1}, {0, -1}, {-1, -1}}};
/// line_vertical ... line_antidiagonal.
constexpr std::array<Step, 4> kLines = {{{1, 0}, {0, 1}, {1, 1}, {1, -1}}};
constexpr int kRadius = 3;  ///< of the 7x7 square

/// The board with a border, so that neighbours need no bounds checks.
class Cells {
 public:
  enum : signed char { kEmpty = 0, kFirst = 1, kSecond = 2, kEdge = 3 };
  explicit Cells(const GomokuBoard& board)
      : columns_(board.columns),
        stride_(board.columns + 2),
        cells_(static_cast<std::size_t>(stride_ * (board.rows + 2)), kEdge) {
    for (int r = 0; r < board.rows; ++r) {
      std::fill_n(cells_.begin() + at(r, 0), board.columns, kEmpty);
    }
    board.first.for_each([&](int p) { cell(p) = kFirst; });
    board.second.for_each([&](int p) { cell(p) = kSecond; });
  }
  [[nodiscard]] int at(int row, int column) const { return (row + 1) * stride_ + column + 1; }
  [[nodiscard]] int offset(Step step) const { return step.row * stride_ + step.column; }
  [[nodiscard]] signed char operator[](int i) const { return cells_[static_cast<std::size_t>(i)]; }

 private:
  signed char& cell(int point) {
    return cells_[static_cast<std::size_t>(at(point / columns_, point % columns_))];
  }
  int columns_;
  int stride_;
  std::vector<signed char> cells_;
};

int run_length(const Cells& cells, int at, int step) {
  int length = 1;
  for (int i = at + step; cells[i] == cells[at]; i += step) ++length;
  for (int i = at - step; cells[i] == cells[at]; i -= step) ++length;
  return length;
}

/// Number of stones in the 7x7 square around each point: sums along rows, then along columns.
std::vector<int> near_counts(const BoardBits& stones, int rows, int columns) {
  const auto points = static_cast<std::size_t>(rows * columns);
  std::vector<int> along(points, 0);
  stones.for_each([&](int p) {
    const int row = p / columns;
    const int column = p % columns;
    const int end = std::min(columns - 1, column + kRadius);
    for (int c = std::max(0, column - kRadius); c <= end; ++c) {
      ++along[static_cast<std::size_t>(row * columns + c)];
    }
  });
  std::vector<int> total(points, 0);
  for (int r = 0; r < rows; ++r) {
    const int end = std::min(rows - 1, r + kRadius);
    for (int near = std::max(0, r - kRadius); near <= end; ++near) {
      for (int c = 0; c < columns; ++c) {
        total[static_cast<std::size_t>(r * columns + c)] +=
            along[static_cast<std::size_t>(near * columns + c)];
      }
    }
  }
  return total;
}

float distance(const GomokuBoard& board) {
  if (board.last == kNoAction || board.previous == kNoAction) return -1.0F;
  const int rows = board.last / board.columns - board.previous / board.columns;
  const int columns = board.last % board.columns - board.previous % board.columns;
  return static_cast<float>(std::sqrt(rows * rows + columns * columns) / (14.0 * std::sqrt(2.0)));
}

int index(GomokuFeature feature) { return static_cast<int>(feature); }

/// The image of a direction under symmetry k; see games/common/symmetry.h for the bits.
Step turn(Step step, int k) {
  if ((k & 4) != 0) std::swap(step.row, step.column);
  if ((k & 1) != 0) step.column = -step.column;
  if ((k & 2) != 0) step.row = -step.row;
  return step;
}

}  // namespace

void gomoku_features(const GomokuBoard& board, std::span<float> planes) {
  const int points = board.rows * board.columns;
  const auto value = [&](int feature, int point) -> float& {
    return planes[static_cast<std::size_t>(feature * points + point)];
  };
  const auto feature = [&](GomokuFeature f, int point) -> float& { return value(index(f), point); };
  const Cells cells(board);
  const std::vector<int> first = near_counts(board.first, board.rows, board.columns);
  const std::vector<int> second = near_counts(board.second, board.rows, board.columns);
  const float apart = distance(board);
  for (int p = 0; p < points; ++p) {
    const int row = p / board.columns;
    const int column = p % board.columns;
    const int at = cells.at(row, column);
    const bool empty = cells[at] == Cells::kEmpty;
    feature(GomokuFeature::stone, p) = empty ? -1.0F : static_cast<float>(cells[at]);
    for (std::size_t i = 0; i < kLines.size(); ++i) {
      value(index(GomokuFeature::line_vertical) + static_cast<int>(i), p) =
          empty ? 0.0F : static_cast<float>(run_length(cells, at, cells.offset(kLines[i]))) / 5.0F;
    }
    for (std::size_t i = 0; i < kCompass.size(); ++i) {
      const signed char next = cells[at + cells.offset(kCompass[i])];
      const bool blocked = next != Cells::kEmpty && next != cells[at];
      value(index(GomokuFeature::blocked_n) + static_cast<int>(i), p) =
          empty ? -1.0F : (blocked ? 1.0F : 0.0F);
    }
    feature(GomokuFeature::distance, p) = apart;
    const int height = std::min(board.rows - 1, row + kRadius) - std::max(0, row - kRadius) + 1;
    const int width =
        std::min(board.columns - 1, column + kRadius) - std::max(0, column - kRadius) + 1;
    const int blacks = first[static_cast<std::size_t>(p)];
    const int whites = second[static_cast<std::size_t>(p)];
    feature(GomokuFeature::near_first, p) = static_cast<float>(blacks) / 15.0F;
    feature(GomokuFeature::near_second, p) = static_cast<float>(whites) / 15.0F;
    feature(GomokuFeature::near_empty, p) =
        static_cast<float>(height * width - blacks - whites) / 15.0F;
  }
}

GomokuFeature gomoku_source(GomokuFeature feature, int k) {
  const int i = index(feature);
  const int lines = index(GomokuFeature::line_vertical);
  const int compass = index(GomokuFeature::blocked_n);
  if (i >= compass && i < compass + 8) {
    for (int source = 0; source < 8; ++source) {
      if (turn(kCompass[static_cast<std::size_t>(source)], k) ==
          kCompass[static_cast<std::size_t>(i - compass)]) {
        return static_cast<GomokuFeature>(compass + source);
      }
    }
  }
  if (i >= lines && i < lines + 4) {
    const Step target = kLines[static_cast<std::size_t>(i - lines)];
    for (int source = 0; source < 4; ++source) {
      const Step turned = turn(kLines[static_cast<std::size_t>(source)], k);
      if (turned == target || turned == Step{-target.row, -target.column}) {
        return static_cast<GomokuFeature>(lines + source);
      }
    }
  }
  return feature;
}

}  // namespace pyengine
