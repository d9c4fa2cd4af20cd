#include "games/go/geometry.h"

#include <memory>
#include <mutex>

namespace pyengine {
namespace {

void add_if_on_board(const GoGeometry& geometry, int row, int column, PointsAround& around) {
  if (row < 0 || row >= geometry.rows || column < 0 || column >= geometry.columns) return;
  around.points[around.count++] = static_cast<std::uint16_t>(row * geometry.columns + column);
}

std::unique_ptr<const GoGeometry> make_geometry(int rows, int columns) {
  auto geometry = std::make_unique<GoGeometry>();
  geometry->rows = rows;
  geometry->columns = columns;
  geometry->points = rows * columns;
  for (int point = 0; point < geometry->points; ++point) {
    const int row = point / columns;
    const int column = point % columns;
    geometry->all.set(point);
    if (column > 0) geometry->not_first_column.set(point);
    if (column + 1 < columns) geometry->not_last_column.set(point);
    auto& beside = geometry->beside[static_cast<std::size_t>(point)];
    for (const int step : {-1, 1}) {
      add_if_on_board(*geometry, row + step, column, beside);
      add_if_on_board(*geometry, row, column + step, beside);
    }
    if (beside.count < 4) geometry->edge.set(point);
  }
  return geometry;
}

}  // namespace

const GoGeometry* go_geometry(int rows, int columns) {
  struct Cache {
    std::mutex mutex;
    std::array<std::array<std::unique_ptr<const GoGeometry>, 20>, 20> made;
  };
  static auto& cache = *new Cache;  // never destroyed: threads may outlive main()
  const std::lock_guard lock(cache.mutex);
  auto& slot = cache.made[static_cast<std::size_t>(rows)][static_cast<std::size_t>(columns)];
  if (slot == nullptr) slot = make_geometry(rows, columns);
  return slot.get();
}

}  // namespace pyengine
