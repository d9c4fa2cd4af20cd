/// Several walks that share their way as long as they choose the same moves. They part at a fork,
/// where a rule divides the walks among the moves of the node (Rule::allot). The walks of one move
/// continue after those of another.
///
/// Walks mark the nodes that they pass, so that other workers see them. A node on the way to a fork
/// is marked once per walk that arrived there, and an expanded move of a fork once per walk that
/// will enter it. If a walk ends without a leaf, its marks are removed. An unexpanded node is
/// marked only by the walk that claims it: later marks could be mistaken for those of another
/// walk's leaf.
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

/// Called at each end with the walk and the number of walks that ended there. Returns whether the
/// remaining walks continue.
using JointEnd = std::function<bool(const Walk& walk, std::uint32_t visits)>;

/// The data that joint walks share; see Walker::walk_jointly().
struct JointWay {
  Tree& tree;
  const RootSearch& search;
  Rule& rule;
  Allocator& allocator;
  Path& path;
  const JointEnd& ended;
};

/// Buffers that are reused by the next joint walk.
template <Game G>
struct Forks {
  struct Fork {
    std::size_t depth = 0;    ///< nodes on the path to the fork, including the fork
    std::uint32_t left = 0;   ///< walks not allotted yet
    std::uint32_t drawn = 0;  ///< see Walk
    std::size_t begin = 0;    ///< its first allotment
    std::size_t next = 0;     ///< its next allotment
    std::size_t end = 0;
  };
  std::vector<Fork> stack;
  std::vector<G> positions;           ///< positions of the forks; may be longer than needed
  std::vector<Allotment> allotments;  ///< allotments of all forks
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

  /// The walks in progress. Their marks are on the first `depth` nodes of the path.
  struct Hand {
    std::size_t depth = 0;
    std::uint32_t visits = 0;
  };

  /// Follows the last fork's next allotment, requests more allotments, or leaves the fork.
  void follow_next() {
    Fork& fork = forks_.stack.back();
    path_.resize(fork.depth);
    if (is_proven(*path_.back())) take_back(fork);  // proven since the walks arrived here
    if (fork.next == fork.end) {
      if (fork.left != 0) return allot(fork);
      forks_.allotments.resize(fork.begin);
      forks_.stack.pop_back();
      return;
    }
    make_room();
    descent_.begin(forks_.positions[forks_.stack.size() - 1]);
    const Allotment allotment = forks_.allotments[fork.next++];
    hand_ = {fork.depth, allotment.visits};
    drawn_ = fork.drawn;
    if (enter(allotment.to, allotment.marked)) go_on();
  }

  void allot(Fork& fork) {
    auto& all = forks_.allotments;
    all.resize(fork.begin);
    fork.next = fork.end = fork.begin;
    way_.rule.allot(way_.tree, *path_.back(), way_.search, fork.left, may_create_, all);
    for (fork.end = fork.begin; fork.end < all.size(); ++fork.end) {
      Allotment& allotment = all[fork.end];
      assert(allotment.visits <= fork.left);
      fork.left -= allotment.visits;
      Node* const child = allotment.to.child;
      allotment.marked =
          child != nullptr && child->state.load(std::memory_order_acquire) == NodeState::expanded;
      if (allotment.marked) add<S>(child->in_flight, allotment.visits);
    }
  }

  /// Continues from the last node of the path, which is expanded: several walks fork, a single one
  /// moves on.
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

  /// Returns whether the walks continue from the last node of the path, which is then expanded.
  bool enter(const Selection& chosen, bool marked) {
    // Rules with a root plan do not walk jointly.
    assert(chosen.outcome != Selection::Outcome::wait);
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
      may_create_ = false;  // the walks choose again among the existing nodes
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
  /// Removes the marks of all walks that have not ended.
  void take_back_all() noexcept {
    take_back(hand_.depth, hand_.visits);
    for (Fork& fork : forks_.stack) take_back(fork);
  }
  /// Removes the marks of the walks at a fork.
  void take_back(Fork& fork) noexcept {
    std::uint32_t visits = std::exchange(fork.left, 0);
    for (; fork.next != fork.end; ++fork.next) {
      const Allotment& allotment = forks_.allotments[fork.next];
      if (allotment.marked) add<S>(allotment.to.child->in_flight, 0U - allotment.visits);
      visits += allotment.visits;
    }
    take_back(fork.depth, visits);
  }
  /// Makes room for one more node on the path; later steps cannot run out of memory.
  void make_room() {
    path_.push_back(nullptr);
    path_.pop_back();
  }

  const JointWay way_;
  Path& path_;
  Descent<G>& descent_;
  Forks<G>& forks_;
  Hand hand_;
  std::uint32_t drawn_ = 0;  ///< Walk::drawn of the current walks
  bool may_create_ = true;
  bool goes_on_ = true;
};

}  // namespace pyengine
