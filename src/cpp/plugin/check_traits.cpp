#include "plugin/check_traits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace pyengine {
namespace {

constexpr int kMostColumns = 26;  ///< their names are letters

using Permutation = std::vector<std::uint16_t>;

bool is_permutation_of(const Permutation& images, int size) {
  std::vector<bool> seen(static_cast<std::size_t>(size));
  for (const std::uint16_t image : images) {
    if (image >= size || seen[image]) return false;
    seen[image] = true;
  }
  return images.size() == seen.size();
}

/// What is wrong with symmetry k, or "".
std::string fault(const GameTraits& traits, std::size_t k) {
  const auto& [points, actions, inverses] = traits.symmetries;
  if (!is_permutation_of(points[k], traits.shape.rows * traits.shape.columns)) {
    return "point is not a permutation of the points";
  }
  if (!is_permutation_of(actions[k], traits.shape.num_actions)) {
    return "action is not a permutation of the actions";
  }
  return "";
}

}  // namespace

void check_traits(std::string_view game, const GameTraits& traits) {
  const auto expect = [game](bool holds, const std::string& what) {
    if (!holds) throw ConfigError(std::string(game) + ": " + what);
  };
  const auto& [rows, columns, actions, length, pass, group] = traits.shape;
  const auto got = [](auto value) { return ", got " + std::to_string(value); };
  expect(rows >= 1 && columns >= 1 && columns <= kMostColumns && rows <= kMaxPoints / columns,
         "shape: expected a board of 1.." + std::to_string(kMaxPoints) + " points and at most " +
             std::to_string(kMostColumns) + " columns, got " + std::to_string(rows) + " x " +
             std::to_string(columns));
  expect(actions >= 1 && actions <= kMaxActions,
         "shape.num_actions: expected 1.." + std::to_string(kMaxActions) + got(actions));
  expect(length >= 1, "shape.max_game_length: expected at least 1" + got(length));
  expect(pass >= kNoAction && pass < actions, "shape.pass: expected an action or -1" + got(pass));
  for (const int extent : traits.observation_shape) {
    expect(extent >= 0, "observation_shape: expected sizes of at least 0" + got(extent));
  }
  const Symmetries& symmetries = traits.symmetries;
  const std::size_t count = symmetries.point.size();
  expect(count >= 1 && symmetries.action.size() == count && symmetries.inverse.size() == count,
         "symmetries: expected the result of make_symmetries()");
  for (std::size_t k = 0; k < count; ++k) {
    const std::string wrong = fault(traits, k);
    expect(wrong.empty(), "symmetries: symmetry " + std::to_string(k) + ": " + wrong);
  }
  expect(std::is_sorted(symmetries.point[0].begin(), symmetries.point[0].end()) &&
             std::is_sorted(symmetries.action[0].begin(), symmetries.action[0].end()),
         "symmetries: expected the identity first");
}

}  // namespace pyengine
