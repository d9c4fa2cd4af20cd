/// Turns of workers that search one tree by leases.
#include <cassert>

#include "base/backoff.h"
#include "search/run/lease.h"
#include "search/run/tree_search.h"

namespace pyengine {
namespace {

/// Parts that a worker finds taken in one turn before it sleeps.
constexpr std::size_t kMostTaken = 96;  // the last of them after others were let run (backoff.h)
/// Simulations that are worth the way to them, which costs some microseconds: where leaves are
/// answered without work, and where playouts answer them.
constexpr std::uint32_t kWorthwhileAtOnce = 32;
constexpr std::uint32_t kWorthwhilePlayouts = 8;

[[nodiscard]] bool is_proven(const Node& node) noexcept {
  return node.proof.load(std::memory_order_relaxed) != Proof::none;
}

}  // namespace

bool TreeSearch::gather_by_leases(Worker& worker, Slot& slot, const Turn& turn) {
  Progress now;
  now.seats = take_seats<Sharing::shared>(1);
  if (now.seats == 0) return false;
  try {
    Backoff backoff;
    while (now.used < turn.simulations && now.collided < kMostTaken) {
      if (turn.stop->load(std::memory_order_relaxed) || !may_begin()) break;
      if (lease_once(worker, slot, turn, now)) continue;
      ++now.collided;
      ++now.collisions;
      backoff.pause();
    }
  } catch (...) {
    end_turn<Sharing::shared>(now);
    throw;
  }
  end_turn<Sharing::shared>(now);
  // The next lease of another worker lifts the block; without one nothing is blocked.
  blocked_.store(now.collided >= kMostTaken, std::memory_order_relaxed);
  return now.used != 0;
}

/// False where the part is another worker's.
bool TreeSearch::lease_once(Worker& worker, Slot& slot, const Turn& turn, Progress& now) {
  const LeaseTerms terms =
      lease_terms(tree_.root().visits.load(std::memory_order_relaxed), sharers_,
                  traits_.immediate ? kWorthwhileAtOnce : kWorthwhilePlayouts);
  const Start root{tree_.root(), root_.position()};
  const WayToPart way = worker.walker->find_part(tree_, root, {config_, nullptr, Sharing::shared},
                                                 worker.selector.rule(), terms, worker.lease_path);
  if (!way.is_free) return false;
  const Node& top = *worker.lease_path.back();
  const std::uint32_t visits = top.visits.load(std::memory_order_relaxed);
  const std::uint32_t simulations = lease_simulations(visits, terms);
  const Lease lease(worker.lease_path, simulations, way.drawn);
  if (!lease.taken()) return false;
  dividable_.store(visits <= terms.largest, std::memory_order_relaxed);
  now.tickets += reserve(simulations);
  copy_position(worker.walker->position(), worker.lease_position);
  search_part(worker, slot, turn, now);
  reserved_.fetch_sub(now.tickets - now.used, std::memory_order_relaxed);
  now.tickets = now.used;
  return true;
}

/// The simulations that the turn has tickets for, below the top of the worker's lease.
void TreeSearch::search_part(Worker& worker, Slot& slot, const Turn& turn, Progress& now) {
  Node& top = *worker.lease_path.back();
  const Part part{{top, *worker.lease_position}, worker.tally};
  const bool was_proven = is_proven(top);
  begin_tally(worker.tally, now.tickets - now.used);
  const auto finish = [&] {
    add_tally(worker.tally);
    if (!is_proven(top) || was_proven) return;
    prove(tree_, worker.lease_path, static_cast<float>(top.proof.load(std::memory_order_relaxed)));
  };
  try {
    while (now.used < now.tickets && !turn.stop->load(std::memory_order_relaxed)) {
      if (config_.solver && is_proven(top)) break;
      walk_once<Sharing::exclusive>(worker, slot, turn, part, now);
      assert(slot.batch->num_leaves == 0);  // a leaf would wait with a path from the top alone
    }
  } catch (...) {
    finish();
    throw;
  }
  finish();
  blocked_.store(false, std::memory_order_relaxed);
}

void TreeSearch::begin_tally(Tally& counts, std::uint64_t simulations) noexcept {
  counts.completed.store(0, std::memory_order_relaxed);
  counts.evaluations.store(0, std::memory_order_relaxed);
  counts.numbers.store(tally.numbers.fetch_add(simulations, std::memory_order_relaxed),
                       std::memory_order_relaxed);
}

void TreeSearch::add_tally(const Tally& counts) noexcept {
  tally.completed.fetch_add(counts.completed.load(std::memory_order_relaxed),
                            std::memory_order_relaxed);
  tally.evaluations.fetch_add(counts.evaluations.load(std::memory_order_relaxed),
                              std::memory_order_relaxed);
}

}  // namespace pyengine
