#include "selfplay/self_play.h"

#include <utility>

#include "base/error.h"
#include "base/process.h"
#include "search/setup.h"

namespace pyengine {

SelfPlay::SelfPlay(std::shared_ptr<const AnyGame> game, std::shared_ptr<Evaluator> evaluator,
                   const SelfPlayConfig& config, const ModelSpec& recorded)
    : process_(process_id()),
      table_((validate(config), std::move(game)), config, recorded),
      pool_(std::make_shared<ChunkPool>(tree_bytes(config.search))) {
  bind(std::move(evaluator));
  const auto arena = std::make_shared<Arena>(pool_);
  for (int i = 0; i < config.concurrent_games; ++i) {
    games_.push_back(std::make_unique<GameInPlay>(table_, arena));
  }
}

SelfPlay::~SelfPlay() {
  if (process_ == process_id()) return;
  // A forked child has none of our threads: see ~Searcher().
  static_cast<void>(pipeline_.release());
  static_cast<void>(bound_.release());
}

/// One call at a time, in the process that made the object.
class SelfPlay::Busy {
 public:
  explicit Busy(SelfPlay& owner) : owner_(owner) {
    if (owner.process_ != process_id()) {
      throw EngineError("these games were begun before fork(); begin others in the child process");
    }
    if (owner.busy_.exchange(true)) {
      throw EngineError("these games are being played; end the run first");
    }
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() { owner_.busy_ = false; }

 private:
  SelfPlay& owner_;
};

void SelfPlay::bind(std::shared_ptr<Evaluator> evaluator) {
  const SearchConfig& search = table_.config.search;
  auto bound = evaluator->bind(table_.game, bind_options(search));
  auto pipeline =
      std::make_unique<Pipeline>(*bound, batch_rows(search, *table_.game, bound->traits()), pool_);
  for (const auto& game : games_) game->drop_tree();
  const std::lock_guard lock(mutex_);  // what is swapped out goes after it is released
  if (bound_) {
    const EvaluatorStats judged = bound_->stats();
    judged_before_.rows += judged.rows;
    judged_before_.batches += judged.batches;
    judged_before_.padding += judged.padding;
    judged_before_.cache_hits += judged.cache_hits;
    waited_before_ += static_cast<double>(pipeline_->waited_ns()) * 1e-9;
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
  pipeline_->prepare(table_.config.search, games_.size());
  const std::vector<TreeSearch*> searches = fill_tables();
  if (searches.empty()) return RunEnd::completed;
  RunOptions options;
  options.workers = num_workers(table_.config.search);
  options.foreign = is_foreign(searches.front()->root());
  options.stop = &stop_;
  options.succession = this;
  struct Answered {  // a stop holds for one run
    std::atomic<bool>& stop;
    ~Answered() { stop.store(false, std::memory_order_relaxed); }
  } answered{stop_};
  return pipeline_->run(searches, options, host);
}

/// Games that are open, then new ones, each with a search of its own.
std::vector<TreeSearch*> SelfPlay::fill_tables() {
  std::vector<TreeSearch*> searches;
  searches.reserve(games_.size());
  game_of_.clear();
  for (const auto& game : games_) {
    if (game->over()) count(*game);  // a run without memory left it
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
  const std::uint64_t simulations = search.completed.load(std::memory_order_relaxed);
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

/// Hands the record of a game that is over out.
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
  game.end();
}

std::vector<FinishedGame> SelfPlay::take_finished() {
  const std::lock_guard lock(mutex_);
  return std::exchange(finished_, {});
}

SelfPlayCounters SelfPlay::counters() const {
  const std::lock_guard lock(mutex_);
  SelfPlayCounters counters = done_;
  const EvaluatorStats judged = bound_->stats();
  counters.evaluations = judged_before_.rows + judged.rows;
  counters.batches = judged_before_.batches + judged.batches;
  counters.padding = judged_before_.padding + judged.padding;
  counters.cache_hits = judged_before_.cache_hits + judged.cache_hits;
  counters.waiting_seconds = waited_before_ + static_cast<double>(pipeline_->waited_ns()) * 1e-9;
  counters.bytes = pool_->bytes() + judged.cache_bytes + pipeline_->batch_bytes();
  counters.refusals = pool_->refusals();
  counters.provider = bound_->provider();
  counters.searches = table_.searches.load(std::memory_order_relaxed);
  counters.resign_threshold = table_.resignation.threshold();
  counters.resignation = table_.resignation.measured();
  return counters;
}

}  // namespace pyengine
