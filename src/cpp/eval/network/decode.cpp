#include "eval/network/decode.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>

#include "base/error.h"
#include "eval/network/softmax.h"

namespace pyengine {
namespace {

/// Replaces numbers by their shares of the sum; equal when none is above 0.
void shares(std::span<float> numbers) noexcept {
  float sum = 0.0F;
  for (float& number : numbers) {
    number = std::max(number, 0.0F);
    sum += number;
  }
  if (!(sum > 0.0F) || !std::isfinite(sum)) {
    std::fill(numbers.begin(), numbers.end(), 1.0F / static_cast<float>(numbers.size()));
    return;
  }
  for (float& number : numbers) number /= sum;
}

void check_finite(const char* name, const float* values, int count) {
  for (int i = 0; i < count; ++i) {
    if (!std::isfinite(values[i])) {
      throw EvaluationError(std::string("the network's ") + name +
                            " must be finite numbers, found " + std::to_string(values[i]) +
                            " at index " + std::to_string(i));
    }
  }
}

int place_in(const std::vector<std::string>& order, const char* name) {
  return static_cast<int>(std::find(order.begin(), order.end(), name) - order.begin());
}

}  // namespace

Decoder::Decoder(const ModelSpec& spec, const AnyGame& game)
    : policy_size_(game.shape().num_actions), value_size_(static_cast<int>(spec.value.size())) {
  spec.validate();
  policy_kind_ = spec.policy == "probs" ? PolicyKind::probs : PolicyKind::logits;
  const std::string kind = spec.kind_of_value();
  if (spec.scalar_value()) {
    if (kind == "probs") value_kind_ = ValueKind::win_probability;
    if (kind == "logits") value_kind_ = ValueKind::before_tanh;
  } else {
    value_kind_ = kind == "probs" ? ValueKind::parts : ValueKind::softmax;
    win_ = place_in(spec.value, "win");
    loss_ = place_in(spec.value, "loss");
  }
  for_first_player_ = spec.value_for == "first_player";
  make_index(spec, game);
}

void Decoder::make_index(const ModelSpec& spec, const AnyGame& game) {
  const GameShape& shape = game.shape();
  if (spec.pass_index.has_value() && shape.pass == kNoAction) {
    throw ModelError("the spec's pass_index is " + std::to_string(*spec.pass_index) +
                     ", but the game " + game.to_string() + " has no pass");
  }
  if (spec.pass_index.has_value() && *spec.pass_index >= shape.num_actions) {
    throw ModelError("the spec's pass_index must be below the number of actions of " +
                     game.to_string() + ", " + std::to_string(shape.num_actions) + ", found " +
                     std::to_string(*spec.pass_index));
  }
  const int pass = spec.pass_index.value_or(shape.num_actions - 1);
  const int points = shape.rows * shape.columns;
  const bool flip = spec.policy_rows == "bottom_up" && shape.num_actions >= points;
  const Symmetries& symmetries = game.symmetries();
  for (int k = 0; k < std::max(1, symmetries.count()); ++k) {
    std::vector<std::uint16_t> index;
    for (int action = 0; action < shape.num_actions; ++action) {
      int at = k == 0
          ? action
          : symmetries.action[static_cast<std::size_t>(k)][static_cast<std::size_t>(action)];
      const bool is_pass = at == shape.pass;
      if (flip && at < points) {
        at = (shape.rows - 1 - at / shape.columns) * shape.columns + at % shape.columns;
      }
      if (shape.pass != kNoAction) {
        if (at > shape.pass) --at;  // the other actions keep their order round the pass
        at = is_pass ? pass : at + (at >= pass ? 1 : 0);
      }
      index.push_back(static_cast<std::uint16_t>(at));
    }
    index_.push_back(std::move(index));
  }
}

void Decoder::check(const float* policy, const float* value) const {
  check_finite("policy", policy, policy_size_);
  check_finite("value", value, value_size_);
}

float Decoder::value_of(const float* value) const noexcept {
  switch (value_kind_) {
    case ValueKind::plain:
      return value[0];
    case ValueKind::win_probability:
      return 2.0F * value[0] - 1.0F;
    case ValueKind::before_tanh:
      return std::tanh(value[0]);
    default:
      break;
  }
  float parts[3] = {value[0], value[1], value[2]};
  value_kind_ == ValueKind::softmax ? softmax(parts) : shares(parts);
  return parts[win_] - parts[loss_];
}

void Decoder::add(const float* policy, const float* value, int symmetry, EvalLeaf& leaf) const {
  const auto count = static_cast<std::size_t>(leaf.legal.size());
  const auto before = static_cast<std::size_t>(leaf.answers) * count;
  leaf.priors.resize(before + count);
  const std::span<float> priors = std::span(leaf.priors).subspan(before, count);
  const std::uint16_t* index = index_[static_cast<std::size_t>(symmetry)].data();
  const ActionId* legal = leaf.legal.data();
  for (std::size_t i = 0; i < count; ++i) priors[i] = policy[index[legal[i]]];
  if (count > 0) policy_kind_ == PolicyKind::logits ? softmax(priors) : shares(priors);
  const float outcome = std::clamp(value_of(value), -1.0F, 1.0F);
  leaf.value = for_first_player_ && leaf.to_move != 0 ? -outcome : outcome;
  if (leaf.answers == 0) leaf.awaited.clear();
  leaf.awaited.push_back({static_cast<std::uint8_t>(symmetry), leaf.value});
  ++leaf.answers;
}

void Decoder::finish(EvalLeaf& leaf) {
  const std::size_t answers = leaf.awaited.size();
  if (answers <= 1) return;
  const auto count = static_cast<std::size_t>(leaf.legal.size());
  std::vector<std::size_t> order(answers);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return leaf.awaited[a].symmetry < leaf.awaited[b].symmetry;
  });
  const float share = 1.0F / static_cast<float>(answers);
  leaf.value = 0.0F;
  std::vector<float> mean(count, 0.0F);
  for (const std::size_t answer : order) {
    leaf.value += share * leaf.awaited[answer].value;
    const float* priors = leaf.priors.data() + answer * count;
    for (std::size_t i = 0; i < count; ++i) mean[i] += share * priors[i];
  }
  leaf.priors.assign(mean.begin(), mean.end());
  leaf.awaited.clear();
}

}  // namespace pyengine
