/// The walks of one game: the search as compiled for a G.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/error.h"
#include "search/run/crossing.h"
#include "search/run/descent.h"
#include "search/run/joint_walk.h"
#include "search/run/walker.h"

namespace pyengine {

/// Holds what a user's game needs during a walk (the GIL); does nothing for other games.
template <class G>
struct WalkScopeOf {
  explicit WalkScopeOf(const typename G::Params&) {}
};
template <class G>
  requires requires { typename G::WalkScope; }
struct WalkScopeOf<G> {
  explicit WalkScopeOf(const typename G::Params& params) : scope(params) {}
  typename G::WalkScope scope;
};

template <Game G>
class WalkerOf final : public Walker {
 public:
  explicit WalkerOf(const AnyPosition& root)
      : params_(typed(root).params()), descent_(typed(root)) {}

  Walk walk(Tree& tree, const Start& start, const RootSearch& search, Rule& rule,
            Allocator& allocator, Path& path) override {
    return walk_in<false>(tree, start, search, rule, allocator, path);
  }

  Walk walk_in_graph(Tree& tree, const Start& start, const RootSearch& search, Rule& rule,
                     Allocator& allocator, Path& path) override {
    return walk_in<true>(tree, start, search, rule, allocator, path);
  }

  void walk_jointly(Tree& tree, const Start& start, const RootSearch& search, Rule& rule,
                    Allocator& allocator, Path& path, std::uint32_t visits,
                    const JointEnd& ended) override {
    if constexpr (CanReplay<G>) {
      throw EngineError("joint walks are not supported for a user's game");
    } else {
      const G& position = typed(start.position);
      const JointWay way{tree, search, rule, allocator, path, ended};
      if (search.sharing == Sharing::shared) {
        JointWalk<G, Sharing::shared>(way, descent_, forks_).run(start.node, position, visits);
      } else {
        JointWalk<G, Sharing::exclusive>(way, descent_, forks_).run(start.node, position, visits);
      }
    }
  }

  WayToPart find_part(const Tree& tree, const Start& root, const RootSearch& search, Rule& rule,
                      const LeaseTerms& terms, Path& path) override {
    const G& position = typed(root.position);
    [[maybe_unused]] const WalkScopeOf<G> scope(position.params());
    descent_.begin(position);
    path.assign(1, &root.node);
    WayToPart way;
    for (;;) {
      Node& node = *path.back();
      if (is_leased(node)) return way;
      const Selection chosen = choose_unleased(tree, node, search, rule);
      if (chosen.outcome != Selection::Outcome::child || chosen.by_turns) break;
      if (!may_enter(node, *chosen.child, search, terms)) break;
      if (chosen.passes_draw) way.drawn = static_cast<std::uint32_t>(path.size());
      path.emplace_back(chosen.child);
      descent_.pass(*chosen.child);
    }
    way.is_free = true;
    return way;
  }

  [[nodiscard]] const AnyPosition& position() const noexcept override {
    return descent_.position();
  }

  void forget() noexcept override {
    [[maybe_unused]] const WalkScopeOf<G> scope(params_);
    descent_.forget();
    keys_.forget();
  }

 private:
  /// Two functions: together they would be too large for GCC to inline their steps.
  template <bool kGraph>
  Walk walk_in(Tree& tree, const Start& start, const RootSearch& search, Rule& rule,
               Allocator& allocator, Path& path) {
    const G& position = typed(start.position);
    [[maybe_unused]] const WalkScopeOf<G> scope(position.params());
    descent_.begin(position);
    path.clear();
    Node* node = &start.node;
    path.push_back(node);
    bool at_root = node == &tree.root();
    bool may_create = true;
    std::uint32_t drawn = 0;
    [[maybe_unused]] Crossing<G> crossing(tree, search, allocator, descent_, keys_, path);
    const auto end = [&](Walk walk) {
      walk.drawn = drawn;
      return walk;
    };
    for (;;) {
      const Selection chosen = at_root ? rule.choose_at_root(tree, search, may_create)
                                       : rule.choose(tree, *node, may_create);
      if (chosen.passes_draw) drawn = static_cast<std::uint32_t>(path.size());
      if (chosen.outcome == Selection::Outcome::nothing) return end(end_at_own_evaluation(*node));
      if (chosen.outcome == Selection::Outcome::wait) return {WalkEnd::wait};
      if (chosen.outcome == Selection::Outcome::new_child) {
        bool at_cap = false;
        path.push_back(nullptr);  // allocate first, so that a created node is not lost
        Node* child = search.sharing == Sharing::shared
            ? tree.create_child<Sharing::shared>(allocator, *node, at_cap)
            : tree.create_child<Sharing::exclusive>(allocator, *node, at_cap);
        if (child != nullptr) {
          path.back() = child;
          if constexpr (!kGraph) return end(end_at_new(tree, descent_, *child));
          if (const std::optional<Walk> ended = crossing.enter_new()) return end(*ended);
          node = path.back();
          at_root = false;
          continue;
        }
        path.pop_back();
        if (!at_cap) return {};
        may_create = false;  // continue among the existing nodes
        continue;
      }
      node = chosen.child;
      path.push_back(node);
      at_root = false;
      if constexpr (kGraph) {
        if (const std::optional<Walk> ended = crossing.enter()) return end(*ended);
        node = path.back();
        continue;
      }
      descent_.pass(*node);
      const NodeState state = node->state.load(std::memory_order_acquire);
      if (state != NodeState::expanded) return end(end_at_unexpanded(descent_, *node, state));
      const Proof proof = node->proof.load(std::memory_order_relaxed);
      if (search.config.solver && proof != Proof::none) return end(end_of_proven(proof));
    }
  }

  [[nodiscard]] static const G& typed(const AnyPosition& position) noexcept {
    return static_cast<const PositionOf<G>&>(position).value;
  }

  /// The rule's choice. A leased child is skipped once, as if it had twice as many leaves in
  /// flight.
  static Selection choose_unleased(const Tree& tree, const Node& node, const RootSearch& search,
                                   Rule& rule) {
    const auto choose = [&] {
      return &node == &tree.root() ? rule.choose_at_root(tree, search, true)
                                   : rule.choose(tree, node, true);
    };
    const Selection first = choose();
    if (first.outcome != Selection::Outcome::child || !is_leased(*first.child)) return first;
    // Bounded, because several workers may do this at the same time. A worker that is about to
    // lease this child may see these marks and give way unnecessarily; it tries again.
    const std::uint32_t more =
        std::min(first.child->in_flight.load(std::memory_order_relaxed), kMostOfLease);
    first.child->in_flight.fetch_add(more, std::memory_order_relaxed);
    const Selection second = choose();
    first.child->in_flight.fetch_sub(more, std::memory_order_relaxed);
    return second;
  }

  [[nodiscard]] static bool may_enter(const Node& node, const Node& child, const RootSearch& search,
                                      const LeaseTerms& terms) noexcept {
    if (child.state.load(std::memory_order_acquire) != NodeState::expanded) return false;
    const Proof proof = child.proof.load(std::memory_order_relaxed);
    if (search.config.solver && proof != Proof::none) return false;
    const bool shared = node.in_flight.load(std::memory_order_relaxed) != 0;
    return leads_on(node.visits.load(std::memory_order_relaxed), shared,
                    child.visits.load(std::memory_order_relaxed), terms);
  }

  typename G::Params params_;  ///< from the first root: an engine plays only one game
  Descent<G> descent_;
  Forks<G> forks_;
  PositionKeys<G> keys_;
};

/// A MakeWalker for positions of G.
template <Game G>
std::unique_ptr<Walker> make_walker_of(const AnyPosition& root) {
  return std::make_unique<WalkerOf<G>>(root);
}

}  // namespace pyengine
