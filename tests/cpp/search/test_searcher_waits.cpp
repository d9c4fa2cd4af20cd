/// Creating a batch may take minutes while a device prepares for it; only the search itself waits
/// for that.
#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <utility>

#include "search/setup.h"
#include "search_fixtures.h"
#include "selfplay/self_play.h"

using namespace pyengine;
using namespace pyengine::search_test;

namespace {

/// Blocks callers while it is closed.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    --waiting_;
  }
  void set(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  void wait_for_somebody() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int waiting_ = 0;
};

/// A device that prepares for a batch size when the batch is created.
class PreparedBound final : public BoundEvaluator {
 public:
  PreparedBound(std::shared_ptr<Gate> gate, std::unique_ptr<BoundEvaluator> inner)
      : gate_(std::move(gate)), inner_(std::move(inner)) {}
  ~PreparedBound() override { gate_->pass(); }
  PreparedBound(const PreparedBound&) = delete;
  PreparedBound& operator=(const PreparedBound&) = delete;

  [[nodiscard]] EvaluatorTraits traits() const noexcept override { return inner_->traits(); }
  std::unique_ptr<EvalBatch> make_batch(int capacity) override {
    gate_->pass();
    return inner_->make_batch(capacity);
  }
  int request(EvalBatch& batch, const AnyPosition& position) override {
    return inner_->request(batch, position);
  }
  void evaluate(EvalBatch& batch) override { inner_->evaluate(batch); }

 private:
  std::shared_ptr<Gate> gate_;
  std::unique_ptr<BoundEvaluator> inner_;
};

class PreparedEvaluator final : public Evaluator {
 public:
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                       const BindOptions& options) override {
    return std::make_unique<PreparedBound>(gate, mock_.bind(std::move(game), options));
  }
  std::shared_ptr<Gate> gate = std::make_shared<Gate>();

 private:
  MockEvaluator mock_{{.runs_on = on_device(2)}};
};

SearchConfig config_of(int batch_size) {
  SearchConfig config;
  config.batch_size = batch_size;
  config.simulations = 100'000'000;
  config.threads = 2;
  return config;
}

/// Whether the call returns while the gate is closed; opens the gate afterwards.
bool returns_while_closed(Gate& gate, const std::function<void()>& call) {
  auto done = std::async(std::launch::async, call);
  const bool returned = done.wait_for(std::chrono::seconds(2)) == std::future_status::ready;
  if (!returned) gate.set(true);
  done.get();
  return returned;
}

}  // namespace

TEST_SUITE("concurrent") {
  TEST_CASE("searcher: stop() and stats() return immediately while a device prepares for a batch") {
    const auto game = load_game("gomoku", {});
    const auto evaluator = std::make_shared<PreparedEvaluator>();
    Searcher searcher(game, evaluator, config_of(8));
    evaluator->gate->set(false);
    auto search = std::async(std::launch::async, [&] {
      Patient host;
      return searcher.search(State(game), config_of(16), host);
    });
    evaluator->gate->wait_for_somebody();
    CHECK(returns_while_closed(*evaluator->gate, [&] { CHECK(searcher.stats().batches == 0); }));
    CHECK(returns_while_closed(*evaluator->gate, [&] { searcher.stop(); }));
    evaluator->gate->set(true);
    CHECK(search.get().stop_reason == StopReason::stopped);
  }

  TEST_CASE("self-play: reading the counters does not block while an evaluator is replaced") {
    const auto game = load_game("connect_four");
    SelfPlayConfig config;
    config.search = config_of(8);
    config.concurrent_games = 2;
    const auto first = std::make_shared<PreparedEvaluator>();
    const auto second = std::make_shared<PreparedEvaluator>();
    SelfPlay self_play(game, first, config, ModelSpec{});
    Gate& gate = *second->gate;
    for (const auto& next : {second, first}) {  // `second` is created, then destroyed
      gate.set(false);
      auto change = std::async(std::launch::async, [&] { self_play.replace_evaluator(next); });
      gate.wait_for_somebody();
      CHECK(returns_while_closed(gate, [&] { static_cast<void>(self_play.counters()); }));
      gate.set(true);
      change.get();
    }
  }
}
