/// A walk from the root, or from the top of a lease, to a leaf. A rule chooses the moves
/// (rules/rule.h) and a descent plays them (run/descent.h). No other part of the search knows the
/// type of the game.
#pragma once

#include <cstdint>
#include <memory>
#include <typeinfo>

#include "games/any/any_game.h"
#include "search/rules/rule.h"
#include "search/run/joint_walk.h"
#include "search/run/lease.h"
#include "search/run/walk_end.h"
#include "search/tree/path.h"
#include "search/tree/tree.h"

namespace pyengine {

/// Where walks begin: the root of the tree or the top of a lease. The node is expanded.
struct Start {
  Node& node;
  const AnyPosition& position;
};

/// Result of the search for a part of the tree to lease; see lease.h.
struct WayToPart {
  bool is_free = false;     ///< as far as could be seen; Lease makes sure
  std::uint32_t drawn = 0;  ///< see Walk
};

class Walker {
 public:
  Walker() = default;
  Walker(const Walker&) = delete;
  Walker& operator=(const Walker&) = delete;
  virtual ~Walker() = default;

  /// Walks down `tree` from `start`, which is expanded, not terminal, and the first node of `path`.
  /// Rethrows exceptions of user code.
  virtual Walk walk(Tree& tree, const Start& start, const RootSearch& search, Rule& rule,
                    Allocator& allocator, Path& path) = 0;
  /// The same for a tree that is a graph.
  virtual Walk walk_in_graph(Tree& tree, const Start& start, const RootSearch& search, Rule& rule,
                             Allocator& allocator, Path& path) = 0;
  /// Runs `visits` walks that share the way as long as they choose the same moves: each node
  /// divides them among its moves (Rule::allot). `ended` is called at each end, with `path` leading
  /// to it and the number of walks that ended there; it returns whether the others continue. At a
  /// leaf each of these walks has marked the path once; other ends leave no marks. Exceptions from
  /// `ended` are passed on, and the marks of the path are then its responsibility. Not for
  /// user-defined games.
  virtual void walk_jointly(Tree& tree, const Start& start, const RootSearch& search, Rule& rule,
                            Allocator& allocator, Path& path, std::uint32_t visits,
                            const JointEnd& ended) = 0;
  /// Walks from the root to the top of a part to lease and stores the nodes in `path`. The only
  /// changes are temporary marks of leased children. Not for user-defined games.
  virtual WayToPart find_part(const Tree& tree, const Start& root, const RootSearch& search,
                              Rule& rule, const LeaseTerms& terms, Path& path) = 0;
  /// The position at which the last walk ended.
  [[nodiscard]] virtual const AnyPosition& position() const noexcept = 0;
  /// Drops cached positions. This destroys states of a user's game, so the caller must not hold a
  /// lock.
  virtual void forget() noexcept = 0;
};

/// Creates a walker for positions of the same type as `root`.
using MakeWalker = std::unique_ptr<Walker> (*)(const AnyPosition& root);
/// Adds a type of position to those that make_walker() knows; false if it is there already.
bool add_walker(const std::type_info& position, MakeWalker make);
/// For positions of the games in games/list.h, and of types that were added.
std::unique_ptr<Walker> make_walker(const AnyPosition& root);

}  // namespace pyengine
