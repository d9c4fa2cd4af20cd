#include "exact/alphabeta/user_position.h"

#include <bit>
#include <cmath>
#include <utility>

#include "games/common/hashing.h"

namespace pyengine::alphabeta {
namespace {

using Score = UserPosition::Score;

/// Non-negative doubles have the same order as their bits.
Score score_of_outcome(double outcome) noexcept {
  const auto size = static_cast<Score>(std::bit_cast<std::uint64_t>(std::abs(outcome)));
  return outcome < 0.0 ? -size : size;
}

double outcome_of_score(Score score) noexcept {
  const auto size = std::bit_cast<double>(static_cast<std::uint64_t>(std::abs(score)));
  return score < 0 ? -size : size;
}

}  // namespace

UserPosition::UserPosition(UserCall& call, const ForeignPosition& root)
    : call_(&call), path_(root.path_key()), plies_(root.plies()), mover_(root.to_move()) {
  call_->look();
  state_ = root.state()->clone();
}

UserPosition::Bounds UserPosition::range() const noexcept {
  const Score most = score_of_outcome(call_->rules.info().max_utility);
  return {-most, most};
}

void UserPosition::list(const Question&, Children& children, std::uint64_t&) const {
  call_->look();
  std::vector<long long> actions;
  state_->legal_actions(actions);
  actions = call_->rules.sorted_and_checked(std::move(actions));
  children.legal().clear();
  for (const long long action : actions) children.legal().push_back(static_cast<Action>(action));
  children.adopt();
}

void UserPosition::play(const Children& children, int i, UserPosition& next) const {
  const Action action = children.action(i);
  call_->look();
  std::shared_ptr<ForeignState> state = state_->clone();
  call_->look();
  state->apply_action(action);
  next.call_ = call_;
  next.state_ = std::move(state);
  next.path_ = ForeignPosition::path_key_after(path_, action);
  next.plies_ = plies_ + 1;
  next.ask(mover_);
}

void UserPosition::ask(int last_mover) {
  const ForeignRules& rules = call_->rules;
  outcome_.reset();
  call_->look();
  const bool is_over = state_->is_terminal();
  call_->look();
  if (!is_over) {
    rules.check_length(plies_);
    mover_ = rules.checked_player(state_->current_player());
    return;
  }
  // Nobody is to move: the score is that of the player who did not move last.
  mover_ = 1 - last_mover;
  const Score first = score_of_outcome(rules.checked_return(state_->returns()));
  outcome_ = mover_ == 0 ? first : -first;
}

std::uint64_t UserPosition::key() const {
  call_->look();
  const std::optional<std::uint64_t> hash = state_->hash();
  if (!hash) return path_;
  const auto keep = [this] { return state_; };
  return mix64(call_->memory.numbers.number(*state_, *hash, keep, call_->look));
}

int UserPosition::entry_of(Score score) const {
  return call_->memory.outcomes.number(outcome_of_score(score));
}

UserPosition::Score UserPosition::score_of(int entry) const noexcept {
  return score_of_outcome(call_->memory.outcomes.outcome(entry));
}

double UserPosition::value_of(Score score) const noexcept {
  return outcome_of_score(score) / call_->rules.info().max_utility;
}

void UserPosition::play_to_an_end(Rng& rng) const {
  UserPosition position = *this;
  UserPosition next;
  Children children;
  while (!position.over()) {
    std::uint64_t nodes = 0;
    position.list_all(children, nodes);
    const auto chosen = rng.below(static_cast<std::uint32_t>(children.size()));
    position.play(children, static_cast<int>(chosen), next);
    position = next;
  }
}

}  // namespace pyengine::alphabeta
