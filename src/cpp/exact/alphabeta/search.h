/// Negamax with alpha-beta, principal variations, a transposition table and marks for other
/// threads: what one thread does, for any position. Fail-soft: the score is exact between alpha and
/// beta, and a bound outside.
///
/// Sources: Knuth and Moore, "An analysis of alpha-beta pruning", 1975; Marsland and Campbell,
/// "Parallel search of strongly ordered game trees", 1982 (principal variations); Plaat et al.,
/// "Best-first fixed-depth minimax algorithms", 1996 (looking the children up first).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "exact/alphabeta/busy.h"
#include "exact/alphabeta/history.h"
#include "exact/alphabeta/position.h"
#include "exact/alphabeta/table.h"

namespace pyengine::alphabeta {

/// What the threads of a search share.
struct Shared {
  explicit Shared(Table& table_in) : table(table_in) {}
  Table& table;
  Busy busy;
  std::atomic<bool> stop{false};  ///< what is found from now on means nothing
  std::atomic<int> threads{1};
};

template <SolverPosition P>
class Search {
 public:
  /// `poll` is called now and then and may throw; it sets Shared::stop to end all threads.
  Search(Shared& shared, std::function<void()> poll) : shared_(shared), poll_(std::move(poll)) {}

  /// The score of `position` within the window of `question`; 0 once stopped. `ply`: how deep
  /// below the root.
  int search(const P& position, Question question, int ply = 0) {
    ++nodes_;
    const bool kept = position.is_kept();
    std::uint64_t key = 0;
    if constexpr (P::kKeyIsCheap) {
      if (kept) shared_.table.prefetch(key = position.key());
    }
    if (const auto score = position.known(question, frame_at(ply).children, nodes_)) return *score;
    const Bounds bounds = position.bounds(question);
    question.alpha = std::max(question.alpha, bounds.low);
    question.beta = std::min(question.beta, bounds.high);
    if (question.alpha >= question.beta) return question.alpha;
    if constexpr (!P::kKeyIsCheap) key = position.key();
    Action first = kNoAction;
    if (const auto found = kept ? shared_.table.find(key) : std::nullopt) {
      first = found->action == kNoAction ? kNoAction : position.from_key(found->action);
      if (const auto score = answer(*found, question)) {
        if (ply == 0 && first != kNoAction) take_root_action(first, *score > question.alpha);
        return *score;
      }
    }
    if (question.depth == 0) {
      ++horizon_;
      return std::clamp(position.estimate(), bounds.low, bounds.high);
    }
    return search_children(position, question, bounds, key, first, ply);
  }

  [[nodiscard]] std::uint64_t nodes() const noexcept { return nodes_; }
  /// Tells the table how much was stored since it was last told; of one thread, for all.
  void tell_table() noexcept {
    const auto threads =
        static_cast<std::uint64_t>(shared_.threads.load(std::memory_order_relaxed));
    shared_.table.expect(threads * (stores_ - told_));
    told_ = stores_;
  }
  /// The best move of the root in the last search that found one.
  [[nodiscard]] Action root_action() const noexcept { return root_action_; }
  /// What smaller depths have shown of the root's move counts no more; the move itself does.
  void begin_depth() noexcept { root_action_is_shown_ = false; }
  /// Whether it was shown to be better than some score, and not only the first one there was.
  [[nodiscard]] bool root_action_is_shown() const noexcept { return root_action_is_shown_; }
  /// Positions so far whose score comes from a limit of depth.
  [[nodiscard]] std::uint64_t horizon() const noexcept { return horizon_; }
  /// Whether a score cannot come from a limit of depth.
  [[nodiscard]] static bool is_proof(const P& position, int score) noexcept {
    const Bounds range = position.range();
    return P::kEndsAreProof && (score <= range.low || score >= range.high);
  }
  [[nodiscard]] bool stopped() const noexcept {
    return shared_.stop.load(std::memory_order_relaxed);
  }

 private:
  /// What a node needs while its children are searched; one for each ply.
  struct Frame {
    typename P::Children children;
    P next{};
    std::vector<int> later;  ///< places of children that another thread was searching
  };

  struct Best {
    int score = kNoScore;
    Action action = kNoAction;
  };

  void take_root_action(Action action, bool is_shown) noexcept {
    if (!is_shown && root_action_ != kNoAction) return;
    root_action_ = action;
    root_action_is_shown_ |= is_shown;
  }

  /// The score that the table has, if it answers the question; else narrows the window.
  std::optional<int> answer(const Found& found, Question& question) noexcept {
    if (found.depth < question.depth) return std::nullopt;
    const bool is_lower = found.bound != Bound::upper;
    const bool is_upper = found.bound != Bound::lower;
    const bool answers = (is_lower && is_upper) || (is_lower && found.score >= question.beta) ||
        (is_upper && found.score <= question.alpha);
    if (answers) {
      horizon_ += found.depth == kWholeGame ? 0 : 1;
      return found.score;
    }
    return std::nullopt;
  }

  int search_children(const P& position, const Question& question, const Bounds& bounds,
                      std::uint64_t key, Action first, int ply) {
    if (nodes_ >= next_poll_) ask();
    if (stopped()) return 0;
    const std::uint64_t nodes = nodes_;
    const std::uint64_t horizon = horizon_;
    Frame& frame = frame_at(ply);
    position.list(question, frame.children, nodes_);
    if (frame.children.size() == 0) return position.over().value_or(bounds.low);
    if (const auto score = position.known_by_children(question, frame.children)) return *score;
    rank(frame.children, first, ply);
    const bool large = position.is_large(question);
    if (P::kLooksUpChildren && large && question.is_null_window()) {
      if (const auto score = known_above(position, frame, question)) return *score;
    }
    const Best best = try_children(position, frame, question, large, ply);
    if (stopped()) return 0;
    if (ply == 0) take_root_action(best.action, best.score > question.alpha);
    if (position.is_kept()) {
      const bool whole = horizon == horizon_ || is_proof(position, best.score);
      store(position, key, best, first, question, whole, nodes_ - nodes);
    }
    if constexpr (P::kKeepsHistory) {
      if (best.score >= question.beta) history_.add(best.action, ply, question.depth);
    }
    return std::clamp(best.score, bounds.low, bounds.high);
  }

  void rank(typename P::Children& children, Action first, int ply) noexcept {
    constexpr int kFirst = 1 << 30;
    for (int i = 0; i < children.size(); ++i) {
      if (children.action(i) == first) {
        children.order(i) = kFirst;
      } else if constexpr (P::kKeepsHistory) {
        children.order(i) += history_.order(children.action(i), ply);
      }
    }
  }

  /// Puts the best of the children from `place` on at `place`.
  static void pick(typename P::Children& children, int place) noexcept {
    int best = place;
    for (int i = place + 1; i < children.size(); ++i) {
      if (children.order(i) > children.order(best)) best = i;
    }
    if (best != place) children.swap(place, best);
  }

  /// The score by which the table knows some child to be above the window.
  std::optional<int> known_above(const P& position, Frame& frame, const Question& question) {
    for (int i = 0; P::kKeyIsCheap && i < frame.children.size(); ++i) {
      position.play(frame.children, i, frame.next);
      shared_.table.prefetch(frame.next.key());
    }
    for (int i = 0; i < frame.children.size(); ++i) {
      position.play(frame.children, i, frame.next);
      if (position.same_mover(frame.next)) continue;
      const auto found = shared_.table.find(frame.next.key());
      if (!found || found->bound == Bound::lower || found->depth != kWholeGame) continue;
      if (-found->score >= question.beta) return -found->score;
    }
    return std::nullopt;
  }

  Best try_children(const P& position, Frame& frame, const Question& question, bool large,
                    int ply) {
    Best best;
    const bool marks = large && shared_.threads.load(std::memory_order_relaxed) > 1;
    frame.later.clear();
    const int count = frame.children.size();
    for (int i = 0; i < count && best.score < question.beta; ++i) {
      pick(frame.children, i);
      position.play(frame.children, i, frame.next);
      if (marks && i > 0 && shared_.busy.has(frame.next.key())) {
        frame.later.push_back(i);
        continue;
      }
      try_child(position, frame, i, question, best, marks, ply);
      if (stopped()) return best;
    }
    for (std::size_t k = 0; k < frame.later.size() && best.score < question.beta; ++k) {
      const int i = frame.later[k];
      position.play(frame.children, i, frame.next);
      try_child(position, frame, i, question, best, marks, ply);
      if (stopped()) return best;
    }
    return best;
  }

  void try_child(const P& position, Frame& frame, int place, const Question& question, Best& best,
                 bool marks, int ply) {
    const std::uint64_t mark = marks ? frame.next.key() : 0;
    if (marks) shared_.busy.add(mark);
    const int least = std::max(question.alpha, best.score);
    const bool is_first = best.action == kNoAction;
    int score = score_of(position, frame.next, least, is_first ? question.beta : least + 1,
                         question.depth, ply);
    if (!is_first && score > least && score < question.beta && !stopped()) {
      score = score_of(position, frame.next, least, question.beta, question.depth, ply);
    }
    if (marks) shared_.busy.remove(mark);
    if (score > best.score) best = {score, frame.children.action(place)};
  }

  /// The score of a child for the player to move at `position`.
  int score_of(const P& position, const P& child, int alpha, int beta, int depth, int ply) {
    const int left = depth == kWholeGame ? kWholeGame : depth - 1;
    if (position.same_mover(child)) return search(child, {alpha, beta, left}, ply + 1);
    return -search(child, {-beta, -alpha, left}, ply + 1);
  }

  /// Where no move is good enough, the one that was best before is kept.
  void store(const P& position, std::uint64_t key, const Best& best, Action before,
             const Question& question, bool whole, std::uint64_t nodes) noexcept {
    const Bound bound = best.score >= question.beta ? Bound::lower
        : best.score <= question.alpha              ? Bound::upper
                                                    : Bound::exact;
    const int depth = whole ? kWholeGame : question.depth;
    const Action kept = bound == Bound::upper ? before : best.action;
    const Action action = kept == kNoAction ? kNoAction : position.in_key(kept);
    ++stores_;
    shared_.table.store(key, {best.score, bound, static_cast<std::uint8_t>(depth), action}, nodes);
  }

  Frame& frame_at(int ply) {
    while (frames_.size() <= static_cast<std::size_t>(ply)) {
      frames_.push_back(std::make_unique<Frame>());
    }
    return *frames_[static_cast<std::size_t>(ply)];
  }

  void ask() {
    constexpr std::uint64_t kNodesPerPoll = 1024;
    next_poll_ = nodes_ + kNodesPerPoll;
    if (!poll_) return;
    tell_table();
    poll_();
  }

  Shared& shared_;
  std::function<void()> poll_;
  std::vector<std::unique_ptr<Frame>> frames_;
  History history_;
  std::uint64_t nodes_ = 0;
  std::uint64_t horizon_ = 0;
  std::uint64_t next_poll_ = 0;
  std::uint64_t stores_ = 0;
  std::uint64_t told_ = 0;  ///< stores that the table knows of
  Action root_action_ = kNoAction;
  bool root_action_is_shown_ = false;
};

}  // namespace pyengine::alphabeta
