#include "eval/evaluate_states.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pyengine {
namespace {

/// Fills in a leaf as a search would.
void fill_leaf(EvalLeaf& leaf, const State& state, std::uint64_t number, bool with_position) {
  const AnyPosition& position = state.position();
  position.legal_actions(leaf.legal);
  if (position.outcome().has_value()) leaf.legal.clear();
  leaf.to_move = position.to_move();
  leaf.number = number;
  leaf.unfinished = false;
  leaf.moves.clear();
  leaf.root = &state;
  if (with_position) copy_position(position, leaf.position);
}

/// Destination of the answers.
struct Answers {
  std::span<float> policy;  ///< [N, A]
  std::span<float> value;   ///< [N]
  std::size_t actions;      ///< A

  void write(const EvalLeaf& leaf, std::size_t state) const {
    const std::span<float> row = policy.subspan(state * actions, actions);
    std::fill(row.begin(), row.end(), 0.0F);
    for (int i = 0; i < leaf.legal.size(); ++i) {
      row[leaf.legal[i]] = leaf.equal_priors ? 1.0F / static_cast<float>(leaf.legal.size())
                                             : leaf.priors[static_cast<std::size_t>(i)];
    }
    value[state] = leaf.value;
  }
};

}  // namespace

void evaluate_states(BoundEvaluator& evaluator, std::span<const State* const> states,
                     std::span<float> policy, std::span<float> value, bool average_symmetries,
                     int batch_rows, const std::function<void()>& poll) {
  if (states.empty()) return;
  const AnyGame& game = *states[0]->game();
  const Answers answers{policy, value, static_cast<std::size_t>(game.shape().num_actions)};
  const EvaluatorTraits traits = evaluator.traits();
  const bool average = average_symmetries && traits.under_symmetries;
  const int symmetries = average ? game.symmetries().count() : 1;
  const auto per_batch = static_cast<std::size_t>(std::max(1, batch_rows / symmetries));
  // Devices prepare for each batch size, so there must be few of them.
  const std::size_t room = std::min(per_batch, std::bit_ceil(states.size()));
  const auto batch = evaluator.make_batch(static_cast<int>(room) * symmetries);
  const std::function<bool()> goes_on = [&poll] {
    if (poll) poll();
    return true;
  };
  batch->goes_on = &goes_on;
  std::vector<std::size_t> waiting;  // [leaf]: index of its state
  for (std::size_t start = 0; start < states.size(); start += per_batch) {
    static_cast<void>(goes_on());
    batch->clear();
    waiting.clear();
    for (std::size_t i = start; i < std::min(start + per_batch, states.size()); ++i) {
      EvalLeaf& leaf = batch->next();
      fill_leaf(leaf, *states[i], i, traits.reads_positions);
      leaf.symmetry = average ? LeafSymmetry::all : LeafSymmetry::identity;
      const int rows = evaluator.request(*batch, states[i]->position());
      if (rows == kAnswered) {
        answers.write(leaf, i);
        continue;
      }
      batch->add_next(rows);
      waiting.push_back(i);
    }
    if (waiting.empty()) continue;
    evaluator.evaluate(*batch);
    evaluator.decode(*batch);
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      answers.write(batch->leaves[i], waiting[i]);
    }
  }
}

}  // namespace pyengine
