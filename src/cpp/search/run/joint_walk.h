/// Several walks that go the same way as far as they choose the same moves. Where their ways part
/// is a fork: a rule divides the walks among the moves of the node (Rule::allot), and those of one
/// move after the other go on.
///
/// Walks mark the nodes that they pass, so that other workers see where they go: those on the way
/// to a fork as often as walks have come there, and of the moves of a fork those that are expanded
/// as often as walks will. Where a walk ends without a leaf its marks are taken back. Nodes that
/// are not expanded are marked by the walk that claims them alone: marks that came later could be
/// taken for those of another walk's leaf.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "search/rules/rule.h"
#include "search/run/descent.h"
#include "search/run/walk_end.h"
#include "search/tree/path.h"
#include "search/tree/tree.h"

namespace pyengine {

/// Takes each end: the walk, and how many of the walks came there. Says whether the others go on.
using JointEnd = std::function<bool(const Walk& walk, std::uint32_t visits)>;

/// What joint walks go through; see Walker::walk_jointly().
struct JointWay {
  Tree& tree;
  const RootSearch& search;
  Rule& rule;
  Allocator& allocator;
  Path& path;
  const JointEnd& ended;
};

/// Memory that one joint walk leaves for the next.
template <Game G>
struct Forks {
  struct Fork {
    std::size_t depth = 0;    ///< nodes of the path to the fork, its own included
    std::uint32_t left = 0;   ///< walks that are not allotted yet
    std::uint32_t drawn = 0;  ///< see Walk
    std::size_t begin = 0;    ///< of its allotments
    std::size_t next = 0;     ///< of them, to go on
    std::size_t end = 0;
  };
  std::vector<Fork> stack;
  std::vector<G> positions;           ///< of the forks; more than there are
  std::vector<Allotment> allotments;  ///< of all forks
};

template <Game G, Sharing S>
class JointWalk {
 public:
  JointWalk(const JointWay& way, Descent<G>& descent, Forks<G>& forks) noexcept
      : way_(way), path_(way.path), descent_(descent), forks_(forks) {}

  void run(Node& start, const G& position, std::uint32_t visits) {
    path_.assign(1, &start);
    forks_.stack.clear();
    forks_.allotments.clear();
    add<S>(start.in_flight, visits);
    hand_ = {1, visits};
    try {
      descent_.begin(position);
      go_on();
      while (goes_on_ && !forks_.stack.empty()) follow_next();
    } catch (...) {
      take_back_all();
      throw;
    }
    take_back_all();
  }

 private:
  using Fork = typename Forks<G>::Fork;

  /// The walks that are on their way: their marks are on the first `depth` nodes of the path.
  struct Hand {
    std::size_t depth = 0;
    std::uint32_t visits = 0;
  };

  /// The next allotment of the last fork, or more of them, or the end of the fork.
  void follow_next() {
    Fork& fork = forks_.stack.back();
    path_.resize(fork.depth);
    if (is_proven(*path_.back())) take_back(fork);  // since they came here
    if (fork.next == fork.end) {
      if (fork.left != 0) return allot(fork);
      forks_.allotments.resize(fork.begin);
      forks_.stack.pop_back();
      return;
    }
    make_room();
    descent_.begin(forks_.positions[forks_.stack.size() - 1]);
    const Allotment given = forks_.allotments[fork.next++];
    hand_ = {fork.depth, given.visits};
    drawn_ = fork.drawn;
    if (enter(given.to, given.marked)) go_on();
  }

  void allot(Fork& fork) {
    auto& all = forks_.allotments;
    all.resize(fork.begin);
    fork.next = fork.end = fork.begin;
    way_.rule.allot(way_.tree, *path_.back(), way_.search, fork.left, may_create_, all);
    for (fork.end = fork.begin; fork.end < all.size(); ++fork.end) {
      Allotment& given = all[fork.end];
      assert(given.visits <= fork.left);
      fork.left -= given.visits;
      Node* const child = given.to.child;
      given.marked =
          child != nullptr && child->state.load(std::memory_order_acquire) == NodeState::expanded;
      if (given.marked) add<S>(child->in_flight, given.visits);
    }
  }

  /// From the last node of the path, which is expanded: several walks fork there, one walks on.
  void go_on() {
    do {
      if (hand_.visits > 1) return open_fork();
      make_room();
    } while (enter(choose(), false));
  }

  void open_fork() {
    auto& [stack, positions, allotments] = forks_;
    const G& here = descent_.position().value;
    if (positions.size() == stack.size()) {
      positions.push_back(here);
    } else {
      positions[stack.size()] = here;
    }
    const std::size_t begin = allotments.size();
    stack.push_back({path_.size(), hand_.visits, drawn_, begin, begin, begin});
    hand_.visits = 0;
  }

  Selection choose() {
    auto& all = forks_.allotments;
    const std::size_t before = all.size();
    way_.rule.allot(way_.tree, *path_.back(), way_.search, 1, may_create_, all);
    const Selection chosen = all.back().to;
    all.resize(before);
    return chosen;
  }

  /// Whether the walks go on from the last node of the path, which is expanded then.
  bool enter(const Selection& chosen, bool marked) {
    assert(chosen.outcome != Selection::Outcome::wait);  // rules with a plan do not walk jointly
    if (chosen.passes_draw) drawn_ = static_cast<std::uint32_t>(path_.size());
    if (chosen.outcome == Selection::Outcome::new_child) return create();
    if (chosen.outcome != Selection::Outcome::child) {
      return end(end_at_own_evaluation(*path_.back()));
    }
    Node& child = *chosen.child;
    path_.push_back(&child);
    if (marked) ++hand_.depth;
    descent_.pass(child);
    const NodeState state = child.state.load(std::memory_order_acquire);
    if (state != NodeState::expanded) return end(end_at_unexpanded(descent_, child, state));
    if (!marked) mark_last();
    if (!is_proven(child)) return true;
    return end(end_of_proven(child.proof.load(std::memory_order_relaxed)));
  }

  bool create() {
    bool at_cap = false;
    Node* child = way_.tree.template create_child<S>(way_.allocator, *path_.back(), at_cap);
    if (child == nullptr) {
      if (!at_cap) return end({});
      may_create_ = false;  // the walks choose again, inside the tree there is
      return true;
    }
    path_.push_back(child);
    return end(end_at_new(way_.tree, descent_, *child));
  }

  bool end(Walk walk) {
    walk.drawn = drawn_;
    if (walk.end == WalkEnd::leaf) {
      mark_last();
    } else {
      take_back(hand_.depth, hand_.visits);
    }
    goes_on_ = way_.ended(walk, std::exchange(hand_.visits, 0));
    return false;
  }

  [[nodiscard]] bool is_proven(const Node& node) const noexcept {
    return way_.search.config.solver && node.proof.load(std::memory_order_relaxed) != Proof::none;
  }

  void mark_last() noexcept {
    add<S>(path_.back()->in_flight, hand_.visits);
    ++hand_.depth;
  }
  void take_back(std::size_t depth, std::uint32_t visits) noexcept {
    if (visits == 0) return;
    for (std::size_t i = 0; i < depth; ++i) add<S>(path_[i]->in_flight, 0U - visits);
  }
  /// The marks of all walks that have not come to an end.
  void take_back_all() noexcept {
    take_back(hand_.depth, hand_.visits);
    for (Fork& fork : forks_.stack) take_back(fork);
  }
  /// Those of walks that stand at a fork.
  void take_back(Fork& fork) noexcept {
    std::uint32_t visits = std::exchange(fork.left, 0);
    for (; fork.next != fork.end; ++fork.next) {
      const Allotment& given = forks_.allotments[fork.next];
      if (given.marked) add<S>(given.to.child->in_flight, 0U - given.visits);
      visits += given.visits;
    }
    take_back(fork.depth, visits);
  }
  /// For one more node on the path: from here on its memory is there.
  void make_room() {
    path_.push_back(nullptr);
    path_.pop_back();
  }

  const JointWay way_;
  Path& path_;
  Descent<G>& descent_;
  Forks<G>& forks_;
  Hand hand_;
  std::uint32_t drawn_ = 0;  ///< of the walks on their way
  bool may_create_ = true;
  bool goes_on_ = true;
};

}  // namespace pyengine
