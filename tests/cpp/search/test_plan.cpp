/// The numbers of a run's plan.
#include <doctest/doctest.h>

#include "base/error.h"
#include "base/memory.h"
#include "search/run/plan.h"

namespace pyengine {
namespace {

const EvaluatorTraits kWorkersEvaluate;
EvaluatorTraits device() { return {.runs_on = on_device(2)}; }
EvaluatorTraits immediate() { return {.answering = Answering::immediate}; }
RunSize size_of(int batch_rows, int searches, int workers) {
  RunSize size;
  size.batch_rows = batch_rows;
  size.searches = searches;
  size.workers = workers;
  return size;
}

TEST_CASE("if workers evaluate, the leaves in flight are divided among them") {
  SearchConfig config;
  config.in_flight = 16;
  CHECK(plan_turns(kWorkersEvaluate, config, size_of(8, 1, 16)).batch_leaves == 1);
  CHECK(plan_turns(kWorkersEvaluate, config, size_of(8, 1, 4)).batch_leaves == 4);
  CHECK(plan_turns(kWorkersEvaluate, config, size_of(8, 64, 4)).batch_leaves == 8);
  CHECK(plan_turns(device(), config, size_of(8, 1, 16)).batch_leaves == 8);
}

TEST_CASE("a turn gathers from as many searches as fill a batch") {
  const TurnPlan many = plan_turns(device(), {}, size_of(64, 384, 4));
  CHECK(many.many);
  CHECK(many.turn_leaves == 1);
  CHECK(many.searches_for(0) == kMostSearchesPerTurn);
  CHECK(many.searches_for(60) == 4);
  CHECK(many.searches_for(64) == 1);
  RunSize all_symmetries = size_of(64, 384, 4);
  all_symmetries.leaf_rows = 8;
  CHECK(plan_turns(device(), {}, all_symmetries).searches_for(0) == 8);
  const TurnPlan one = plan_turns(device(), {}, size_of(64, 1, 4));
  CHECK(one.turn_leaves == 64);
  CHECK(one.searches_for(0) == 1);
}

TEST_CASE("walks are joint if hundreds of leaves of a tree may be in flight") {
  SearchConfig config;
  CHECK(plan_turns(device(), config, size_of(256, 1, 2)).joint_walks == 1);
  config.in_flight = 1024;
  CHECK(plan_turns(device(), config, size_of(256, 1, 2)).joint_walks == 128);
  CHECK(plan_turns(kWorkersEvaluate, config, size_of(256, 1, 2)).joint_walks == 128);
  CHECK(plan_turns(immediate(), config, size_of(256, 1, 2)).joint_walks == 1);
  RunSize foreign = size_of(256, 1, 1);
  foreign.foreign = true;
  CHECK(plan_turns(device(), config, foreign).joint_walks == 1);
  config.deterministic = true;
  CHECK(plan_turns(device(), config, size_of(256, 1, 2)).joint_walks == 1);
  config.deterministic = false;
  for (const Algorithm other : {Algorithm::gumbel, Algorithm::uct, Algorithm::flat_ucb}) {
    config.algorithm = other;
    CHECK(plan_turns(device(), config, size_of(256, 1, 2)).joint_walks == 1);
  }
}

TEST_CASE("there are many searches if one leaf of each fills what a device has queued") {
  CHECK(plan_turns(device(), {}, size_of(64, 192, 4)).many);
  CHECK_FALSE(plan_turns(device(), {}, size_of(64, 191, 4)).many);
  CHECK_FALSE(plan_turns(kWorkersEvaluate, {}, size_of(4096, 4096, 4)).many);
}

TEST_CASE("a device has no more workers than there are cores") {
  RunSize size = size_of(64, 384, 16);
  size.cores = 2;
  CHECK(workers_of(device(), {}, size) == 2);
  CHECK(workers_of(kWorkersEvaluate, {}, size) == 16);
}

TEST_CASE("a turn gathers from one search if it must not be left unfinished") {
  SearchConfig rounds;
  rounds.deterministic = true;
  CHECK(plan_turns(device(), rounds, size_of(64, 384, 4)).searches_per_turn == 1);
  CHECK(plan_turns(immediate(), {}, size_of(8, 64, 4)).searches_per_turn == 1);
  RunSize foreign = size_of(8, 64, 1);
  foreign.foreign = true;
  CHECK(plan_turns(kWorkersEvaluate, {}, foreign).searches_per_turn == 1);
}

TEST_CASE("a worker owns a tree only if no other worker can meet it") {
  CHECK(plan_turns(immediate(), {}, size_of(8, 64, 4)).sharing == Sharing::exclusive);
  CHECK(plan_turns(kWorkersEvaluate, {}, size_of(8, 64, 1)).sharing == Sharing::exclusive);
  CHECK(plan_turns(kWorkersEvaluate, {}, size_of(8, 64, 4)).sharing == Sharing::shared);
  CHECK(plan_turns(immediate(), {}, size_of(8, 1, 4)).sharing == Sharing::shared);
}

TEST_CASE("workers divide one tree by leases if every leaf is answered immediately") {
  const RunSize four = size_of(8, 1, 4);
  CHECK(divides_tree(immediate(), {}, four));
  CHECK(plan_turns(immediate(), {}, four).most_gatherers == 4);
  CHECK_FALSE(divides_tree(kWorkersEvaluate, {}, four));
  CHECK_FALSE(divides_tree(device(), {}, four));
  CHECK_FALSE(divides_tree(immediate(), {}, size_of(8, 64, 4)));
  CHECK_FALSE(divides_tree(immediate(), {}, size_of(8, 1, 1)));
  CHECK_FALSE(divides_tree({.answering = Answering::on_the_spot}, {}, four));
  CHECK(divides_tree({.answering = Answering::brief}, {}, four));
}

TEST_CASE("if leaves are answered immediately and leases do not fit, one worker searches") {
  RunSize succession = size_of(8, 1, 4);
  succession.follows = true;
  CHECK(workers_of(immediate(), {}, succession) == 1);
  SearchConfig config;
  config.deterministic = true;
  CHECK(workers_of(immediate(), config, size_of(8, 1, 4)) == 1);
  for (const Algorithm algorithm : {Algorithm::gumbel, Algorithm::flat_ucb}) {
    SearchConfig other;
    other.algorithm = algorithm;
    CHECK(workers_of(immediate(), other, size_of(8, 1, 4)) == 1);
  }
  SearchConfig bounds;
  bounds.choose = MoveChoice::lcb;
  CHECK(workers_of(immediate(), bounds, size_of(8, 1, 4)) == 1);
  SearchConfig stdev;
  stdev.c_puct_stdev = 0.5;
  CHECK(workers_of(immediate(), stdev, size_of(8, 1, 4)) == 1);
  CHECK(workers_of(immediate(), {}, size_of(8, 1, 4)) == 4);
  CHECK(workers_of(kWorkersEvaluate, config, size_of(8, 1, 4)) == 4);
}

TEST_CASE("with a deadline no tree is finished before the others have had their share") {
  RunSize size = size_of(8, 64, 4);
  CHECK(plan_turns(immediate(), {}, size).finishes_trees);
  size.deadline = true;
  CHECK_FALSE(plan_turns(immediate(), {}, size).finishes_trees);
}

TEST_CASE("slots take at most a quarter of the memory, or one slot") {
  const std::uint64_t limit = 64 * kChunkBytes;
  CHECK(plan_slots(device(), {}, 64, 384, kChunkBytes, limit).most > 1);
  CHECK(plan_slots(device(), {}, 64, 384, 8 * kChunkBytes, limit).most == 2);
  CHECK(plan_slots(device(), {}, 64, 384, 32 * kChunkBytes, limit).most == 1);
  CHECK_THROWS_AS(static_cast<void>(plan_slots(device(), {}, 64, 384, limit, limit)), ConfigError);
}

TEST_CASE("a deterministic round has slots for all leaves that may be in flight") {
  SearchConfig config;
  config.deterministic = true;
  config.in_flight = 33;
  const SlotPlan plan = plan_slots(kWorkersEvaluate, config, 8, 1, 1, 64 * kChunkBytes);
  CHECK(plan.per_round == 5);
  CHECK(plan.most == 5);
}

}  // namespace
}  // namespace pyengine
