/// The search of one tree: its budget, its leaves in flight, and the two operations of workers:
/// gathering leaves into a batch and completing evaluated leaves.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "eval/evaluator.h"
#include "games/any/state.h"
#include "search/config.h"
#include "search/rules/root_plan.h"
#include "search/run/decision.h"
#include "search/run/detours.h"
#include "search/run/limits.h"
#include "search/run/root_moves.h"
#include "search/run/root_samples.h"
#include "search/run/slot.h"
#include "search/run/turn.h"
#include "search/run/worker.h"
#include "search/tree/backup.h"
#include "search/tree/tree.h"

namespace pyengine {

/// Cache-line aligned: with many trees, each is searched by a different core.
class alignas(kCacheLine) TreeSearch {
 public:
  /// `root`: position of the tree's root, not terminal. `stream`: the random stream. The budget is
  /// reduced to the visits that the root can still count.
  TreeSearch(Tree& tree, const State& root, const SearchConfig& config, std::uint64_t budget,
             std::uint64_t stream, BoundEvaluator& evaluator);
  TreeSearch(const TreeSearch&) = delete;
  TreeSearch& operator=(const TreeSearch&) = delete;
  ~TreeSearch();

  [[nodiscard]] Tree& tree() const noexcept { return tree_; }
  [[nodiscard]] const State& root() const noexcept { return root_; }
  [[nodiscard]] const SearchConfig& config() const noexcept { return config_; }
  [[nodiscard]] std::uint64_t stream() const noexcept { return stream_; }
  [[nodiscard]] std::uint64_t budget() const noexcept { return tickets_.budget(); }
  /// Visits of the root's children before this search.
  [[nodiscard]] std::uint64_t reused() const noexcept { return reused_; }

  /// Whether a worker may gather now; cheap, and may change at any time.
  [[nodiscard]] bool may_gather() const noexcept;
  /// The budget is spent and no leaf is in flight. Exact only while nobody gathers.
  [[nodiscard]] bool finished() const noexcept;
  /// The root is evaluated and has its edges and its noise.
  [[nodiscard]] bool root_ready() const noexcept {
    return root_ready_.load(std::memory_order_acquire);
  }
  /// The rule's plan for the root, if it has one; available after root_ready().
  [[nodiscard]] const RootPlan* plan() const noexcept { return plan_.get(); }
  /// For choose = lcb, available after root_ready(); otherwise nullptr.
  [[nodiscard]] const RootSamples* samples() const noexcept {
    return samples_ ? &*samples_ : nullptr;
  }
  [[nodiscard]] bool proven() const noexcept {
    return config_.solver && tree_.root().proof.load(std::memory_order_relaxed) != Proof::none;
  }
  /// The rest of the budget would not change the move: see SearchConfig::stop_when_decided.
  [[nodiscard]] bool decided() const noexcept { return decided_.load(std::memory_order_relaxed); }
  /// No further simulation begins.
  void close() noexcept { closed_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
  /// Removes the marks of walks of a graph that collided just before their leaf landed. Call it,
  /// while no worker is walking the tree, before nodes are freed; the destructor does so, too.
  void remove_stray_marks() noexcept;
  /// Allocates all memory of this tree through one allocator, whichever worker needs it, so that
  /// the same nodes fit under the limit with any number of threads. For searches in rounds.
  void use_own_allocator() { own_.emplace(tree_.shared_arena()); }

  /// Called before the search: a root that it evaluates gets only these moves, ascending; empty =
  /// all. The caller keeps them.
  void restrict_root(std::span<const ActionId> moves) noexcept { only_ = moves; }
  [[nodiscard]] bool restricted() const noexcept { return !only_.empty(); }
  /// Called before the search: `workers` workers will search the tree by leases (lease.h). Every
  /// leaf except the root is then answered immediately.
  void divide_among(int workers) noexcept { seats_.divide_among(workers); }

  /// Walks and fills rows of `slot` until the limits of the turn, the batch, the budget or the
  /// leaves in flight are reached. Returns whether anything was done.
  template <Sharing S>
  bool gather(Worker& worker, Slot& slot, const Turn& turn);
  /// Rows per leaf.
  [[nodiscard]] int rows_per_leaf(bool is_root) const noexcept;
  /// Whether the slot has room for one more leaf of this search.
  [[nodiscard]] bool fits(const Slot& slot) const noexcept { return room(slot) > 0; }

  /// No leaf is in flight: gathering one now matches the serial search.
  [[nodiscard]] bool idle() const noexcept { return seats_.taken() == 0; }

  /// Backs up and expands a leaf of an evaluated batch. If it throws, call cancel().
  template <Sharing S>
  void complete(Worker& worker, Flight& flight, const EvalLeaf& leaf);
  /// Takes back a leaf that will not be evaluated.
  template <Sharing S>
  void cancel(Flight& flight) noexcept;

  Tally tally;
  std::atomic<std::uint64_t> collisions{0};

 private:
  template <Sharing S>
  bool gather_root(Worker& worker, Slot& slot);
  template <Sharing S>
  bool gather_until_decided(Worker& worker, Slot& slot, const Turn& turn);
  template <Sharing S>
  bool gather_leaves(Worker& worker, Slot& slot, const Turn& turn);
  /// The part of the tree that walks search.
  struct Part {
    Start start;
    Tally& counts;
  };
  template <Sharing S>
  bool may_walk(TurnProgress& now, const Turn& turn) noexcept;
  template <Sharing S>
  void walk_once(Worker& worker, Slot& slot, const Turn& turn, const Part& part, TurnProgress& now);
  template <Sharing S>
  void walk_jointly(Worker& worker, Slot& slot, const Turn& turn, const Part& part, int most,
                    TurnProgress& now);
  template <Sharing S>
  void settle(Worker& worker, Slot& slot, const Turn& turn, const Part& part, Walk walk,
              std::uint32_t visits, TurnProgress& now);
  bool gather_by_leases(Worker& worker, Slot& slot, const Turn& turn);
  bool lease_once(Worker& worker, Slot& slot, const Turn& turn, TurnProgress& now);
  void search_part(Worker& worker, Slot& slot, const Turn& turn, TurnProgress& now);
  [[nodiscard]] int leaves_of(const TurnProgress& now, const Slot& slot) const noexcept;
  template <Sharing S>
  void solve_ending(Worker& worker, Walk& walk, const Turn& turn);
  template <Sharing S>
  bool mark_collision(const Path& path, std::uint32_t times);
  template <Sharing S>
  void remove_marks(Flight& flight) noexcept;
  template <Sharing S>
  void take_marks_back(const Worker& worker) noexcept;
  template <Sharing S>
  void end_turn(const TurnProgress& now) noexcept;
  template <Sharing S>
  bool place(Worker& worker, Slot& slot, const AnyPosition& position, bool is_root, Tally& counts);
  template <Sharing S>
  bool place_claimed(Worker& worker, Slot& slot, const AnyPosition& position, bool is_root,
                     Tally& counts);
  template <Sharing S>
  void count_more(const Path& path, std::size_t nodes, const VisitValue& visit) noexcept;
  template <Sharing S>
  void count_visit(const Path& path, float value_for_first, std::uint32_t drawn) noexcept;
  template <Sharing S>
  void count_transposition(const Path& path, std::uint32_t drawn) noexcept;
  template <Sharing S>
  void finish_leaf(Worker& worker, const Path& path, std::uint32_t drawn, const EvalLeaf& leaf,
                   bool is_root, Tally& counts);
  [[nodiscard]] Allocator& allocator_of(Worker& worker) noexcept {
    return own_ ? *own_ : worker.allocator;
  }
  /// The result is open and the budget is not fully reserved.
  [[nodiscard]] bool may_begin() const noexcept { return !proven() && tickets_.any_left(); }
  /// The current limit of leaves in flight.
  [[nodiscard]] std::uint32_t seat_limit() const noexcept;
  /// Number of leaves of this search that fit into the slot.
  [[nodiscard]] int room(const Slot& slot) const noexcept;
  [[nodiscard]] LeafSymmetry symmetry_of_leaf(bool is_root) const noexcept;
  void ready_root();
  void decide(std::uint64_t simulations) noexcept;

  Tree& tree_;
  const State& root_;
  const SearchConfig& config_;
  BoundEvaluator& evaluator_;
  EvaluatorTraits traits_;
  std::uint64_t reused_ = 0;
  std::uint64_t stream_;
  int symmetries_;
  Tickets tickets_;
  Seats seats_;
  std::optional<Allocator> own_;
  std::unique_ptr<RootPlan> plan_;      ///< written before root_ready_
  std::optional<RootSamples> samples_;  ///< written before root_ready_
  /// Whether a visit counts more than a sum of values in which a draw is 0.
  bool counts_more_ = false;
  std::span<const ActionId> only_;
  Decision decision_;
  Detours detours_;

  std::atomic<bool> closed_{false};
  std::atomic<bool> decided_{false};
  std::atomic<bool> root_asked_{false};
  std::atomic<bool> root_ready_{false};  ///< release: edges and noise are in place
};

}  // namespace pyengine
