/// One walk from the root to a leaf. The only part of the search that knows the type of the game:
/// a walk copies the root's position and plays the chosen actions on it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "games/any/any_game.h"
#include "search/rules/select.h"
#include "search/tree/tree.h"

namespace pyengine {

using Path = std::vector<Node*>;  ///< from the root to where the walk ended, both included

enum class WalkEnd : std::uint8_t {
  leaf,       ///< path.back() is claimed by the caller and to be evaluated
  known,      ///< the game is over there, or its value is proven, or memory is full: `value` holds
  collision,  ///< another leaf in flight stands there, or is being created
};

struct Walk {
  WalkEnd end = WalkEnd::collision;
  float value = 0.0F;         ///< of WalkEnd::known, for the first player
  bool newly_over = false;    ///< the game is over there, and that is not yet marked as a proof
  std::uint32_t created = 0;  ///< nodes
  /// The first nodes of the path for which the walk counts as a draw, whatever its leaf says: PUCT
  /// chose a known draw there, and the visit went to a move that is still open.
  std::uint32_t drawn = 0;
};

/// What a walk goes by, beside the tree.
struct WalkRules {
  bool sorted_root = true;       ///< see Selector::choose
  bool solver = true;            ///< proofs count
  double forced_playouts = 0.0;  ///< see forced_child()
};

class Walker {
 public:
  Walker() = default;
  Walker(const Walker&) = delete;
  Walker& operator=(const Walker&) = delete;
  virtual ~Walker() = default;

  /// Walks down `tree`, whose root is the position `root` (expanded, not over). Throws what the
  /// code of a user's game threw.
  virtual Walk walk(Tree& tree, const AnyPosition& root, const WalkRules& rules, Selector& selector,
                    Allocator& allocator, Path& path) = 0;
  /// Where the last walk ended.
  [[nodiscard]] virtual const AnyPosition& position() const noexcept = 0;
};

/// A walker for positions of the same type as `root`.
std::unique_ptr<Walker> make_walker(const AnyPosition& root);

}  // namespace pyengine
