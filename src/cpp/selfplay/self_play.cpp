#include "selfplay/self_play.h"

#include <utility>

#include "base/error.h"
#include "base/process.h"
#include "search/setup.h"

namespace pyengine {

SelfPlay::SelfPlay(std::shared_ptr<const AnyGame> game, std::shared_ptr<Evaluator> evaluator,
                   const SelfPlayConfig& config, const ModelSpec& recorded,
                   std::span<const double> played_on, std::vector<Opening> openings)
    : process_(process_id()),
      context_((validate(config), std::move(game)), config, recorded, std::move(openings)),
      pool_(std::make_shared<ChunkPool>(tree_bytes(config.search))) {
  check_endings(config.search, State(context_.game));
  check_graph(config.search, *context_.game);
  for (const double lowest : played_on) context_.resignation.add(lowest);
  bind(std::move(evaluator));
  const auto arena = std::make_shared<Arena>(pool_);
  for (int i = 0; i < games_at_once(config); ++i) {
    games_.push_back(std::make_unique<GameInPlay>(context_, arena));
  }
}

SelfPlay::~SelfPlay() {
  if (process_ == process_id()) return;
  // A forked child has no worker threads: see ~Searcher().
  static_cast<void>(pipeline_.release());
  static_cast<void>(bound_.release());
}

/// Allows one call at a time, and only in the process that created the object.
class SelfPlay::Busy {
 public:
  explicit Busy(SelfPlay& owner) : owner_(owner) {
    if (owner.process_ != process_id()) {
      throw EngineError(
          "these games began before fork(): create a new SelfPlay in the child process");
    }
    if (owner.busy_.exchange(true)) {
      throw EngineError("a run is in progress: stop it first");
    }
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() { owner_.busy_ = false; }

 private:
  SelfPlay& owner_;
};

void SelfPlay::bind(std::shared_ptr<Evaluator> evaluator) {
  const SearchConfig& search = context_.config.search;
  auto bound = evaluator->bind(context_.game, bind_options(search));
  auto pipeline = std::make_unique<Pipeline>(
      *bound, batch_rows(search, *context_.game, bound->traits()), pool_);
  for (const auto& game : games_) game->drop_tree();
  const std::lock_guard lock(mutex_);  // destroys the old evaluator after the mutex is released
  if (bound_) {
    const EvaluatorStats now = stats_of(*bound_);
    replaced_.rows += now.rows;
    replaced_.batches += now.batches;
    replaced_.padding += now.padding;
    replaced_.cache_hits += now.cache_hits;
    replaced_waited_ += static_cast<double>(pipeline_->waited_ns()) * 1e-9;
  }
  pipeline_.swap(pipeline);
  bound_.swap(bound);
  evaluator_.swap(evaluator);
}

void SelfPlay::replace_evaluator(std::shared_ptr<Evaluator> evaluator) {
  const Busy busy(*this);
  bind(std::move(evaluator));
}

RunEnd SelfPlay::run(std::uint64_t games, Host& host) {
  const Busy busy(*this);
  if (stop_.exchange(false)) return RunEnd::stopped;
  {
    const std::lock_guard lock(mutex_);
    games_left_ = games;
  }
  pipeline_->prepare(context_.config.search, games_.size());
  const std::vector<TreeSearch*> searches = open_searches();
  if (searches.empty()) return RunEnd::completed;
  RunOptions options;
  options.workers = num_workers(context_.config.search);
  options.foreign = is_foreign(searches.front()->root());
  options.stop = &stop_;
  options.succession = this;
  struct Answered {  // one stop() ends one run
    std::atomic<bool>& stop;
    ~Answered() { stop.store(false, std::memory_order_relaxed); }
  } answered{stop_};
  return pipeline_->run(searches, options, host);
}

/// The searches of open games, then those of new games.
std::vector<TreeSearch*> SelfPlay::open_searches() {
  std::vector<TreeSearch*> searches;
  searches.reserve(games_.size());
  game_of_.clear();
  for (const auto& game : games_) {
    if (game->over()) count(*game);  // left over from a run that ran out of memory
  }
  for (const bool open : {true, false}) {
    for (const auto& game : games_) {
      if (game->begun() != open || (!open && !begin_another(*game))) continue;
      game->continue_search(*bound_);
      searches.push_back(&game->search());
      game_of_[&game->search()] = game.get();
    }
  }
  return searches;
}

bool SelfPlay::begin_another(GameInPlay& game) noexcept {
  const std::lock_guard lock(mutex_);
  if (games_left_ == 0) return false;
  --games_left_;
  game.begin(done_.begun++);
  return true;
}

bool SelfPlay::ended(TreeSearch& search) {
  GameInPlay& game = *game_of_.at(&search);
  const std::uint64_t simulations = search.tally.completed.load(std::memory_order_relaxed);
  const bool goes_on = game.move();
  {
    const std::lock_guard lock(mutex_);
    done_.simulations += simulations;
  }
  if (goes_on) return true;
  count(game);
  return begin_another(game);
}

void SelfPlay::restart(TreeSearch& search) { game_of_.at(&search)->begin_search(*bound_); }

/// Moves the record of a finished game to the results.
void SelfPlay::count(GameInPlay& game) {
  const std::lock_guard lock(mutex_);
  finished_.push_back(std::move(game.record()));
  const FinishedGame& record = finished_.back();
  ++done_.finished;
  done_.positions += record.positions;
  done_.plies += record.moves.size();
  if (record.returns[0] > 0.0F) ++done_.first_wins;
  if (record.returns[0] == 0.0F) ++done_.draws;
  if (record.resigned >= 0) ++done_.resigned;
  if (record.cut_short) ++done_.cut_short;
  game.end();
}

std::vector<FinishedGame> SelfPlay::take_finished() {
  const std::lock_guard lock(mutex_);
  return std::exchange(finished_, {});
}

SelfPlayCounters SelfPlay::counters() const {
  const std::lock_guard lock(mutex_);
  SelfPlayCounters counters = done_;
  const EvaluatorStats now = stats_of(*bound_);
  counters.evaluations = replaced_.rows + now.rows;
  counters.batches = replaced_.batches + now.batches;
  counters.padding = replaced_.padding + now.padding;
  counters.cache_hits = replaced_.cache_hits + now.cache_hits;
  counters.waiting_seconds = replaced_waited_ + static_cast<double>(pipeline_->waited_ns()) * 1e-9;
  counters.bytes = pool_->bytes() + now.cache_bytes + pipeline_->batch_bytes();
  counters.refusals = pool_->refusals();
  counters.provider = evaluator_->provider();
  counters.searches = context_.searches.load(std::memory_order_relaxed);
  counters.resign_threshold = context_.resignation.threshold();
  counters.resignation = context_.resignation.measured();
  return counters;
}

}  // namespace pyengine
