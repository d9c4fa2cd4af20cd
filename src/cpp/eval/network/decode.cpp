#include "eval/network/decode.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "eval/network/softmax.h"

namespace pyengine {
namespace {

/// Divides the numbers by their sum; equal shares if none is positive.
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

constexpr float kMost = std::numeric_limits<float>::max();
constexpr float kInfinite = std::numeric_limits<float>::infinity();

[[noreturn]] void refuse(const char* name, const std::string& expected, const float* values,
                         int at) {
  throw EvaluationError(std::string("the network's ") + name + " must " + expected + ", got " +
                        std::to_string(values[at]) + " at index " + std::to_string(at));
}

/// Logarithms may be -infinity: probability 0.
void check_logarithms(const char* name, const float* values, int count) {
  for (int i = 0; i < count; ++i) {
    if (values[i] <= kMost) continue;
    refuse(name, "be finite numbers or -inf", values, i);
  }
}

void check_range(const char* name, const float* values, int count, float least, float most,
                 const std::string& expected) {
  for (int i = 0; i < count; ++i) {
    if (!std::isfinite(values[i])) refuse(name, "be finite numbers", values, i);
    if (values[i] < least - kRounding || values[i] > most + kRounding) {
      refuse(name, expected, values, i);
    }
  }
}

/// Checks win, draw and loss.
void check_parts(const float* value) {
  check_range("value", value, 3, 0.0F, kMost, "be probabilities, as value_kind=\"probs\" says");
  const float sum = value[0] + value[1] + value[2];
  if (std::abs(sum - 1.0F) <= kRounding) return;
  throw EvaluationError(
      "the network's value must be probabilities of win, draw and loss that sum to 1, as "
      "value_kind=\"probs\" requires, got the sum " +
      std::to_string(sum));
}

int place_in(const std::vector<std::string>& order, const char* name) {
  return static_cast<int>(std::find(order.begin(), order.end(), name) - order.begin());
}

}  // namespace

Decoder::Decoder(const ModelSpec& spec, const AnyGame& game)
    : policy_size_(game.shape().num_actions), value_size_(static_cast<int>(spec.value.size())) {
  validate(spec);
  policy_kind_ = spec.policy == "probs" ? PolicyKind::probs : PolicyKind::logits;
  const std::string kind = spec.kind_of_value();
  if (spec.scalar_value()) {
    if (kind == "probs") value_kind_ = ValueKind::win_probability;
    if (kind == "logits") value_kind_ = ValueKind::before_tanh;
  } else {
    value_kind_ = kind == "probs" ? ValueKind::parts : ValueKind::softmax;
    win_ = place_in(spec.value, "win");
    draw_ = place_in(spec.value, "draw");
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
                     game.to_string() + ", " + std::to_string(shape.num_actions) + ", got " +
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
        if (at > shape.pass) --at;  // the other actions keep their order around the pass
        at = is_pass ? pass : at + (at >= pass ? 1 : 0);
      }
      index.push_back(static_cast<std::uint16_t>(at));
    }
    index_.push_back(std::move(index));
  }
}

void Decoder::check(const float* policy, const float* value) const {
  if (policy_kind_ == PolicyKind::logits) {
    check_logarithms("policy", policy, policy_size_);
  } else {
    check_range("policy", policy, policy_size_, 0.0F, kMost,
                "be probabilities (policy=\"logits\" in the spec reads logits)");
  }
  check_value(value);
}

void Decoder::check_value(const float* value) const {
  switch (value_kind_) {
    case ValueKind::plain:
      return check_range("value", value, 1, -1.0F, 1.0F,
                         "lie in [-1, 1] (value_kind=\"logits\" in the spec takes tanh of it)");
    case ValueKind::win_probability:
      return check_range("value", value, 1, 0.0F, 1.0F,
                         "lie in [0, 1], as value_kind=\"probs\" requires");
    case ValueKind::before_tanh:
      return check_range("value", value, 1, -kMost, kMost, "be finite numbers");
    case ValueKind::parts:
      return check_parts(value);
    case ValueKind::softmax:
      break;
  }
  check_logarithms("value", value, 3);
  if (*std::max_element(value, value + 3) == -kInfinite) {
    refuse("value", "leave win, draw or loss possible", value, 0);
  }
}

DecodedValue Decoder::value_of(const float* value) const noexcept {
  switch (value_kind_) {
    case ValueKind::plain:
      return {value[0]};
    case ValueKind::win_probability:
      return {2.0F * value[0] - 1.0F};
    case ValueKind::before_tanh:
      return {std::tanh(value[0])};
    default:
      break;
  }
  float parts[3] = {value[0], value[1], value[2]};
  value_kind_ == ValueKind::softmax ? softmax(parts) : shares(parts);
  return {parts[win_] - parts[loss_], parts[draw_]};
}

void Decoder::read_policy(const float* policy, int symmetry, const ActionList& legal,
                          std::span<float> priors) const {
  const std::uint16_t* index = index_[static_cast<std::size_t>(symmetry)].data();
  const ActionId* actions = legal.data();
  for (std::size_t i = 0; i < priors.size(); ++i) priors[i] = policy[index[actions[i]]];
  if (priors.empty()) return;
  if (policy_kind_ == PolicyKind::probs) return shares(priors);
  softmax(priors);
  if (std::isnan(priors[0])) {
    throw EvaluationError("the network's policy must leave a legal action, got -inf for all " +
                          std::to_string(priors.size()));
  }
}

DecodedValue Decoder::read_value(const float* value, int to_move) const noexcept {
  DecodedValue read = value_of(value);
  read.value = std::clamp(read.value, -1.0F, 1.0F);
  if (for_first_player_ && to_move != 0) read.value = -read.value;
  return read;
}

void Decoder::decode(const float* policy, const float* value, EvalLeaf& leaf) const {
  leaf.priors.resize(static_cast<std::size_t>(leaf.legal.size()));
  read_policy(policy, 0, leaf.legal, leaf.priors);
  const DecodedValue read = read_value(value, leaf.to_move);
  leaf.value = read.value;
  leaf.draw = read.draw;
}

void SymmetryMean::clear() noexcept {
  answers_.clear();
  priors_.clear();
}

void SymmetryMean::add(const Decoder& decoder, const float* policy, const float* value,
                       int symmetry, const EvalLeaf& leaf) {
  const std::size_t begin = priors_.size();
  priors_.resize(begin + static_cast<std::size_t>(leaf.legal.size()));
  decoder.read_policy(policy, symmetry, leaf.legal, std::span(priors_).subspan(begin));
  answers_.push_back({symmetry, decoder.read_value(value, leaf.to_move), begin});
}

void SymmetryMean::finish(EvalLeaf& leaf) {
  if (answers_.size() == 1) {
    leaf.priors.swap(priors_);
    leaf.value = answers_[0].value.value;
    leaf.draw = answers_[0].value.draw;
  } else {
    std::sort(answers_.begin(), answers_.end(),
              [](const Answer& a, const Answer& b) { return a.symmetry < b.symmetry; });
    const float share = 1.0F / static_cast<float>(answers_.size());
    leaf.value = leaf.draw = 0.0F;
    leaf.priors.assign(static_cast<std::size_t>(leaf.legal.size()), 0.0F);
    for (const Answer& answer : answers_) {
      leaf.value += share * answer.value.value;
      leaf.draw += share * answer.value.draw;
      const float* priors = priors_.data() + answer.priors;
      for (std::size_t i = 0; i < leaf.priors.size(); ++i) leaf.priors[i] += share * priors[i];
    }
  }
  clear();
}

}  // namespace pyengine
