#include "selfplay/finished_game.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/error.h"

namespace pyengine {
namespace {

constexpr std::uint32_t kMostVisits = std::numeric_limits<std::uint16_t>::max();
constexpr int kMostPly = std::numeric_limits<std::uint16_t>::max();

/// Appends `count` elements and returns them.
template <class T>
std::span<T> grow(std::vector<T>& column, std::size_t count) {
  column.resize(column.size() + count);
  return std::span(column).last(count);
}

void write_visits(const SearchedPosition& position, std::span<std::uint16_t> row) {
  const std::uint32_t most = position.visits.empty()
      ? 0
      : *std::max_element(position.visits.begin(), position.visits.end());
  for (std::size_t i = 0; i < position.visits.size(); ++i) {
    std::uint64_t visits = position.visits[i];
    if (most > kMostVisits) visits = visits * kMostVisits / most;
    row[static_cast<std::size_t>(position.actions[i])] = static_cast<std::uint16_t>(visits);
  }
}

}  // namespace

void FinishedGame::add(const PackedShape& shape, const PlaneStack& planes,
                       const SearchedPosition& position, int num_actions) {
  if (position.ply > kMostPly) {
    throw ConfigError("training data supports games of at most " + std::to_string(kMostPly) +
                      " plies");
  }
  try {
    append(shape, planes, position, num_actions);
  } catch (...) {
    const auto cut = [&](auto& column, std::size_t width) { column.resize(positions * width); };
    cut(bits, shape.bits());
    cut(fill, static_cast<std::size_t>(shape.values));
    cut(dense, shape.numbers());
    cut(visits, static_cast<std::size_t>(num_actions));
    const auto cut_all = [&](auto&... columns) { (cut(columns, 1), ...); };
    cut_all(root_value, network_value, ply, action, to_move, full, taught, surprise);
    throw;
  }
  ++positions;
}

void FinishedGame::append(const PackedShape& shape, const PlaneStack& planes,
                          const SearchedPosition& position, int num_actions) {
  pack_planes(shape, planes, grow(bits, shape.bits()),
              grow(fill, static_cast<std::size_t>(shape.values)), grow(dense, shape.numbers()));
  write_visits(position, grow(visits, static_cast<std::size_t>(num_actions)));
  root_value.push_back(position.root_value);
  network_value.push_back(position.network_value);
  ply.push_back(static_cast<std::uint16_t>(position.ply));
  action.push_back(static_cast<std::uint16_t>(position.action));
  to_move.push_back(static_cast<std::uint8_t>(position.to_move));
  full.push_back(position.full ? 1 : 0);
  taught.push_back(position.full && position.taught ? 1 : 0);
  surprise.push_back(position.surprise);
}

}  // namespace pyengine
