/// One walk from the root, or from the top of a lease, to a leaf: a rule chooses the moves
/// (rules/rule.h), a descent plays them (run/descent.h). No other part of the search knows the type
/// of the game.
#pragma once

#include <cstdint>
#include <memory>

#include "games/any/any_game.h"
#include "search/rules/rule.h"
#include "search/run/joint_walk.h"
#include "search/run/lease.h"
#include "search/run/walk_end.h"
#include "search/tree/path.h"
#include "search/tree/tree.h"

namespace pyengine {

/// Where walks begin: at the root of the tree or at the top of a lease, which is expanded.
struct Start {
  Node& node;
  const AnyPosition& position;
};

/// The way to the top of a part of the tree that a worker may lease: see lease.h.
struct WayToPart {
  bool is_free = false;     ///< as far as was seen; Lease makes sure
  std::uint32_t drawn = 0;  ///< see Walk
};

class Walker {
 public:
  Walker() = default;
  Walker(const Walker&) = delete;
  Walker& operator=(const Walker&) = delete;
  virtual ~Walker() = default;

  /// Walks down `tree` from `start`, which is expanded and not over, and which `path` begins with.
  /// `search`: the tree's. Throws what the code of a user's game threw.
  virtual Walk walk(Tree& tree, const Start& start, const RootSearch& search, Rule& rule,
                    Allocator& allocator, Path& path) = 0;
  /// `visits` walks that share the way as far as they go to the same moves: at each node they are
  /// divided among its moves at once (Rule::allot). `ended` is told of each end, to which `path`
  /// leads, and how many of the walks came there; it says whether the others are to go on. At a
  /// leaf they have marked the path, once each; other ends leave no marks. What `ended` throws
  /// comes through, and the marks of the path are then its affair. Not in a user's game.
  virtual void walk_jointly(Tree& tree, const Start& start, const RootSearch& search, Rule& rule,
                            Allocator& allocator, Path& path, std::uint32_t visits,
                            const JointEnd& ended) = 0;
  /// Walks down from the root to the top of a part to lease. Changes nothing but marks of leased
  /// children, which it takes back at once. `path`: from the root to the top. Not in a user's game.
  virtual WayToPart find_part(const Tree& tree, const Start& root, const RootSearch& search,
                              Rule& rule, const LeaseTerms& terms, Path& path) = 0;
  /// Where the last walk ended.
  [[nodiscard]] virtual const AnyPosition& position() const noexcept = 0;
  /// Drops what it keeps of one walk for the next. This destroys states of a user's game: the
  /// caller holds no lock.
  virtual void forget() noexcept = 0;
};

/// A walker for positions of the same type as `root`.
std::unique_ptr<Walker> make_walker(const AnyPosition& root);

}  // namespace pyengine
