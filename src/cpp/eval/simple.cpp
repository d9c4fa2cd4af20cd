#include "eval/simple.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "base/error.h"
#include "eval/playouts.h"
#include "games/any/foreign.h"

namespace pyengine {
namespace {

class BoundUniform final : public BoundEvaluator {
 public:
  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    return {.equal_priors = true, .immediate = true};
  }
  int request(EvalBatch& batch, const AnyPosition&) override {
    EvalLeaf& leaf = batch.next();
    leaf.equal_priors = true;
    leaf.value = 0.0F;
    return kAnswered;
  }
  [[nodiscard]] std::string provider() const override { return "uniform"; }
};

/// By the position itself.
class UniformPlayouts {
 public:
  void begin(const AnyPosition& position) noexcept { position_ = &position; }
  Outcome play_out(Rng& rng) { return position_->play_out(rng, space_).outcome; }
  [[nodiscard]] static std::size_t bytes() noexcept { return 0; }

 private:
  const AnyPosition* position_ = nullptr;
  PlayoutSpace space_;
};

/// Workers of one tree that meet at each simulation cost each other about a microsecond. Playouts
/// of Othello and of Gomoku 15x15 take about one, of Go 9x9 five. The bound lies between them:
/// leases double the former and bring Go nothing (docs/decisions.md, 2026-11-24).
constexpr std::chrono::nanoseconds kBrief{2500};

/// Whether the playouts of a leaf take less time than that here. A user's game takes its time.
bool are_brief(const AnyGame& game, int rollouts) {
  if (dynamic_cast<const ForeignGame*>(&game) != nullptr) return false;
  const std::unique_ptr<AnyPosition> start = game.initial_position();
  constexpr int kPlayouts = 16;
  PlayoutSpace space;
  Rng rng(0, 0);
  std::array<std::chrono::nanoseconds, kPlayouts> took;
  for (std::chrono::nanoseconds& one : took) {
    const auto begun = std::chrono::steady_clock::now();
    static_cast<void>(start->play_out(rng, space));
    one = std::chrono::steady_clock::now() - begun;
  }
  const auto median = took.begin() + kPlayouts / 2;
  std::nth_element(took.begin(), median, took.end());
  return *median < kBrief / rollouts;
}

}  // namespace

std::unique_ptr<BoundEvaluator> UniformEvaluator::bind(std::shared_ptr<const AnyGame>,
                                                       const BindOptions&) {
  return std::make_unique<BoundUniform>();
}

int checked_rollouts(int rollouts) {
  if (rollouts < 1 || rollouts > 1'000'000) {
    throw ConfigError("rollouts must be 1 to 1000000, got " + std::to_string(rollouts));
  }
  return rollouts;
}

RolloutEvaluator::RolloutEvaluator(int rollouts) : rollouts_(checked_rollouts(rollouts)) {}

std::unique_ptr<BoundEvaluator> RolloutEvaluator::bind(std::shared_ptr<const AnyGame> game,
                                                       const BindOptions& options) {
  return std::make_unique<BoundPlayouts<UniformPlayouts>>(
      "rollout", rollouts_, options.seed, are_brief(*game, rollouts_),
      [] { return std::make_unique<UniformPlayouts>(); });
}

}  // namespace pyengine
