#include "selfplay/game_in_play.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "search/setup.h"
#include "selfplay/policy_target.h"

namespace pyengine {
namespace {

/// Random streams of a game's decisions outside of searches.
Rng game_stream(std::uint64_t seed, std::uint64_t number) {
  return Rng(seed ^ 0x9E3779B97F4A7C15U, number);
}

Rng choice_stream(std::uint64_t seed, std::uint64_t search) {
  return Rng(seed ^ 0xC2B2AE3D27D4EB4FU, search);
}

std::array<float, 2> returns_of(const Outcome& outcome) {
  return {outcome.for_player(0), outcome.for_player(1)};
}

/// The larger value of the position and its most visited child.
double best_chance(const SearchResult& result) {
  const auto most = std::max_element(result.visits.begin(), result.visits.end());
  if (*most == 0) return result.value;
  const auto place = static_cast<std::size_t>(most - result.visits.begin());
  return std::max(result.value, static_cast<double>(result.q[place]));
}

}  // namespace

SelfPlayContext::SelfPlayContext(std::shared_ptr<const AnyGame> game_in,
                                 const SelfPlayConfig& config_in, const ModelSpec& recorded,
                                 std::vector<Opening> openings_in)
    : game(std::move(game_in)),
      config(config_in),
      encoder(recorded, *game),
      packed(packed_shape(encoder)),
      openings(std::move(openings_in)),
      resignation(config.resign_threshold, config.resign_false_positives) {
  for (const bool full : {false, true}) {
    for (const bool warm : {false, true}) {
      SearchConfig& search = searches_[full ? 1U : 0U][warm ? 1U : 0U];
      search = config.search;
      search.seed = config.seed;
      if (!warm) search.temperature = 0.0;
      search.gumbel_plays_sample = warm;
      if (full) {
        search.forced_playouts = config.forced_playouts;
        continue;
      }
      search.simulations = config.fast_simulations;
      search.dirichlet_fraction = 0.0;
      search.root_policy_temperature = 1.0;
      search.gumbel_noise = false;
    }
  }
}

GameInPlay::GameInPlay(SelfPlayContext& context, const std::shared_ptr<Arena>& arena)
    : context_(context), tree_(arena) {
  prepare_tree(tree_, context.config.search, *context.game);
}

void GameInPlay::begin(std::uint64_t number) noexcept {
  record_ = {};
  record_.number = number;
  stage_ = Stage::opening;
}

/// The state after a random opening, or the initial one.
State GameInPlay::first_state() {
  const auto& openings = context_.openings;
  const double fraction = context_.config.opening_fraction;
  const bool initial = openings.empty() || (fraction < 1.0 && rng_.uniform() >= fraction);
  if (initial) return State(context_.game);
  return openings[rng_.below(static_cast<std::uint32_t>(openings.size()))].replay(context_.game);
}

/// Chooses the first state and plays random moves that do not end the game, if possible.
void GameInPlay::play_opening() {
  rng_ = game_stream(context_.config.seed, record_.number);
  record_.resignation_off = rng_.uniform() < context_.config.resign_off_fraction;
  lowest_ = {1.0, 1.0};
  given_up_by_ = -1;
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    State state = first_state();
    const auto most = static_cast<std::uint32_t>(context_.config.opening_random_moves);
    const std::uint32_t plies = most == 0 ? 0 : rng_.below(most + 1);
    for (std::uint32_t ply = 0; ply < plies && !state.position().outcome(); ++ply) {
      legal_.clear();
      state.position().legal_actions(legal_);
      state.position().rethrow_if_failed();
      const auto choice = rng_.below(static_cast<std::uint32_t>(legal_.size()));
      state.apply_action(legal_[static_cast<int>(choice)]);
    }
    if (state.position().outcome()) continue;
    if (state.start()) record_.start = State(context_.game, state.start()).serialize();
    state_.emplace(std::move(state));
    stage_ = Stage::playing;
    return;
  }
  if (context_.config.opening_random_moves == 0) {
    throw ConfigError(context_.game->to_string() + " has no legal first move");
  }
  throw ConfigError("opening_random_moves: " + context_.game->to_string() +
                    " ended during the opening in all of " + std::to_string(kTries) + " attempts");
}

void GameInPlay::begin_search(BoundEvaluator& evaluator) {
  if (stage_ == Stage::opening) play_opening();
  if (tree_is_old_) tree_.clear();
  tree_is_old_ = false;
  const SelfPlayConfig& config = context_.config;
  const bool given_up = given_up_by_ >= 0;
  full_ = !given_up &&
      (config.full_search_fraction >= 1.0 || rng_.uniform() < config.full_search_fraction);
  recorded_ = !given_up || rng_.uniform() < *config.soft_resign_weight;
  if (full_ && config.clear_before_full) tree_.clear();
  const bool warm = static_cast<int>(state_->history().size()) < config.temperature_moves;
  const SearchConfig& settings = context_.search(full_, warm);
  if (tree_.is_graph()) tree_.wait_for_sweeps([] { return true; });
  search_.emplace(tree_, *state_, settings, *settings.simulations, context_.searches++, evaluator);
  searching_ = true;
}

void GameInPlay::continue_search(BoundEvaluator& evaluator) {
  if (!searching_ || !search_) return begin_search(evaluator);
  const SearchConfig& settings = search_->config();
  const std::uint64_t done = search_->tally.completed.load(std::memory_order_relaxed);
  const std::uint64_t left = search_->budget() - std::min(done, search_->budget());
  search_.emplace(tree_, *state_, settings, left, context_.searches++, evaluator);
}

void GameInPlay::drop_tree() {
  search_.reset();
  searching_ = false;
  clear_tree();
}

/// Operations that may throw come first, so that the call can be repeated.
bool GameInPlay::move() {
  search_->remove_stray_marks();
  const SearchConfig& settings = search_->config();
  const Rng choice = choice_stream(context_.config.seed, search_->stream());
  SearchResult result = read_tree(tree_, context_.game->shape().num_actions, settings, choice, 0,
                                  search_->plan(), search_->samples());
  if (result.actions.empty()) {
    throw EngineError("memory_limit: " + std::to_string(settings.memory_limit) +
                      " bytes leave no room for the roots of " +
                      std::to_string(games_at_once(context_.config)) + " games");
  }
  if (resigns(result)) {
    auto moves = state_->history();
    record_.resigned = state_->position().to_move();
    finish(record_.resigned == 0 ? std::array{-1.0F, 1.0F} : std::array{1.0F, -1.0F},
           std::move(moves));
    return false;
  }
  const Lesson lesson = lesson_of(result);
  if (lesson.taught) result.action = taught_move(result, lesson.visits, settings, choice);
  State next = *state_;
  next.apply_action(result.action);
  const auto outcome = next.position().outcome();
  const bool cut_short = !outcome && too_long(next);
  auto moves = outcome || cut_short ? next.history() : std::vector<ActionId>();
  if (recorded_) record(result, lesson);
  searching_ = false;
  *state_ = std::move(next);
  if (outcome) {
    finish(returns_of(*outcome), std::move(moves));
    return false;
  }
  if (cut_short) {
    record_.cut_short = true;
    finish({0.0F, 0.0F}, std::move(moves));
    return false;
  }
  advance_tree(static_cast<ActionId>(result.action));
  return true;
}

void GameInPlay::advance_tree(ActionId action) noexcept {
  try {
    if (keeps_tree(search_->config()) && tree_.advance(action)) return;
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // Out of memory: the next search starts with a new tree.
  }
  clear_tree();
}

void GameInPlay::clear_tree() noexcept {
  try {
    tree_.clear();
    tree_is_old_ = false;
  } catch (const std::exception&) {
    tree_is_old_ = true;
  }
}

/// Whether the side to move would resign.
bool GameInPlay::is_hopeless(const SearchResult& result) {
  const double chance = best_chance(result);
  double& lowest = lowest_[static_cast<std::size_t>(state_->position().to_move())];
  lowest = std::min(lowest, chance);
  if (record_.resignation_off) return false;
  const auto threshold = context_.resignation.threshold();
  return threshold && chance < *threshold;
}

/// Whether the side to move resigns; with soft resignation the game goes on.
bool GameInPlay::resigns(const SearchResult& result) {
  const bool hopeless = is_hopeless(result);
  if (!context_.config.soft_resign_weight) return hopeless;
  const int player = state_->position().to_move();
  if (hopeless) {
    given_up_by_ = player;
  } else if (given_up_by_ == player) {
    given_up_by_ = -1;
  }
  return false;
}

/// The policy target, or none if all moves lose or the search compared too little. If no visit
/// counts, the record has one visit for the move played.
GameInPlay::Lesson GameInPlay::lesson_of(const SearchResult& result) const {
  const SearchConfig& settings = search_->config();
  const auto least = std::min(context_.config.minimum_target_visits, *settings.simulations);
  Lesson lesson{policy_target(result, settings, least)};
  lesson.taught = full_ && result.proven != -1 && !compares_too_little(result, settings, least);
  if (std::all_of(lesson.visits.begin(), lesson.visits.end(), [](auto n) { return n == 0; })) {
    const auto place = std::find(result.actions.begin(), result.actions.end(), result.action);
    lesson.visits[static_cast<std::size_t>(place - result.actions.begin())] = 1;
    lesson.taught = false;
  }
  return lesson;
}

void GameInPlay::record(const SearchResult& result, const Lesson& lesson) {
  const AnyPosition& position = state_->position();
  legal_.clear();
  position.legal_actions(legal_);
  context_.encoder.open(position, legal_, planes_);
  position.rethrow_if_failed();
  SearchedPosition row;
  row.actions = result.actions;
  row.visits = lesson.visits;
  row.root_value = static_cast<float>(result.value);
  row.network_value = result.network_value;
  row.ply = static_cast<int>(state_->history().size());
  row.action = result.action;
  row.to_move = position.to_move();
  row.full = full_;
  row.taught = lesson.taught;
  if (lesson.taught) {
    const auto& priors = tree_.evaluated_root_edges();
    row.surprise = static_cast<float>(policy_surprise(result, lesson.visits, priors));
  }
  record_.add(context_.packed, planes_, row, context_.game->shape().num_actions);
}

bool GameInPlay::too_long(const State& state) const noexcept {
  const auto most = static_cast<std::size_t>(context_.config.max_plies.value_or(kMostPlies));
  return state.history().size() >= most;
}

void GameInPlay::finish(std::array<float, 2> returns, std::vector<ActionId> moves) noexcept {
  record_.returns = returns;
  record_.moves = std::move(moves);
  if (record_.resignation_off && !record_.cut_short) {  // an unfinished game has no loser
    double lowest = 1.0;
    for (const std::size_t player : {0U, 1U}) {
      if (returns[player] >= 0.0F) lowest = std::min(lowest, lowest_[player]);
    }
    record_.lowest = lowest;
    context_.resignation.add(lowest);
  }
  searching_ = false;
  state_.reset();
  stage_ = Stage::over;
  clear_tree();
}

void GameInPlay::end() noexcept {
  record_ = {};
  stage_ = Stage::none;
}

}  // namespace pyengine
