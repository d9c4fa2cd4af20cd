/// A complete search from one root by one or more threads: deepening, windows, limits, best line.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "exact/alphabeta/search.h"

namespace pyengine::alphabeta {

/// How to search a root.
struct Plan {
  int threads = 1;
  bool margin = false;     ///< find the score itself, else only its sign
  bool deepens = false;    ///< deepen ply by ply, so that a best move is always available
  int depth = kWholeGame;  ///< maximum number of plies
  bool line = true;        ///< whether to find the principal variation
};

/// `line`: best moves of both players, as far as known.
template <class Score>
struct RunResult {
  Score score = 0;
  int depth = 0;       ///< plies of the last completed search
  bool exact = false;  ///< holds for the whole game, not only up to a limit
  std::vector<Action> line;
  std::uint64_t nodes = 0;
};

template <SolverPosition P>
class Run {
 public:
  using Score = typename P::Score;
  using Bounds = BasicBounds<Score>;

  /// `poll`: called on the calling thread; false ends the search with its current result. It may
  /// throw.
  Run(Table& table, const Plan& plan, std::function<bool()> poll)
      : shared_(table), plan_(plan), poll_(std::move(poll)) {
    table.begin_search();
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { end_helpers(); }

  /// `root` must not be terminal.
  RunResult<Score> solve(const P& root) {
    Search<P> search(shared_, [this, &root] { look(root); });
    RunResult<Score> found;
    RootMove best;
    try {
      deepen(search, root, found);
      best = search.root_move();  // before find_line(), which searches other roots
      if (found.exact && plan_.line) find_line(search, root, found);
    } catch (const Stopped&) {
      if (!found.exact) best = search.root_move();
    }
    end_helpers();
    // Bounds may determine the value without a move, and a limit may come before a move is found.
    if (plan_.line) found.exact &= best.is_shown || !found.line.empty();
    if (found.line.empty() && best.action != kNoAction) found.line.assign(1, best.action);
    found.nodes = search.nodes() + helper_nodes_.load(std::memory_order_relaxed);
    return found;
  }

 private:
  using Clock = std::chrono::steady_clock;
  /// A small search ends before a thread has started.
  static constexpr Clock::duration kAlone = std::chrono::milliseconds(2);

  void look(const P& root) {
    if (!poll_()) {
      shared_.stop.store(true, std::memory_order_relaxed);
      throw Stopped();
    }
    if (plan_.threads > 1 && !asked_for_helpers_ && Clock::now() - begun_ > kAlone) {
      start_helpers(root);
    }
  }

  void start_helpers(const P& root) {
    asked_for_helpers_ = true;
    shared_.busy.open();
    shared_.threads.store(plan_.threads, std::memory_order_relaxed);
    try {
      for (int i = 1; i < plan_.threads; ++i) helpers_.emplace_back([this, root] { help(root); });
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
      // The system cannot create more threads.
    }
  }

  void help(const P& root) {
    Search<P> search(shared_, nullptr);
    RunResult<Score> found;
    try {
      deepen(search, root, found);
    } catch (...) {  // NOLINT(bugprone-empty-catch)
      // Stopped, out of memory, or a fault of the game, which the calling thread meets as well.
    }
    helper_nodes_.fetch_add(search.nodes(), std::memory_order_relaxed);
  }

  void end_helpers() noexcept {
    if (helpers_.empty()) return;
    shared_.stop.store(true, std::memory_order_relaxed);
    for (std::thread& helper : helpers_) helper.join();
    helpers_.clear();
  }

  /// All threads run the same search and share the table. `found` always holds the current result.
  void deepen(Search<P>& search, const P& root, RunResult<Score>& found) {
    const int last = std::min(plan_.depth, kWholeGame);
    for (int depth = plan_.deepens ? 1 : last;; ++depth) {
      const std::uint64_t horizon = search.horizon();
      search.begin_depth();
      found.score = at_depth(search, root, depth, found);
      found.depth = depth;
      found.exact = search.horizon() == horizon || search.is_proof(root, found.score);
      if (found.exact || depth == last) return;
    }
  }

  Score at_depth(Search<P>& search, const P& root, int depth, const RunResult<Score>& before) {
    if (sign_only()) {
      const Score score = search.search(root, {-1, 1, depth});
      return score > 0 ? 1 : score < 0 ? -1 : 0;
    }
    if constexpr (P::kNullWindows) {
      return by_null_windows(search, root, depth);
    } else {
      return by_aspiration(search, root, depth, before);
    }
  }

  /// Bisects the range of the score [Pons, "Solving Connect Four", 2015]. Scores far from a draw
  /// are tested first, since they are the cheapest to exclude.
  int by_null_windows(Search<P>& search, const P& root, int depth) {
    constexpr int kNear = 6;
    Bounds left = root.range();
    while (left.low < left.high) {
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

  /// A window around the previous score, which is widened if the score is outside.
  Score by_aspiration(Search<P>& search, const P& root, int depth, const RunResult<Score>& before) {
    const Bounds range = root.range();
    for (const Score half : {2, 16}) {
      if (before.depth == 0) break;
      const Score alpha = std::max(range.low - 1, before.score - half);
      const Score beta = std::min(range.high + 1, before.score + half);
      const Score score = search.search(root, {alpha, beta, depth});
      if ((score > alpha || alpha < range.low) && (score < beta || beta > range.high)) return score;
    }
    return search.search(root, {range.low - 1, range.high + 1, depth});
  }

  /// Best moves to the end of the game. At each position the first move proven to preserve the
  /// score is taken, within the number of plies that proved it if possible; most of the proofs are
  /// in the table.
  void find_line(Search<P>& search, const P& root, RunResult<Score>& found) {
    Score score = found.score;
    int depth = found.depth;
    P position = root;
    P next{};
    typename P::Children children;
    std::uint64_t nodes = 0;
    while (!position.over()) {
      position.list_all(children, nodes);
      const Score least = least_that_keeps(score);
      depth = depth == kWholeGame ? kWholeGame : std::max(0, depth - 1);
      int place = place_of_best(search, position, children, {least, depth}, next);
      if (place < 0) place = place_of_best(search, position, children, {least, kWholeGame}, next);
      if (place < 0) return;  // two positions have the same key
      found.line.push_back(children.action(place));
      position.play(children, place, next);
      if (!position.same_mover(next)) score = -score;
      position = next;
    }
  }

  /// Whether to find only the sign of a score that is a margin.
  [[nodiscard]] bool sign_only() const noexcept { return P::kHasMargin && !plan_.margin; }

  /// If only the sign matters, any score with that sign.
  [[nodiscard]] Score least_that_keeps(Score score) const noexcept {
    return sign_only() && score < 0 ? kNoScoreOf<Score> + 1 : score;
  }

  /// The requirement on a move: a score, proven within a number of plies after it.
  struct Wanted {
    Score least;
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
      const Score value = value_of(search, position, next, wanted);
      const bool is_shown = search.horizon() == horizon || search.is_proof(position, value);
      if (is_shown && value >= wanted.least) return i;
    }
    return -1;
  }

  /// The score of a terminal child, for the player to move at `position`.
  static std::optional<Score> over_for_mover(const P& position, const P& next) {
    const std::optional<Score> over = next.over();
    return over && !position.same_mover(next) ? -*over : over;
  }

  /// Compares the score of a child with the required one, for the player to move at `position`.
  Score value_of(Search<P>& search, const P& position, const P& next, const Wanted& wanted) {
    const auto& [least, depth] = wanted;
    if (const auto over = over_for_mover(position, next)) return *over;
    if (position.same_mover(next)) return search.search(next, {least - 1, least, depth});
    return -search.search(next, {-least, 1 - least, depth});
  }

  Shared shared_;
  const Plan plan_;
  std::function<bool()> poll_;
  bool asked_for_helpers_ = false;  ///< once is enough, even if the system refused
  std::vector<std::thread> helpers_;
  std::atomic<std::uint64_t> helper_nodes_{0};
  Clock::time_point begun_ = Clock::now();
};

}  // namespace pyengine::alphabeta
