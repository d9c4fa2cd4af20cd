/// A whole search of one root by one or several threads: deepening, windows, limits, the line.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "exact/alphabeta/search.h"

namespace pyengine::alphabeta {

/// How to search a root.
struct Plan {
  int threads = 1;
  bool margin = false;     ///< the score itself; else its sign
  bool deepens = false;    ///< by one ply after the other, so that there is a best move so far
  int depth = kWholeGame;  ///< most plies
  bool line = true;        ///< whether best play is asked for
};

/// What was found. `line`: best moves of both players as far as they are known.
struct Outline {
  int score = 0;
  int depth = 0;       ///< plies of the last search that was completed
  bool exact = false;  ///< of the game, not of a limit
  std::vector<Action> line;
  std::uint64_t nodes = 0;
};

template <SolverPosition P>
class Run {
 public:
  /// `poll`: on the calling thread; false ends the search with what it has. It may throw.
  Run(Table& table, const Plan& plan, std::function<bool()> poll)
      : shared_(table), plan_(plan), poll_(std::move(poll)) {
    table.begin_search();
  }

  /// `root` is not over.
  Outline solve(const P& root) {
    Search<P> search(shared_, [this, &root] { ask(root); });
    Outline found;
    try {
      found = drive(search, root);
      const Action best = search.root_action();  // before line_of(), which searches other roots
      const bool is_shown = search.root_action_is_shown();
      if (found.exact && plan_.line) {
        found.line = line_of(search, root, found);
        // Bounds tell the value without a move, and a limit may come before one is found.
        found.exact = is_shown || !found.line.empty();
      }
      if (found.line.empty()) found.line.assign(1, best == kNoAction ? any_move(root) : best);
    } catch (...) {
      end_helpers();
      throw;
    }
    end_helpers();
    search.tell_table();
    found.nodes = search.nodes() + helper_nodes_.load(std::memory_order_relaxed);
    return found;
  }

 private:
  void ask(const P& root) {
    if (!poll_()) shared_.stop.store(true, std::memory_order_relaxed);
    // A small search ends before a thread has begun.
    constexpr int kPollsBeforeHelp = 20;
    if (++polls_ == kPollsBeforeHelp) start_helpers(root);
  }

  void start_helpers(const P& root) {
    if (plan_.threads == 1) return;
    shared_.busy.open();
    shared_.threads.store(plan_.threads, std::memory_order_relaxed);
    for (int i = 1; i < plan_.threads; ++i) {
      helpers_.emplace_back([this, root] {
        Search<P> search(shared_, nullptr);
        try {
          static_cast<void>(drive(search, root));
        } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
          // The calling thread goes on alone.
        }
        helper_nodes_.fetch_add(search.nodes(), std::memory_order_relaxed);
      });
    }
  }

  void end_helpers() noexcept {
    shared_.stop.store(true, std::memory_order_relaxed);
    for (std::thread& helper : helpers_) helper.join();
    helpers_.clear();
  }

  /// All threads do the same and meet in the table.
  Outline drive(Search<P>& search, const P& root) {
    const int last = std::min(plan_.depth, kWholeGame);
    Outline found;
    for (int depth = plan_.deepens ? 1 : last;; ++depth) {
      const std::uint64_t horizon = search.horizon();
      search.begin_depth();
      const int score = at_depth(search, root, depth, found);
      if (search.stopped()) return found;
      found.score = score;
      found.depth = depth;
      found.exact = search.horizon() == horizon || search.is_proof(root, score);
      if (found.exact || depth == last) return found;
    }
  }

  int at_depth(Search<P>& search, const P& root, int depth, const Outline& before) {
    if (P::kHasMargin && !plan_.margin) {
      const int score = search.search(root, {-1, 1, depth});
      return score > 0 ? 1 : score < 0 ? -1 : 0;
    }
    if (P::kNullWindows) return by_null_windows(search, root, depth);
    return by_aspiration(search, root, depth, before);
  }

  /// Halves what the score may be [Pons, "Solving Connect Four", 2015]. Scores far from a draw are
  /// asked for first, since they cost the least to exclude.
  int by_null_windows(Search<P>& search, const P& root, int depth) {
    constexpr int kNear = 6;
    Bounds left = root.range();
    while (left.low < left.high && !search.stopped()) {
      int middle = left.low + (left.high - left.low) / 2;
      if (left.low < -kNear && middle <= 0) {
        middle = std::min(middle, left.low / 2);
      } else if (left.high > kNear && middle >= 0) {
        middle = std::max(middle, left.high / 2);
      }
      const int score = search.search(root, {middle, middle + 1, depth});
      if (score <= middle) {
        left.high = std::max(left.low, score);
      } else {
        left.low = std::min(left.high, score);
      }
    }
    return left.low;
  }

  /// A window round the score of the search before, which opens where the score is not in it.
  int by_aspiration(Search<P>& search, const P& root, int depth, const Outline& before) {
    const Bounds range = root.range();
    std::int64_t half = before.depth == 0 ? std::int64_t{2} * range.high : 2;
    for (;;) {
      const auto alpha =
          static_cast<int>(std::max<std::int64_t>(range.low - 1, before.score - half));
      const auto beta =
          static_cast<int>(std::min<std::int64_t>(range.high + 1, before.score + half));
      const int score = search.search(root, {alpha, beta, depth});
      const bool inside =
          (score > alpha || alpha < range.low) && (score < beta || beta > range.high);
      if (inside || search.stopped()) return score;
      half *= 8;
    }
  }

  static Action any_move(const P& root) {
    typename P::Children children;
    std::uint64_t nodes = 0;
    root.list_all(children, nodes);
    return children.action(0);
  }

  /// Best moves to the end of the game. At each position the first move is taken that is shown to
  /// keep the score, within the plies in which it was found where that can be shown again; most of
  /// the proofs are in the table.
  std::vector<Action> line_of(Search<P>& search, const P& root, const Outline& found) {
    std::vector<Action> line;
    int score = found.score;
    int depth = found.depth;
    P position = root;
    P next{};
    typename P::Children children;
    std::uint64_t nodes = 0;
    while (!position.over()) {
      position.list_all(children, nodes);
      const int least = least_that_keeps(score);
      depth = depth == kWholeGame ? kWholeGame : std::max(0, depth - 1);
      int place = place_of_best(search, position, children, {least, depth}, next);
      if (place < 0) place = place_of_best(search, position, children, {least, kWholeGame}, next);
      if (place < 0) break;  // stopped
      line.push_back(children.action(place));
      position.play(children, place, next);
      if (!position.same_mover(next)) score = -score;
      position = next;
    }
    return line;
  }

  /// Of a sign, any score of that sign.
  [[nodiscard]] int least_that_keeps(int score) const noexcept {
    const bool sign_only = P::kHasMargin && !plan_.margin;
    return sign_only && score < 0 ? kNoScore + 1 : score;
  }

  /// What is asked of a move: a score, shown within so many plies after it.
  struct Wanted {
    int least;
    int depth;
  };

  int place_of_best(Search<P>& search, const P& position, typename P::Children& children,
                    const Wanted& wanted, P& next) {
    for (int i = 0; i < children.size(); ++i) {
      position.play(children, i, next);
      const auto over = over_for_mover(position, next);
      if (over && *over >= wanted.least) return i;
    }
    const auto found = shared_.table.find(position.key());
    if (found && found->action != kNoAction) {
      const Action likely = position.from_key(found->action);
      for (int i = 1; i < children.size(); ++i) {
        if (children.action(i) == likely) children.swap(0, i);
      }
    }
    for (int i = 0; i < children.size(); ++i) {
      position.play(children, i, next);
      const std::uint64_t horizon = search.horizon();
      const int value = value_of(search, position, next, wanted);
      if (search.stopped()) return -1;
      const bool is_shown = search.horizon() == horizon || search.is_proof(position, value);
      if (is_shown && value >= wanted.least) return i;
    }
    return -1;
  }

  /// The score of a child that ends the game, for the player to move at `position`.
  static std::optional<int> over_for_mover(const P& position, const P& next) {
    const std::optional<int> over = next.over();
    return over && !position.same_mover(next) ? -*over : over;
  }

  /// The score of a child against the one that is wanted, for the player to move at `position`.
  int value_of(Search<P>& search, const P& position, const P& next, const Wanted& wanted) {
    const auto& [least, depth] = wanted;
    if (const auto over = over_for_mover(position, next)) return *over;
    if (position.same_mover(next)) return search.search(next, {least - 1, least, depth});
    return -search.search(next, {-least, 1 - least, depth});
  }

  Shared shared_;
  Plan plan_;
  std::function<bool()> poll_;
  std::vector<std::thread> helpers_;
  std::atomic<std::uint64_t> helper_nodes_{0};
  int polls_ = 0;
};

}  // namespace pyengine::alphabeta
