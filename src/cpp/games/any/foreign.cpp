#include "games/any/foreign.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "games/common/hashing.h"

namespace pyengine {
namespace {

constexpr double kTolerance = 1e-6;  ///< for returns, relative to the largest

std::uint64_t next_origin() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// How messages about a game begin.
std::string prefix_of(const ForeignInfo& info) { return "game " + in_quotes(info.name) + ": "; }

/// `actions`: memory to reuse.
std::vector<long long> legal_of(const ForeignRules& rules, const ForeignState& state,
                                std::vector<long long> actions = {}) {
  actions.clear();
  state.legal_actions(actions);
  return rules.sorted_and_checked(std::move(actions));
}

/// The legal actions after the one at `chosen` of the previous ones.
std::vector<long long> legal_after(const ForeignRules& rules, const ForeignState& state,
                                   std::vector<long long> actions, std::size_t chosen) {
  if (!rules.info().actions_stay_legal || actions.size() == 1) {
    return legal_of(rules, state, std::move(actions));
  }
  actions.erase(actions.begin() + static_cast<std::ptrdiff_t>(chosen));
  return actions;
}

std::vector<float> planes_of(const ForeignState& state, const std::array<int, 3>& shape) {
  const auto size = [&](std::size_t i) { return static_cast<std::size_t>(shape[i]); };
  std::vector<float> planes(size(0) * size(1) * size(2));
  state.observation(planes);
  return planes;
}

Outcome outcome_of(const ForeignRules& rules, std::array<double, 2> returns,
                   std::string_view method = "returns") {
  return {static_cast<float>(rules.checked_return(returns, method) / rules.info().max_utility)};
}

std::uint64_t path_key_of(std::uint64_t start, std::span<const ActionId> actions) noexcept {
  for (const ActionId action : actions) start = ForeignPosition::path_key_after(start, action);
  return start;
}

}  // namespace

ForeignRules::ForeignRules(ForeignInfo info) : info_(std::move(info)) {
  const GameShape& shape = info_.shape;
  const std::string prefix = prefix_of(info_);
  if (shape.num_actions < 1 || shape.num_actions > kMaxActions) {
    throw ConfigError(prefix + "num_distinct_actions must be in 1.." + std::to_string(kMaxActions) +
                      ", got " + std::to_string(shape.num_actions));
  }
  if (!std::isfinite(info_.max_utility) || info_.max_utility <= 0.0) {
    throw ConfigError(prefix + "max_utility must be a positive number, got " +
                      pyengine::to_string(ParamValue(info_.max_utility)));
  }
  if (shape.symmetry == SymmetryGroup::none) return;
  const int points = shape.rows * shape.columns;
  const bool by_column =
      shape.symmetry == SymmetryGroup::mirror && shape.num_actions == shape.columns;
  if (points == 0 || (shape.num_actions < points && !by_column)) {
    throw ConfigError(prefix +
                      "num_symmetries above 1 needs actions that are points of board_shape "
                      "(row * columns + column), got " +
                      std::to_string(shape.num_actions) + " actions on " +
                      std::to_string(shape.rows) + " x " + std::to_string(shape.columns));
  }
  const auto& planes = info_.observation_shape;
  if (planes[0] != 0 && (planes[1] != shape.rows || planes[2] != shape.columns)) {
    throw ConfigError(prefix + "num_symmetries above 1 needs planes of board_shape, " +
                      std::to_string(shape.rows) + " x " + std::to_string(shape.columns) +
                      ", got " + std::to_string(planes[1]) + " x " + std::to_string(planes[2]));
  }
}

int ForeignRules::checked_player(long long player) const {
  if (player == 0 || player == 1) return static_cast<int>(player);
  std::string reason = "is not a player of a two-player game";
  if (player == -1) reason = "is a chance node: games with chance are not supported";
  if (player == -2) reason = "is a simultaneous node: simultaneous moves are not supported";
  if (player == -4) reason = "means a finished game, but is_terminal() is false";
  throw ConfigError(prefix_of(info_) + "current_player() must be 0 or 1; " +
                    std::to_string(player) + " " + reason);
}

double ForeignRules::checked_return(std::array<double, 2> returns, std::string_view method) const {
  const double most = info_.max_utility;
  const std::string promise = prefix_of(info_) + std::string(method) + "() must ";
  const auto found = [&] {
    return ", got [" + pyengine::to_string(ParamValue(returns[0])) + ", " +
        pyengine::to_string(ParamValue(returns[1])) + "]";
  };
  if (!std::isfinite(returns[0]) || !std::isfinite(returns[1])) {
    throw ConfigError(promise + "be finite" + found());
  }
  if (std::abs(returns[0] + returns[1]) > kTolerance * most) {
    throw ConfigError(promise + "be zero-sum" + found());
  }
  if (std::abs(returns[0]) > most * (1.0 + kTolerance)) {
    throw ConfigError(promise + "lie within [-" + pyengine::to_string(ParamValue(most)) + ", " +
                      pyengine::to_string(ParamValue(most)) + "] (max_utility)" + found());
  }
  return std::fmin(most, std::fmax(-most, returns[0]));
}

std::vector<long long> ForeignRules::sorted_and_checked(std::vector<long long> actions) const {
  const int count = info_.shape.num_actions;
  if (actions.empty()) {
    throw ConfigError(prefix_of(info_) +
                      "legal_actions() is empty although is_terminal() is false");
  }
  const bool rising =
      std::adjacent_find(actions.begin(), actions.end(), std::greater_equal<>()) == actions.end();
  if (!rising) std::sort(actions.begin(), actions.end());
  if (actions.front() < 0 || actions.back() >= count) {
    const long long wrong = actions.front() < 0 ? actions.front() : actions.back();
    throw ConfigError(prefix_of(info_) + "legal_actions() must lie in 0.." +
                      std::to_string(count - 1) + " (num_distinct_actions - 1), got " +
                      std::to_string(wrong));
  }
  if (rising) return actions;
  if (const auto twice = std::adjacent_find(actions.begin(), actions.end());
      twice != actions.end()) {
    throw ConfigError(prefix_of(info_) + "legal_actions() names action " + std::to_string(*twice) +
                      " twice");
  }
  return actions;
}

/// A game without an end would keep a playout running forever.
void ForeignRules::check_length(int plies) const {
  const int longest = info_.shape.max_game_length;
  if (plies < longest) return;
  throw ConfigError(
      prefix_of(info_) + "the game is not over after max_game_length, " + std::to_string(longest) +
      " plies; apply_action() must change the state in place, a longer game must declare "
      "max_game_length, and an endless one needs max_plies in self-play and matches");
}

ForeignPosition::Params ForeignPosition::parse(const ParamMap& /*params*/) {
  throw ConfigError("a foreign game is made from an object, not from parameters");
}
ParamMap ForeignPosition::describe(const Params& params) { return params.rules->info().params; }
GameShape ForeignPosition::shape(const Params& params) { return params.rules->info().shape; }

ForeignPosition ForeignPosition::from_setup(const Params& params, const BoardSetup& /*setup*/) {
  throw ConfigError(prefix_of(params.rules->info()) +
                    "a state cannot be set up from a board; use the game's own "
                    "way to make states");
}

std::string ForeignPosition::action_to_string(const Params& params, Action action) {
  return params.rules->initial_state()->action_to_string(action);
}

/// Names are requested only for the legal actions of the initial state: a game need not name
/// actions that cannot be played. A number always names its action.
Action ForeignPosition::string_to_action(const Params& params, std::string_view text) {
  const int count = params.rules->info().shape.num_actions;
  Action number = kNoAction;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && stop == end)
    return number >= 0 && number < count ? number : kNoAction;
  const ForeignPosition position(params);
  ActionList moves;
  position.legal_actions(moves);
  position.rethrow_if_failed();
  for (const ActionId action : moves) {
    if (position.state()->action_to_string(action) == text) return action;
  }
  return kNoAction;
}

/// Runs user code; stores its exception and returns false.
template <class Verb>
bool ForeignPosition::guarded(Verb&& verb) const noexcept {
  if (broken_ || failure_ != nullptr || params_.rules == nullptr) return false;
  const WalkScope scope(*this);
  try {
    verb();
    return true;
  } catch (...) {
    failure_ = std::current_exception();
    return false;
  }
}

ForeignPosition::ForeignPosition(const Params& params) : params_(params), origin_(next_origin()) {
  broken_ = !guarded([this] { state_ = params_.rules->initial_state(); });
  if (!broken_) refresh();
}

ForeignPosition::ForeignPosition(Params params, std::unique_ptr<ForeignState> state)
    : params_(std::move(params)), state_(std::move(state)), origin_(next_origin()) {
  refresh();
}

ForeignPosition::ForeignPosition(const ForeignPosition& other)
    : params_(other.params_),
      origin_(other.origin_),
      played_(other.played_),
      to_move_(other.to_move_),
      outcome_(other.outcome_),
      broken_(other.broken_),
      failure_(other.failure_) {
  if (other.state_ == nullptr || guarded([&] { state_ = other.state_->clone(); })) return;
  broken_ = true;
  outcome_.reset();
}

ForeignPosition& ForeignPosition::operator=(const ForeignPosition& other) {
  if (this != &other) *this = ForeignPosition(other);
  return *this;
}

/// Queries the player to move or the result and caches the answer.
void ForeignPosition::refresh() {
  outcome_.reset();
  broken_ = !guarded([this] {
    if (state_->is_terminal()) {
      outcome_ = outcome_of(*params_.rules, state_->returns());
    } else {
      params_.rules->check_length(plies());
      to_move_ = params_.rules->checked_player(state_->current_player());
    }
  });
}

void ForeignPosition::legal_actions(ActionList& moves) const noexcept {
  moves.clear();
  if (outcome_.has_value()) return;
  const bool answered = guarded([&] {
    for (const long long action : legal_of(*params_.rules, *state_)) {
      moves.push_back(static_cast<Action>(action));
    }
  });
  if (!answered) moves.clear();
}

bool ForeignPosition::is_legal(Action action) const noexcept {
  if (action < 0 || action >= kMaxActions) return false;
  ActionList moves;
  legal_actions(moves);
  return std::binary_search(moves.begin(), moves.end(), static_cast<ActionId>(action));
}

bool ForeignPosition::apply(Action action) noexcept {
  const bool played = guarded([&] {
    state_->apply_action(action);
    played_.push_back(static_cast<ActionId>(action));
  });
  broken_ = !played;
  return played;
}

void ForeignPosition::play(Action action) noexcept {
  const WalkScope scope(*this);
  if (apply(action)) refresh();
}

void ForeignPosition::play_through(Action action) noexcept { apply(action); }

bool ForeignPosition::is_reached(const ForeignPosition& root,
                                 std::span<const ActionId> moves) const noexcept {
  const std::size_t before = root.played_.size();
  if (state_ == nullptr || failure_ != nullptr || origin_ != root.origin_) return false;
  if (played_.size() != before + moves.size()) return false;
  const auto middle = played_.begin() + static_cast<std::ptrdiff_t>(before);
  return std::equal(played_.begin(), middle, root.played_.begin()) &&
      std::equal(middle, played_.end(), moves.begin());
}

Playout ForeignPosition::play_out(Rng& rng) const {
  rethrow_if_failed();
  if (outcome_) return {*outcome_};
  const ForeignRules& rules = *params_.rules;
  const WalkScope scope(*this);
  if (const auto returns = state_->play_out(rng, to_move_, origin_)) {
    return {outcome_of(rules, *returns, "play_out")};
  }
  const std::unique_ptr<ForeignState> state = state_->clone();
  std::vector<long long> actions = legal_of(rules, *state);
  for (int plies = 1;; ++plies) {
    const auto chosen = rng.below(static_cast<std::uint32_t>(actions.size()));
    state->apply_action(static_cast<Action>(actions[chosen]));
    if (state->is_terminal()) return {outcome_of(rules, state->returns()), plies};
    rules.check_length(this->plies() + plies);
    actions = legal_after(rules, *state, std::move(actions), chosen);
  }
}

std::uint64_t ForeignPosition::hash() const noexcept {
  std::optional<std::uint64_t> own;
  guarded([&] { own = state_->hash(); });
  return own.has_value() ? *own : path_key_of(0, played_);
}

std::uint64_t ForeignPosition::path_key() const noexcept {
  return path_key_of(mix64(origin_), played_);
}

std::uint64_t ForeignPosition::path_key_after(std::uint64_t before, Action action) noexcept {
  return mix64(before ^ static_cast<std::uint64_t>(action + 1) * kHashStep);
}

void ForeignPosition::stones(int /*t*/, BoardBits& first, BoardBits& second) const noexcept {
  first = {};
  second = {};
}

std::string ForeignPosition::to_string() const {
  rethrow_if_failed();
  const WalkScope scope(*this);
  return state_->to_string();
}

void ForeignPosition::observation(std::span<float> planes) const {
  rethrow_if_failed();
  if (params_.rules->info().observation_shape[0] == 0) {
    throw ConfigError(prefix_of(params_.rules->info()) + "it has no observation_tensor");
  }
  const WalkScope scope(*this);
  state_->observation(planes);
}

void ForeignPosition::rethrow_if_failed() const {
  if (failure_ == nullptr) return;
  const std::exception_ptr failure = failure_;
  if (!broken_) failure_ = nullptr;
  std::rethrow_exception(failure);
}

bool operator==(const ForeignPosition& a, const ForeignPosition& b) {
  if (a.params_.rules == nullptr || b.params_.rules == nullptr) {
    return a.params_.rules == b.params_.rules;
  }
  if (a.origin_ == b.origin_ && a.played_ == b.played_) return true;
  const ForeignPosition::WalkScope scope(a);
  return a.state_ != nullptr && b.state_ != nullptr && a.params_.rules->same_as(*b.params_.rules) &&
      a.state_->equals(*b.state_).value_or(false);
}

bool ForeignPosition::resembles(const ForeignPosition& other) const {
  rethrow_if_failed();
  other.rethrow_if_failed();
  if (params_.rules == nullptr || other.params_.rules == nullptr) return false;
  if (outcome_ || other.outcome_ || !params_.rules->same_as(*other.params_.rules)) return false;
  const WalkScope scope(*this);
  const bool has_text = state_->has_text();
  const std::array<int, 3>& shape = params_.rules->info().observation_shape;
  if ((shape[0] == 0 && !has_text) || state_->equals(*other.state_)) return false;
  const ForeignRules& rules = *params_.rules;
  if (to_move_ != other.to_move_) return false;
  if (legal_of(rules, *state_) != legal_of(rules, *other.state_)) return false;
  if (has_text && state_->to_string() != other.state_->to_string()) return false;
  return shape[0] == 0 || planes_of(*state_, shape) == planes_of(*other.state_, shape);
}

ForeignGame::ForeignGame(std::shared_ptr<const ForeignRules> rules)
    : AnyGame({.shape = rules->info().shape,
               .symmetries = make_symmetries(rules->info().shape),
               .observation_shape = rules->info().observation_shape,
               .has_binary_observation = rules->info().has_binary_planes,
               .has_transposition_key = rules->has_transposition_key()}),
      params_{std::move(rules)} {}

bool ForeignGame::same_as(const AnyGame& other) const {
  const auto* foreign = dynamic_cast<const ForeignGame*>(&other);
  return foreign != nullptr && rules()->same_as(*foreign->rules());
}

std::unique_ptr<AnyPosition> ForeignGame::wrap(std::unique_ptr<ForeignState> state) const {
  auto position =
      std::make_unique<PositionOf<ForeignPosition>>(ForeignPosition(params_, std::move(state)));
  position->rethrow_if_failed();
  return position;
}

std::unique_ptr<AnyPosition> ForeignGame::initial_position() const {
  auto position = std::make_unique<PositionOf<ForeignPosition>>(ForeignPosition(params_));
  position->rethrow_if_failed();
  return position;
}

std::unique_ptr<AnyPosition> ForeignGame::from_setup(const BoardSetup& setup) const {
  return std::make_unique<PositionOf<ForeignPosition>>(ForeignPosition::from_setup(params_, setup));
}

std::string ForeignGame::action_to_string(Action action) const {
  return ForeignPosition::action_to_string(params_, action);
}

Action ForeignGame::string_to_action(std::string_view text) const {
  return ForeignPosition::string_to_action(params_, text);
}

}  // namespace pyengine
