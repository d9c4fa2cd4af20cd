#include "selfplay/game_in_play.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "selfplay/policy_target.h"

namespace pyengine {
namespace {

/// Streams of a game's own decisions, beside those of searches.
Rng game_stream(std::uint64_t seed, std::uint64_t number) {
  return Rng(seed ^ 0x9E3779B97F4A7C15U, number);
}

Rng choice_stream(std::uint64_t seed, std::uint64_t search) {
  return Rng(seed ^ 0xC2B2AE3D27D4EB4FU, search);
}

std::array<float, 2> returns_of(const Outcome& outcome) {
  return {outcome.for_player(0), outcome.for_player(1)};
}

/// The larger of what a search thinks of the position and of its most visited move.
double best_chance(const SearchResult& result) {
  const auto most = std::max_element(result.visits.begin(), result.visits.end());
  if (*most == 0) return result.value;
  const auto place = static_cast<std::size_t>(most - result.visits.begin());
  return std::max(result.value, static_cast<double>(result.q[place]));
}

}  // namespace

Table::Table(std::shared_ptr<const AnyGame> game_in, const SelfPlayConfig& config_in,
             const ModelSpec& recorded)
    : game(std::move(game_in)),
      config(config_in),
      encoder(recorded, *game),
      packed(packed_shape(encoder)),
      resignation(config.resign_threshold, config.resign_false_positives) {
  for (const bool full : {false, true}) {
    for (const bool warm : {false, true}) {
      SearchConfig& search = searches_[full ? 1U : 0U][warm ? 1U : 0U];
      search = config.search;
      search.seed = config.seed;
      if (!warm) search.temperature = 0.0;
      if (full) {
        search.forced_playouts = config.forced_playouts;
        continue;
      }
      search.simulations = config.fast_simulations;
      search.dirichlet_fraction = 0.0;
    }
  }
}

GameInPlay::GameInPlay(Table& table, const std::shared_ptr<Arena>& arena)
    : table_(table), tree_(arena) {}

void GameInPlay::begin(std::uint64_t number) noexcept {
  record_ = {};
  record_.number = number;
  stage_ = Stage::opening;
}

/// At random, and again where it ended the game.
void GameInPlay::play_opening() {
  rng_ = game_stream(table_.config.seed, record_.number);
  record_.resignation_off = rng_.uniform() < table_.config.resign_off_fraction;
  lowest_ = {1.0, 1.0};
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    State state(table_.game);
    const auto most = static_cast<std::uint32_t>(table_.config.opening_random_moves);
    const std::uint32_t plies = most == 0 ? 0 : rng_.below(most + 1);
    for (std::uint32_t ply = 0; ply < plies && !state.position().outcome(); ++ply) {
      legal_.clear();
      state.position().legal_actions(legal_);
      state.position().rethrow_if_failed();
      const auto choice = rng_.below(static_cast<std::uint32_t>(legal_.size()));
      state.apply_action(legal_[static_cast<int>(choice)]);
    }
    if (state.position().outcome()) continue;
    state_.emplace(std::move(state));
    stage_ = Stage::playing;
    return;
  }
  if (table_.config.opening_random_moves == 0) {
    throw ConfigError("expected a game that has a first move, found that " +
                      table_.game->to_string() + " is over when it begins");
  }
  throw ConfigError("opening_random_moves: expected openings after which " +
                    table_.game->to_string() + " goes on, found none in " + std::to_string(kTries) +
                    " tries");
}

void GameInPlay::begin_search(BoundEvaluator& evaluator) {
  if (stage_ == Stage::opening) play_opening();
  if (tree_is_old_) tree_.clear();
  tree_is_old_ = false;
  const SelfPlayConfig& config = table_.config;
  full_ = config.full_search_fraction >= 1.0 || rng_.uniform() < config.full_search_fraction;
  const bool warm = static_cast<int>(state_->history().size()) < config.temperature_moves;
  const SearchConfig& settings = table_.search(full_, warm);
  search_.emplace(tree_, *state_, settings, *settings.simulations, table_.searches++, evaluator);
  searching_ = true;
}

void GameInPlay::continue_search(BoundEvaluator& evaluator) {
  if (!searching_ || !search_) return begin_search(evaluator);
  const SearchConfig& settings = search_->config();
  const std::uint64_t done = search_->completed.load(std::memory_order_relaxed);
  const std::uint64_t left = search_->budget() - std::min(done, search_->budget());
  search_.emplace(tree_, *state_, settings, left, table_.searches++, evaluator);
}

void GameInPlay::drop_tree() {
  search_.reset();
  searching_ = false;
  clear_tree();
}

/// What may fail comes first: then the search can be read again.
bool GameInPlay::move() {
  const SearchConfig& settings = search_->config();
  const SearchResult result = read_tree(tree_, table_.game->shape().num_actions, settings,
                                        choice_stream(table_.config.seed, search_->stream()), 0);
  if (result.actions.empty()) {
    throw EngineError("memory_limit: " + std::to_string(settings.memory_limit) +
                      " bytes leave no room for the roots of " +
                      std::to_string(table_.config.concurrent_games) + " games");
  }
  if (resigns(result)) {
    auto moves = state_->history();
    record_.resigned = state_->position().to_move();
    finish(record_.resigned == 0 ? std::array{-1.0F, 1.0F} : std::array{1.0F, -1.0F},
           std::move(moves));
    return false;
  }
  State next = *state_;
  next.apply_action(result.action);
  const auto outcome = next.position().outcome();
  auto moves = outcome ? next.history() : std::vector<ActionId>();
  record(result);
  searching_ = false;
  *state_ = std::move(next);
  if (outcome) {
    finish(returns_of(*outcome), std::move(moves));
    return false;
  }
  advance_tree(static_cast<ActionId>(result.action));
  return true;
}

void GameInPlay::advance_tree(ActionId action) noexcept {
  try {
    if (search_->config().reuse_tree && tree_.advance(action)) return;
  } catch (const std::exception&) {  // without memory a tree that begins anew does as well
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

bool GameInPlay::resigns(const SearchResult& result) {
  const double chance = best_chance(result);
  double& lowest = lowest_[static_cast<std::size_t>(state_->position().to_move())];
  lowest = std::min(lowest, chance);
  if (record_.resignation_off) return false;
  const auto threshold = table_.resignation.threshold();
  return threshold && chance < *threshold;
}

void GameInPlay::record(const SearchResult& result) {
  const AnyPosition& position = state_->position();
  legal_.clear();
  position.legal_actions(legal_);
  table_.encoder.open(position, legal_, planes_);
  position.rethrow_if_failed();
  Judged judged;
  judged.actions = result.actions;
  judged.visits = policy_target(result, search_->config());
  judged.root_value = static_cast<float>(result.value);
  judged.network_value = result.network_value;
  judged.ply = static_cast<int>(state_->history().size());
  judged.action = result.action;
  judged.to_move = position.to_move();
  const bool visited = std::any_of(judged.visits.begin(), judged.visits.end(),
                                   [](std::uint32_t visits) { return visits != 0; });
  judged.full = full_ && visited;
  record_.add(table_.packed, planes_, judged, table_.game->shape().num_actions);
}

void GameInPlay::finish(std::array<float, 2> returns, std::vector<ActionId> moves) noexcept {
  record_.returns = returns;
  record_.moves = std::move(moves);
  if (record_.resignation_off) {
    double lowest = 1.0;
    for (const std::size_t player : {0U, 1U}) {
      if (returns[player] >= 0.0F) lowest = std::min(lowest, lowest_[player]);
    }
    table_.resignation.add(lowest);
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
