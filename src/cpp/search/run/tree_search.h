/// One tree being searched: its budget, what is in flight, and the two things that workers do with
/// it: gather leaves into a batch, and complete evaluated leaves.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "eval/evaluator.h"
#include "exact/alphabeta/solver.h"
#include "games/any/state.h"
#include "search/config.h"
#include "search/rules/root_plan.h"
#include "search/rules/select.h"
#include "search/run/slot.h"
#include "search/run/walker.h"
#include "search/tree/backup.h"
#include "search/tree/tree.h"

namespace pyengine {

/// What is counted of a search as it goes on. During a lease a worker counts for itself.
struct Tally {
  std::atomic<std::uint64_t> completed{0};    ///< simulations
  std::atomic<std::uint64_t> evaluations{0};  ///< rows evaluated
  std::atomic<std::uint64_t> numbers{0};      ///< of leaves: name their random streams
};

/// What a thread needs to walk and to write to trees.
struct Worker {
  std::unique_ptr<Walker> walker;
  Selector selector;
  Allocator allocator;
  Path path;
  Path lease_path;                              ///< from the root to the top of the lease
  std::unique_ptr<AnyPosition> lease_position;  ///< of that top
  Tally tally;                                  ///< of the lease
  std::uint32_t drawn = 0;                      ///< of the walk along `path`; see Walk
  bool marked = false;                          ///< the path, for its leaf
  std::unique_ptr<EndgameSolver> endings;       ///< where the configuration asks for it
};

/// Limits of one turn of gathering.
struct Turn {
  int leaves = 0;                 ///< rows are limited by the batch besides
  std::uint64_t simulations = 0;  ///< those that need no row included
  const std::atomic<bool>* stop = nullptr;
  /// Asked now and then while one leaf takes long, as `stop` is set by the calling thread, which
  /// may be the one at work here.
  const std::function<bool()>* goes_on = nullptr;
  int joint_walks = 1;        ///< that share their way, at most: joint_walk.h
  bool guards_calls = false;  ///< a user's game: goes_on is asked before each call of its code
};

/// Leaves in flight of a young tree: so many at first, and one more for each so many visits.
struct YoungTree {
  std::uint32_t first = 0;
  std::uint32_t visits_per_leaf = 1;
};

/// Cache lines of its own: with many trees each is worked on by another core.
class alignas(kCacheLine) TreeSearch {
 public:
  /// `root` is the position of the tree's root, not over; `stream` names the random numbers. The
  /// budget is cut to what the root's visits can count.
  TreeSearch(Tree& tree, const State& root, const SearchConfig& config, std::uint64_t budget,
             std::uint64_t stream, BoundEvaluator& evaluator);

  [[nodiscard]] Tree& tree() const noexcept { return tree_; }
  [[nodiscard]] const State& root() const noexcept { return root_; }
  [[nodiscard]] const SearchConfig& config() const noexcept { return config_; }
  [[nodiscard]] std::uint64_t stream() const noexcept { return stream_; }
  [[nodiscard]] std::uint64_t budget() const noexcept { return budget_; }
  /// Visits of the root's children before this search.
  [[nodiscard]] std::uint64_t reused() const noexcept { return reused_; }

  /// Whether a worker may gather now; cheap, and may change at once.
  [[nodiscard]] bool may_gather() const noexcept;
  /// No simulation is missing and no leaf is in flight. Exact only while nobody gathers.
  [[nodiscard]] bool finished() const noexcept;
  /// The root is evaluated and has its edges, and its noise.
  [[nodiscard]] bool root_ready() const noexcept {
    return root_ready_.load(std::memory_order_acquire);
  }
  /// What the search planned at its root, where its rule plans; after root_ready().
  [[nodiscard]] const RootPlan* plan() const noexcept { return plan_.get(); }
  [[nodiscard]] bool proven() const noexcept {
    return config_.solver && tree_.root().proof.load(std::memory_order_relaxed) != Proof::none;
  }
  /// No simulation is begun any more.
  void close() noexcept { closed_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
  /// Takes memory for this tree through one door, whichever worker needs it: what fits under the
  /// cap is then the same at any number of threads. For searches whose rounds follow each other.
  void use_own_allocator() { own_.emplace(tree_.shared_arena()); }

  /// Before the search: so many workers are to search the tree by leases (lease.h). Every leaf
  /// but the root is then answered where it is found.
  void divide_among(int workers) noexcept { sharers_ = workers; }

  /// Walks and fills rows of `slot` until the turn, the batch, the budget or the cap on leaves in
  /// flight ends it. Returns whether anything was done.
  template <Sharing S>
  bool gather(Worker& worker, Slot& slot, const Turn& turn);
  /// Rows that a leaf asks for.
  [[nodiscard]] int rows_per_leaf(bool is_root) const noexcept;
  /// Room for one more leaf of this search?
  [[nodiscard]] bool fits(const Slot& slot) const noexcept { return room(slot) > 0; }

  /// No leaf is in flight: gathering one now is what the serial search would do.
  [[nodiscard]] bool idle() const noexcept {
    return in_flight_.load(std::memory_order_acquire) == 0;
  }

  /// Backs up and expands leaf `leaf` of an evaluated batch. When it throws, cancel() is to follow.
  template <Sharing S>
  void complete(Worker& worker, Flight& flight, const EvalLeaf& leaf);
  /// Takes a leaf back that will not be evaluated.
  template <Sharing S>
  void cancel(Flight& flight) noexcept;

  Tally tally;
  std::atomic<std::uint64_t> collisions{0};

 private:
  template <Sharing S>
  bool gather_root(Worker& worker, Slot& slot);
  /// What a turn has taken and done so far.
  struct Progress {
    std::uint64_t tickets = 0;  ///< simulations that it may do
    std::uint64_t used = 0;
    int known = 0;     ///< of those, without a row
    int answered = 0;  ///< leaves that did not wait in the batch
    std::uint64_t created = 0;
    std::size_t collided = 0;      ///< leaves in flight that walks have met
    std::uint64_t collisions = 0;  ///< those walks
    bool met = false;    ///< a leaf that was really in flight: its completion will lift a block
    bool waits = false;  ///< for a leaf in flight, likewise
    std::uint32_t seats = 0;
  };
  /// What walks go through.
  struct Part {
    Start start;
    Tally& counts;
  };
  template <Sharing S>
  std::uint32_t take_seats(std::uint32_t wanted) noexcept;
  template <Sharing S>
  bool may_walk(Progress& now, const Turn& turn) noexcept;
  template <Sharing S>
  void walk_once(Worker& worker, Slot& slot, const Turn& turn, const Part& part, Progress& now);
  template <Sharing S>
  void walk_jointly(Worker& worker, Slot& slot, const Turn& turn, const Part& part, int most,
                    Progress& now);
  template <Sharing S>
  void settle(Worker& worker, Slot& slot, const Turn& turn, const Part& part, Walk walk,
              std::uint32_t visits, Progress& now);
  [[nodiscard]] bool divided() const noexcept { return sharers_ > 1; }
  bool gather_by_leases(Worker& worker, Slot& slot, const Turn& turn);
  bool lease_once(Worker& worker, Slot& slot, const Turn& turn, Progress& now);
  void search_part(Worker& worker, Slot& slot, const Turn& turn, Progress& now);
  void begin_tally(Tally& counts, std::uint64_t simulations) noexcept;
  void add_tally(const Tally& counts) noexcept;
  [[nodiscard]] int leaves_of(const Progress& now, const Slot& slot) const noexcept;
  template <Sharing S>
  void solve_ending(Worker& worker, Walk& walk, const Turn& turn);
  template <Sharing S>
  void take_marks_back(const Worker& worker) noexcept;
  template <Sharing S>
  void end_turn(const Progress& now) noexcept;
  template <Sharing S>
  bool place(Worker& worker, Slot& slot, const AnyPosition& position, bool is_root, Tally& counts);
  template <Sharing S>
  bool place_claimed(Worker& worker, Slot& slot, const AnyPosition& position, bool is_root,
                     Tally& counts);
  template <Sharing S>
  void finish_leaf(Worker& worker, const Path& path, std::uint32_t drawn, const EvalLeaf& leaf,
                   bool is_root, Tally& counts);
  [[nodiscard]] Allocator& allocator_of(Worker& worker) noexcept {
    return own_ ? *own_ : worker.allocator;
  }
  /// The result is open and the budget not handed out.
  [[nodiscard]] bool may_begin() const noexcept {
    return !proven() && reserved_.load(std::memory_order_relaxed) < budget_;
  }
  std::uint64_t reserve(std::uint64_t wanted) noexcept;
  [[nodiscard]] std::uint32_t flight_cap() const noexcept;
  [[nodiscard]] std::size_t collision_budget(const Turn& turn) const noexcept;
  [[nodiscard]] std::uint32_t times_to_mark(const Node& leaf) const noexcept;
  /// Leaves of this search that the slot has room for.
  [[nodiscard]] int room(const Slot& slot) const noexcept;
  [[nodiscard]] LeafSymmetry symmetry_of_leaf(bool is_root) const noexcept;
  void ready_root();

  Tree& tree_;
  const State& root_;
  const SearchConfig& config_;
  BoundEvaluator& evaluator_;
  EvaluatorTraits traits_;
  std::uint64_t budget_;
  std::uint64_t reused_ = 0;
  std::uint64_t stream_;
  YoungTree young_;
  int symmetries_;
  int sharers_ = 1;  ///< workers that search by leases, or 1
  std::optional<Allocator> own_;
  std::unique_ptr<RootPlan> plan_;  ///< written before root_ready_

  std::atomic<std::uint64_t> reserved_{0};   ///< simulations handed out, completed ones included
  std::atomic<std::uint32_t> in_flight_{0};  ///< seats: leaves not completed, walks towards one
  std::atomic<bool> closed_{false};
  std::atomic<bool> dividable_{false};  ///< the part leased last has left enough to others
  std::atomic<bool> blocked_{false};    ///< every way leads to a leaf in flight: wait for one
  std::atomic<bool> root_asked_{false};
  std::atomic<bool> root_ready_{false};  ///< release: edges and noise are in place
};

}  // namespace pyengine
