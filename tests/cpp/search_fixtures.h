/// Shared by the search tests: hash-based numbers and evaluators, random positions.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "eval/abilities.h"
#include "eval/evaluator.h"
#include "games/any/registry.h"
#include "games/any/state.h"
#include "search/searcher.h"

namespace pyengine::search_test {

/// SplitMix64: a pseudorandom function of its argument.
inline std::uint64_t mixed(std::uint64_t x) noexcept {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}
/// In [0, 1).
inline double unit(std::uint64_t x) noexcept {
  return static_cast<double>(mixed(x) >> 11U) * 0x1.0p-53;
}

/// Mixes noise (in edge order) into the root's priors.
inline void mix_noise(Tree& tree, const std::vector<double>& noise, double fraction) {
  std::vector<double> priors;
  for (const Edge edge : tree.edges(tree.root())) {
    priors.push_back((1.0 - fraction) * unpack_prior(edge.prior()) +
                     fraction * noise[priors.size()]);
  }
  tree.change_root_priors(priors);
}

/// The behaviour of a MockEvaluator.
struct Mock {
  RunsOn runs_on = {};
  bool immediate = false;
  bool under_symmetries = false;       ///< a leaf may have one row per symmetry
  double answered = 0.0;               ///< fraction of requests answered immediately, as by a cache
  std::chrono::microseconds delay{0};  ///< per batch
  std::size_t batch_bytes = 0;         ///< reported size of a batch, besides its leaves
};

/// Observations of a MockEvaluator, shared with the test, which reads them after the search.
struct Seen {
  std::atomic<int> fail_at{-1};          ///< index of the batch that throws
  std::atomic<int> fail_request_at{-1};  ///< index of the request that throws
  std::atomic<int> requests{0};          ///< counted while fail_request_at is set
  std::atomic<int> strays{0};            ///< rows of a batch that belong to none of its leaves
  std::atomic<int> batches{0};
  std::atomic<int> rows{0};
  std::atomic<int> largest{0};       ///< most rows in a batch
  std::atomic<int> waiting{0};       ///< leaves requested but not yet evaluated
  std::atomic<int> most_waiting{0};  ///< maximum of `waiting`
  std::atomic<int> elsewhere{0};     ///< batches evaluated on a thread other than the test's
  std::atomic<int> inside{0};        ///< calls of evaluate() in progress
  std::atomic<int> most_inside{0};   ///< maximum of `inside`
  std::mutex mutex;
  std::set<std::thread::id> threads;  ///< threads that called evaluate(); guarded by the mutex
  std::thread::id home = std::this_thread::get_id();
};

inline void raise_to(std::atomic<int>& most, int value) {
  int known = most.load();
  while (known < value && !most.compare_exchange_weak(known, value)) {
  }
}

/// Counts a call of evaluate() while in scope.
class Inside {
 public:
  explicit Inside(Seen& seen) : seen_(seen) {
    raise_to(seen.most_inside, ++seen.inside);
    const std::lock_guard lock(seen.mutex);
    seen.threads.insert(std::this_thread::get_id());
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { --seen_.inside; }

 private:
  Seen& seen_;
};

/// Priors and a value that depend only on the position.
class BoundMock final : public BoundEvaluator, public RowFiller {
 public:
  BoundMock(Mock mock, std::shared_ptr<Seen> seen, int symmetries)
      : mock_(mock), seen_(std::move(seen)), symmetries_(symmetries) {}

  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    EvaluatorTraits traits;
    traits.under_symmetries = mock_.under_symmetries;
    if (mock_.immediate) traits.answering = Answering::immediate;
    traits.runs_on = mock_.runs_on;
    return traits;
  }
  [[nodiscard]] std::unique_ptr<EvalBatch> make_batch(int capacity) override {
    auto batch = BoundEvaluator::make_batch(capacity);
    batch->bytes += mock_.batch_bytes;
    return batch;
  }
  int request(EvalBatch& batch, const AnyPosition& position) override {
    EvalLeaf& leaf = batch.next();
    const std::uint64_t key = position.hash();
    answer(key, leaf);  // not visible to other threads yet
    const bool all = mock_.under_symmetries && leaf.symmetry == LeafSymmetry::all;
    int rows = 0;
    for (int k = 0; k < (all ? symmetries_ : 1); ++k) {
      if (seen_->fail_request_at >= 0 && seen_->requests++ == seen_->fail_request_at) {
        throw EvaluationError("mock: this request fails");
      }
      const bool answered = unit(key + static_cast<std::uint64_t>(k)) < mock_.answered;
      if (!mock_.immediate && !answered) ++rows;
    }
    raise_to(seen_->most_waiting, ++seen_->waiting);
    if (batch.num_rows + rows > batch.capacity) {
      throw std::logic_error("a row beyond the capacity of the batch");
    }
    if (rows != 0) return rows;
    --seen_->waiting;
    return kAnswered;
  }
  void fill(EvalBatch& batch) override {
    if (!mock_.under_symmetries) return;
    const int spare = std::min(batch.capacity - batch.num_rows, batch.num_leaves);
    for (int i = 0; i < spare; ++i) ++batch.leaves[static_cast<std::size_t>(i)].rows;
    batch.num_rows += spare;
  }
  void evaluate(EvalBatch& batch) override {
    const int number = seen_->batches++;
    seen_->rows += batch.num_rows;
    raise_to(seen_->largest, batch.num_rows);
    if (std::this_thread::get_id() != seen_->home) ++seen_->elsewhere;
    const Inside inside(*seen_);
    if (mock_.delay.count() > 0) std::this_thread::sleep_for(mock_.delay);
    if (number == seen_->fail_at.load()) throw EvaluationError("mock: this batch fails");
    int rows = 0;
    for (int i = 0; i < batch.num_leaves; ++i) {
      rows += batch.leaves[static_cast<std::size_t>(i)].rows;
    }
    seen_->strays += batch.num_rows - rows;
    seen_->waiting -= batch.num_leaves;
  }

 private:
  static void answer(std::uint64_t key, EvalLeaf& leaf) {
    leaf.priors.resize(static_cast<std::size_t>(leaf.legal.size()));
    double total = 0.0;
    for (const ActionId action : leaf.legal) total += 0.01 + unit(key + action + 1U);
    for (std::size_t i = 0; i < leaf.priors.size(); ++i) {
      const double weight = 0.01 + unit(key + leaf.legal[static_cast<int>(i)] + 1U);
      leaf.priors[i] = static_cast<float>(weight / total);
    }
    leaf.value = static_cast<float>(1.8 * unit(key) - 0.9);
  }

  Mock mock_;
  std::shared_ptr<Seen> seen_;
  int symmetries_;
};

class MockEvaluator final : public Evaluator {
 public:
  explicit MockEvaluator(Mock mock = {}) : mock_(mock) {}
  [[nodiscard]] std::string provider() const override { return "mock"; }
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                       const BindOptions&) override {
    return std::make_unique<BoundMock>(mock_, seen, game->symmetries().count());
  }
  std::shared_ptr<Seen> seen = std::make_shared<Seen>();

 private:
  Mock mock_;
};

/// Plays `plies` pseudorandom moves; stops before the game would end.
inline State random_state(const std::shared_ptr<const AnyGame>& game, int plies,
                          std::uint64_t seed) {
  State state(game);
  ActionList legal;
  for (int ply = 0; ply < plies; ++ply) {
    state.position().legal_actions(legal);
    State next = state;
    next.apply_action(legal[static_cast<int>(mixed(seed * 1000 + static_cast<std::uint64_t>(ply)) %
                                             static_cast<std::uint64_t>(legal.size()))]);
    if (next.position().outcome()) break;
    state = std::move(next);
  }
  return state;
}

/// Distinct random states, all after about the same number of moves.
inline std::vector<State> random_states(const std::shared_ptr<const AnyGame>& game, int count,
                                        int plies) {
  std::vector<State> states;
  for (int i = 0; i < count; ++i) {
    states.push_back(random_state(game, plies, static_cast<std::uint64_t>(i)));
  }
  return states;
}

/// The states in the form that search_many takes.
inline std::vector<const State*> pointers_to(const std::vector<State>& states) {
  std::vector<const State*> pointers;
  for (const State& state : states) pointers.push_back(&state);
  return pointers;
}

/// A host that never stops a search.
class Patient final : public Host {
 public:
  bool poll() override { return true; }
};

/// Stops a run at the n-th poll.
class StoppingHost final : public Host {
 public:
  explicit StoppingHost(int polls) : polls_(polls) {}
  bool poll() override { return --polls_ > 0; }

 private:
  int polls_;
};

inline std::uint64_t total(const std::vector<std::uint32_t>& visits) {
  std::uint64_t sum = 0;
  for (const std::uint32_t count : visits) sum += count;
  return sum;
}

}  // namespace pyengine::search_test
