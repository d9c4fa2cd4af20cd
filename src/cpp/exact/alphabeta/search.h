/// Negamax with alpha-beta, principal variation search, a transposition table and marks for other
/// threads: the search of one thread, for any position. Fail-soft: the score is exact between alpha
/// and beta, and a bound outside. Frames on the heap, one per ply, replace recursion, so no game is
/// too long for a thread's stack.
///
/// Sources: Knuth and Moore, "An analysis of alpha-beta pruning", 1975; Marsland and Campbell,
/// "Parallel search of strongly ordered game trees", 1982 (principal variations); Plaat et al.,
/// "Best-first fixed-depth minimax algorithms", 1996 (table lookups of all children first).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "exact/alphabeta/frame.h"
#include "exact/alphabeta/history.h"
#include "exact/alphabeta/poll_interval.h"
#include "exact/alphabeta/position.h"
#include "exact/alphabeta/shared.h"
#include "exact/alphabeta/table.h"

namespace pyengine::alphabeta {

template <SolverPosition P>
class Search {
 public:
  using Score = typename P::Score;
  using Frame = SearchFrame<P>;
  using Question = BasicQuestion<Score>;
  using Bounds = BasicBounds<Score>;

  /// `look` is called about every millisecond and may throw; helper threads have none.
  Search(Shared& shared, std::function<void()> look) : shared_(shared), look_(std::move(look)) {}

  /// The score of `root` within the window of `question`. Throws Stopped.
  Score search(const P& root, const Question& question) {
    Score score{};
    if (enter(root, question, 0, score)) return score;
    bool has_score = false;  // whether `score` is that of the child the frame waits for
    for (int ply = 0; ply >= 0;) {
      Frame& frame = *frames_[static_cast<std::size_t>(ply)];
      const bool again = has_score && take(frame, score);
      if (!again && !choose(frame)) {
        score = leave(frame, ply--);
        has_score = true;
        continue;
      }
      has_score = enter(frame.next, question_of_child(frame), ply + 1, score);
      if (!has_score) ++ply;
    }
    return score;
  }

  [[nodiscard]] std::uint64_t nodes() const noexcept { return nodes_; }
  /// The best root move in the last search that found one.
  [[nodiscard]] const RootMove& root_move() const noexcept { return root_move_; }
  /// Forgets what smaller depths have proven about the root move, but keeps the move.
  void begin_depth() noexcept { root_move_.is_shown = false; }
  /// Number of positions so far whose score comes from the depth limit.
  [[nodiscard]] std::uint64_t horizon() const noexcept { return horizon_; }
  /// Whether a score certainly does not come from the depth limit.
  [[nodiscard]] static bool is_proof(const P& position, Score score) noexcept {
    const Bounds range = position.range();
    return P::kEndsAreProof && (score <= range.low || score >= range.high);
  }

 private:
  /// Whether the score is known immediately; if not, the frame of `ply` is ready for its children.
  bool enter(const P& position, Question question, int ply, Score& score) {
    ++nodes_;
    const bool kept = position.is_kept();
    std::uint64_t key = 0;
    if constexpr (P::kKeyIsCheap) {
      if (kept) shared_.table.prefetch(key = position.key());
    }
    Frame& frame = frame_at(ply);
    if (const auto known = position.known(question, frame.children, nodes_)) {
      score = *known;
      return true;
    }
    const Bounds bounds = position.bounds(question);
    question.alpha = std::max(question.alpha, bounds.low);
    question.beta = std::min(question.beta, bounds.high);
    if (question.alpha >= question.beta) {
      score = question.alpha;
      return true;
    }
    if constexpr (!P::kKeyIsCheap) key = position.key();
    frame.first = kNoAction;
    if (const auto found = kept ? shared_.table.find(key) : std::nullopt) {
      frame.first = found->action == kNoAction ? kNoAction : position.from_key(found->action);
      if (answers(position, *found, question, score)) {
        if (ply == 0) take_root_move(frame.first, score > question.alpha);
        return true;
      }
    }
    if (question.depth == 0) {
      ++horizon_;
      score = std::clamp<Score>(position.estimate(), bounds.low, bounds.high);
      return true;
    }
    frame.position = &position;
    frame.question = question;
    frame.bounds = bounds;
    frame.key = key;
    frame.is_kept = kept;
    return open(frame, ply, score);
  }

  /// Lists the children. Returns whether they determine the score without a search.
  bool open(Frame& frame, int ply, Score& score) {
    if (--nodes_to_poll_ <= 0) poll();
    if (shared_.stop.load(std::memory_order_relaxed)) throw Stopped();
    const P& position = *frame.position;
    frame.nodes = nodes_;
    frame.horizon = horizon_;
    position.list(frame.question, frame.children, nodes_);
    if (frame.children.size() == 0) {
      score = position.over().value_or(frame.bounds.low);
      return true;
    }
    if (const auto known = position.known_by_children(frame.question, frame.children)) {
      score = *known;
      return true;
    }
    rank(frame, ply);
    const bool large = position.is_large(frame.question);
    if (P::kLooksUpChildren && large && frame.question.is_null_window()) {
      if (known_above(frame, score)) return true;
    }
    frame.marks = large && shared_.threads.load(std::memory_order_relaxed) > 1;
    frame.best = {};
    frame.tried = 0;
    frame.later_tried = 0;
    frame.later.clear();
    return false;
  }

  /// Plays the next child into `frame.next`; false if no other child can change the score.
  bool choose(Frame& frame) {
    if (frame.best.score >= frame.question.beta) return false;
    const P& position = *frame.position;
    while (frame.tried < frame.children.size()) {
      const int place = frame.tried++;
      frame.pick(place);
      position.play(frame.children, place, frame.next);
      if (frame.marks && place > 0 && shared_.busy.has(frame.next.key())) {
        frame.later.push_back(place);
        continue;
      }
      begin_child(frame, place);
      return true;
    }
    if (frame.later_tried == frame.later.size()) return false;
    const int place = frame.later[frame.later_tried++];
    position.play(frame.children, place, frame.next);
    begin_child(frame, place);
    return true;
  }

  void begin_child(Frame& frame, int place) noexcept {
    frame.place = place;
    if (frame.marks) shared_.busy.add(frame.mark = frame.next.key());
    const bool is_first = frame.best.action == kNoAction;
    frame.low = std::max(frame.question.alpha, frame.best.score);
    frame.high = is_first ? frame.question.beta : frame.low + 1;
  }

  [[nodiscard]] Question question_of_child(const Frame& frame) const noexcept {
    const int depth = frame.question.depth;
    const int left = depth == kWholeGame ? kWholeGame : depth - 1;
    if (frame.position->same_mover(frame.next)) return {frame.low, frame.high, left};
    return {-frame.high, -frame.low, left};
  }

  /// Records the child's score. Returns whether it must be searched again with an open window.
  bool take(Frame& frame, Score of_child) noexcept {
    const Score score = frame.position->same_mover(frame.next) ? of_child : -of_child;
    const Score beta = frame.question.beta;
    if (frame.high < beta && score > frame.low && score < beta) {
      frame.high = beta;
      return true;
    }
    if (frame.marks) shared_.busy.remove(frame.mark);
    if (score > frame.best.score) frame.best = {score, frame.children.action(frame.place)};
    return false;
  }

  /// The score of a node whose children have been searched.
  Score leave(const Frame& frame, int ply) {
    const auto& [score, action] = frame.best;
    if (ply == 0) take_root_move(action, score > frame.question.alpha);
    if (frame.is_kept) store(frame);
    if constexpr (P::kKeepsHistory) {
      if (score >= frame.question.beta) history_.add(action, ply, frame.question.depth);
    }
    return std::clamp(score, frame.bounds.low, frame.bounds.high);
  }

  void take_root_move(Action action, bool is_shown) noexcept {
    if (action == kNoAction || (!is_shown && root_move_.action != kNoAction)) return;
    root_move_ = {action, root_move_.is_shown || is_shown};
  }

  /// Whether the table entry answers the question.
  bool answers(const P& position, const Found& found, const Question& question, Score& score) {
    if (found.depth < question.depth) return false;
    const bool is_lower = found.bound != Bound::upper;
    const bool is_upper = found.bound != Bound::lower;
    score = score_in(position, found);
    if ((!is_lower || !is_upper) && !(is_lower && score >= question.beta) &&
        !(is_upper && score <= question.alpha)) {
      return false;
    }
    horizon_ += found.depth == kWholeGame ? 0 : 1;
    return true;
  }

  void rank(Frame& frame, int ply) noexcept {
    constexpr int kFirst = 1 << 30;
    typename P::Children& children = frame.children;
    for (int i = 0; i < children.size(); ++i) {
      if (children.action(i) == frame.first) {
        children.order(i) = kFirst;
      } else if constexpr (P::kKeepsHistory) {
        children.order(i) += history_.order(children.action(i), ply);
      }
    }
  }

  /// Whether the table knows a child to be above the window, and its score.
  bool known_above(Frame& frame, Score& score) {
    const P& position = *frame.position;
    for (int i = 0; P::kKeyIsCheap && i < frame.children.size(); ++i) {
      position.play(frame.children, i, frame.next);
      shared_.table.prefetch(frame.next.key());
    }
    for (int i = 0; i < frame.children.size(); ++i) {
      position.play(frame.children, i, frame.next);
      if (position.same_mover(frame.next)) continue;
      const auto found = shared_.table.find(frame.next.key());
      if (!found || found->bound == Bound::lower || found->depth != kWholeGame) continue;
      score = -score_in(frame.next, *found);
      if (score >= frame.question.beta) return true;
    }
    return false;
  }

  /// If no move is good enough, the previous best move is kept.
  void store(const Frame& frame) {
    const P& position = *frame.position;
    const Score score = frame.best.score;
    const Bound bound = score >= frame.question.beta ? Bound::lower
        : score <= frame.question.alpha              ? Bound::upper
                                                     : Bound::exact;
    const bool whole = frame.horizon == horizon_ || is_proof(position, score);
    const int depth = whole ? kWholeGame : frame.question.depth;
    const Action kept = bound == Bound::upper ? frame.first : frame.best.action;
    const Action action = kept == kNoAction ? kNoAction : position.in_key(kept);
    shared_.table.store(
        frame.key, {entry_of(position, score), bound, static_cast<std::uint8_t>(depth), action},
        nodes_ - frame.nodes);
    if (++stores_ == kStoresPerReport) report_stores();
  }

  Frame& frame_at(int ply) {
    while (frames_.size() <= static_cast<std::size_t>(ply)) {
      frames_.push_back(std::make_unique<Frame>());
    }
    return *frames_[static_cast<std::size_t>(ply)];
  }

  void poll() {
    nodes_to_poll_ = polls_.next();
    if (look_) look_();
  }

  /// Enlarges the table; called by one thread for all.
  void report_stores() {
    stores_ = 0;
    if (!look_) return;
    const auto threads =
        static_cast<std::uint64_t>(shared_.threads.load(std::memory_order_relaxed));
    shared_.table.expect(threads * kStoresPerReport, look_);
  }

  static constexpr std::uint64_t kStoresPerReport = 1024;

  Shared& shared_;
  std::function<void()> look_;
  std::vector<std::unique_ptr<Frame>> frames_;
  History history_;
  std::uint64_t nodes_ = 0;
  std::uint64_t horizon_ = 0;
  std::uint64_t stores_ = 0;  ///< not yet reported to the table
  PollInterval polls_;
  int nodes_to_poll_ = 0;  ///< nodes with children
  RootMove root_move_;
};

}  // namespace pyengine::alphabeta
