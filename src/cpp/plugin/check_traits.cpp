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
constexpr int kMostExtent = 1 << 10;
constexpr std::size_t kMostSymmetries = 256;  ///< training data number them in a byte

using Permutation = std::vector<std::uint16_t>;

bool is_permutation_of(const Permutation& images, int size) {
  std::vector<bool> seen(static_cast<std::size_t>(size));
  for (const std::uint16_t image : images) {
    if (image >= size || seen[image]) return false;
    seen[image] = true;
  }
  return images.size() == seen.size();
}

/// Throws the ConfigErrors of one game.
class Refusal {
 public:
  explicit Refusal(std::string_view game) : game_(game) {}
  void unless(bool holds, const std::string& message) const {
    if (!holds) throw ConfigError(game_ + ": " + message);
  }

 private:
  std::string game_;
};

std::string but_got(int value) { return ", got " + std::to_string(value); }

}  // namespace

void check_shape(std::string_view game, const GameShape& shape,
                 const std::array<int, 3>& observation_shape) {
  const Refusal refuse(game);
  const auto& [rows, columns, actions, length, pass, group] = shape;
  refuse.unless(
      rows >= 1 && columns >= 1 && columns <= kMostColumns && rows <= kMaxPoints / columns,
      "shape: expected a board of 1.." + std::to_string(kMaxPoints) + " points and at most " +
          std::to_string(kMostColumns) + " columns, got " + std::to_string(rows) + " x " +
          std::to_string(columns));
  refuse.unless(actions >= 1 && actions <= kMaxActions,
                "shape.num_actions: expected 1.." + std::to_string(kMaxActions) + but_got(actions));
  refuse.unless(length >= 1, "shape.max_game_length: expected at least 1" + but_got(length));
  refuse.unless(pass >= kNoAction && pass < actions,
                "shape.pass: expected an action or -1" + but_got(pass));
  refuse.unless(group != SymmetryGroup::square || rows == columns,
                "shape.symmetry: expected another group than square for a board of " +
                    std::to_string(rows) + " x " + std::to_string(columns));
  const bool has_planes = observation_shape != std::array<int, 3>{};
  for (const int extent : observation_shape) {
    refuse.unless(!has_planes || (extent >= 1 && extent <= kMostExtent),
                  "observation_shape: expected three sizes in 1.." + std::to_string(kMostExtent) +
                      but_got(extent));
  }
}

void check_symmetries(std::string_view game, const GameShape& shape, const Symmetries& symmetries) {
  const Refusal refuse(game);
  const auto& [points, actions] = symmetries;
  refuse.unless(
      !points.empty() && points.size() == actions.size() && points.size() <= kMostSymmetries,
      "symmetries: expected 1.." + std::to_string(kMostSymmetries) + ", with points and actions");
  for (std::size_t k = 0; k < points.size(); ++k) {
    refuse.unless(
        is_permutation_of(points[k], shape.rows * shape.columns) &&
            is_permutation_of(actions[k], shape.num_actions),
        "symmetries: expected permutations of points and actions, got others for symmetry " +
            std::to_string(k));
  }
  refuse.unless(std::is_sorted(points[0].begin(), points[0].end()) &&
                    std::is_sorted(actions[0].begin(), actions[0].end()),
                "symmetries: expected the identity first");
}

}  // namespace pyengine
