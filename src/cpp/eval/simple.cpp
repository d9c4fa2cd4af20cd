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
    return {.equal_priors = true, .answering = Answering::immediate};
  }
  int request(EvalBatch& batch, const AnyPosition&) override {
    EvalLeaf& leaf = batch.next();
    leaf.equal_priors = true;
    leaf.value = 0.0F;
    return kAnswered;
  }
};

/// Uniformly random playouts of a position.
class UniformPlayouts {
 public:
  void begin(const AnyPosition& position) noexcept { position_ = &position; }
  Outcome play_out(Rng& rng) { return position_->play_out(rng, space_).outcome; }
  [[nodiscard]] static std::size_t bytes() noexcept { return 0; }

 private:
  const AnyPosition* position_ = nullptr;
  PlayoutSpace space_;
};

/// Synchronizing two workers of one tree costs about a microsecond per simulation. Playouts take
/// about one in Othello and Gomoku 15x15 and five in Go 9x9. The limit lies in between: leases
/// double the speed of the former and do not help Go (docs/decisions.md, 2026-11-24).
constexpr std::chrono::nanoseconds kBrief{2500};

/// Whether the playouts of a leaf take less than kBrief on this machine. User games are slow.
bool are_brief(const AnyGame& game, int rollouts) {
  if (dynamic_cast<const ForeignGame*>(&game) != nullptr) return false;
  const std::unique_ptr<AnyPosition> start = game.initial_position();
  constexpr int kPlayouts = 16;
  PlayoutSpace space;
  Rng rng(0, 0);
  std::array<std::chrono::nanoseconds, kPlayouts> times;
  for (std::chrono::nanoseconds& time : times) {
    const auto begin = std::chrono::steady_clock::now();
    static_cast<void>(start->play_out(rng, space));
    time = std::chrono::steady_clock::now() - begin;
  }
  const auto median = times.begin() + kPlayouts / 2;
  std::nth_element(times.begin(), median, times.end());
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
      rollouts_, options.seed,
      are_brief(*game, rollouts_) ? Answering::brief : Answering::on_the_spot,
      [] { return std::make_unique<UniformPlayouts>(); });
}

}  // namespace pyengine
