#include "games/common/symmetry.h"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "base/error.h"
#include "games/game.h"

namespace pyengine {
namespace {

constexpr int kReverseColumns = 1;
constexpr int kReverseRows = 2;
constexpr int kTranspose = 4;

int count_of(const GameShape& shape) {
  switch (shape.symmetry) {
    case SymmetryGroup::none:
      return 1;
    case SymmetryGroup::mirror:
      return 2;
    case SymmetryGroup::rectangle:
      return 4;
    case SymmetryGroup::square:
      break;
  }
  if (shape.rows != shape.columns) {
    throw ConfigError("expected a square board for 8 symmetries, got " +
                      std::to_string(shape.rows) + " x " + std::to_string(shape.columns));
  }
  return 8;
}

int moved_point(const GameShape& shape, int k, int point) {
  int row = point / shape.columns;
  int column = point % shape.columns;
  if ((k & kTranspose) != 0) std::swap(row, column);
  if ((k & kReverseColumns) != 0) column = shape.columns - 1 - column;
  if ((k & kReverseRows) != 0) row = shape.rows - 1 - row;
  return row * shape.columns + column;
}

std::vector<std::uint16_t> images(int count, const std::function<int(int)>& image) {
  std::vector<std::uint16_t> all(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    all[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(image(i));
  }
  return all;
}

}  // namespace

Symmetries make_symmetries(const GameShape& shape, const std::vector<Mapping>& others) {
  Symmetries symmetries;
  const auto add = [&](const Mapping& mapping) {
    symmetries.point.push_back(images(shape.rows * shape.columns, mapping.point));
    symmetries.action.push_back(images(shape.num_actions, mapping.action));
  };
  add({std::identity(), std::identity()});
  for (const Mapping& mapping : others) add(mapping);
  return symmetries;
}

Symmetries make_symmetries(const GameShape& shape) {
  Symmetries symmetries;
  const int points = shape.rows * shape.columns;
  // A column moves with its top point; the groups of such games never swap rows and columns.
  const bool actions_are_columns = shape.num_actions == shape.columns && shape.rows > 1;
  const int moving = actions_are_columns ? shape.columns : points;
  const int count = count_of(shape);
  for (int k = 0; k < count; ++k) {
    std::vector<std::uint16_t> point(static_cast<std::size_t>(points));
    for (int p = 0; p < points; ++p) {
      point[static_cast<std::size_t>(p)] = static_cast<std::uint16_t>(moved_point(shape, k, p));
    }
    std::vector<std::uint16_t> action(static_cast<std::size_t>(shape.num_actions));
    for (int a = 0; a < shape.num_actions; ++a) {
      const auto index = static_cast<std::size_t>(a);
      action[index] = a < moving ? point[index] : static_cast<std::uint16_t>(a);
    }
    symmetries.point.push_back(std::move(point));
    symmetries.action.push_back(std::move(action));
  }
  return symmetries;
}

}  // namespace pyengine
