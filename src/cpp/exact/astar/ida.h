/// IDA*: depth-first search below a threshold of f, which increases until a goal is within it. It
/// stores only one path.
///
/// Source: Korf 1985. A search never returns to a node on its own path.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "exact/astar/best_first.h"
#include "exact/astar/limits.h"
#include "exact/astar/nodes.h"
#include "exact/astar/weights.h"

namespace pyengine::astar {

/// A position that can move through a graph and back.
template <class W>
concept Walk = requires(W walk, const W seen, std::vector<typename W::Move>& moves,
                        const typename W::Move& move) {
  typename W::Cost;
  { seen.at_goal() } -> std::same_as<bool>;
  /// Appends the moves to successors that are not on the path.
  walk.append_moves(moves);
  { walk.enter(move) } -> std::same_as<typename W::Cost>;  ///< returns the cost of the edge
  walk.leave();
};

/// `Priority`: f from g and the current node of the walk.
template <Walk W, class Priority>
class IterativeDeepening {
 public:
  using Cost = typename W::Cost;
  using Key = typename Priority::Key;

  IterativeDeepening(W& walk, Priority priority, Limits& limits)
      : walk_(walk), priority_(priority), limits_(limits) {}

  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

  /// Expects the walk at the start and leaves it at the goal found.
  Found<Cost> run() {
    try {
      limits_.check(counts_);
      threshold_ = f(Cost{});
      while (!descend()) {
        if (!(next_ < kInfinite)) return {};
        threshold_ = next_;
      }
      return {StopReason::found, cost_, walk_.path()};
    } catch (const Stopped& stopped) {
      return {stopped.reason(), {}, {}};
    }
  }

 private:
  static constexpr Key kInfinite = std::numeric_limits<Key>::has_infinity
      ? std::numeric_limits<Key>::infinity()
      : std::numeric_limits<Key>::max();
  /// A node of the path; its remaining moves are the end of `moves_`, from `begin` on.
  struct Frame {
    std::size_t begin;
    Cost g;
  };

  Key f(Cost g) const { return priority_(g, walk_.node()); }

  /// Searches everything within the threshold; returns whether a goal was found.
  bool descend() {
    next_ = kInfinite;
    frames_.clear();
    moves_.clear();
    if (walk_.at_goal()) return true;
    if (!(f(Cost{}) < kInfinite)) return false;
    open(Cost{});
    while (!frames_.empty()) {
      const Frame frame = frames_.back();
      if (moves_.size() == frame.begin) {
        frames_.pop_back();
        if (!frames_.empty()) walk_.leave();
        continue;
      }
      const typename W::Move move = moves_.back();
      moves_.pop_back();
      const Cost g = frame.g + walk_.enter(move);
      const Key key = f(g);
      if (threshold_ < key) {
        next_ = std::min(next_, key);
      } else if (walk_.at_goal()) {
        cost_ = g;
        return true;
      } else {
        open(g);
        continue;
      }
      walk_.leave();
    }
    return false;
  }

  void open(Cost g) {
    ++counts_.expanded;
    limits_.tick(counts_);
    const std::size_t begin = moves_.size();
    walk_.append_moves(moves_);
    counts_.generated += moves_.size() - begin;
    push_charged(frames_, {begin, g}, limits_);
  }

  W& walk_;
  Priority priority_;
  Limits& limits_;
  std::vector<Frame> frames_;
  std::vector<typename W::Move> moves_;
  Key threshold_{};
  Key next_{};
  Cost cost_{};
  Counts counts_;
};

/// f = g + h for a walk that tracks h.
template <class W>
struct PlainWalkPriority {
  using Key = typename W::Cost;
  const W& walk;
  Key operator()(Key g, NodeId /*node*/) const noexcept { return g + walk.h(); }
};

template <class W>
struct WeightedWalkPriority {
  using Key = double;
  const W& walk;
  double weight_g;
  double weight_h;
  Key operator()(typename W::Cost g, NodeId /*node*/) const {
    return weighted_sum(weight_g, static_cast<double>(g), weight_h, static_cast<double>(walk.h()));
  }
};

/// The walk through a problem with numbered nodes.
template <class P>
class DenseWalk {
 public:
  using Cost = typename P::Cost;
  struct Move {
    NodeId node;
    Cost step;
  };

  DenseWalk(P& problem, NodeId start, Limits& limits)
      : problem_(problem), limits_(limits), path_{start} {
    limits.charge(problem.nodes() / 8);
    on_path_.resize(problem.nodes());
    on_path_[start] = true;
  }
  [[nodiscard]] NodeId node() const noexcept { return path_.back(); }
  [[nodiscard]] const std::vector<NodeId>& path() const noexcept { return path_; }
  [[nodiscard]] bool at_goal() const { return problem_.is_goal(node()); }
  void append_moves(std::vector<Move>& moves) {
    problem_.expand(node(), [&](NodeId child, Cost step) {
      if (!on_path_[child]) push_charged(moves, {child, step}, limits_);
    });
  }
  Cost enter(const Move& move) {
    push_charged(path_, move.node, limits_);
    on_path_[move.node] = true;
    return move.step;
  }
  void leave() noexcept {
    on_path_[node()] = false;
    path_.pop_back();
  }

 private:
  P& problem_;
  Limits& limits_;
  std::vector<NodeId> path_;
  std::vector<bool> on_path_;
};

}  // namespace pyengine::astar
