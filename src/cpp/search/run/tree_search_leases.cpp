/// Turns of workers that search one tree by leases.
#include <cassert>

#include "base/backoff.h"
#include "search/run/lease.h"
#include "search/run/tree_search.h"

namespace pyengine {
namespace {

/// Failed attempts to lease a part in one turn before the worker sleeps.
constexpr std::size_t kMostTaken = 96;  // the last ones after yielding to other threads (backoff.h)
/// Minimum number of simulations that justifies walking to a part, which takes a few microseconds:
/// for leaves answered immediately, and for playouts.
constexpr std::uint32_t kWorthwhileAtOnce = 32;
constexpr std::uint32_t kWorthwhilePlayouts = 8;

[[nodiscard]] bool is_proven(const Node& node) noexcept {
  return node.proof.load(std::memory_order_relaxed) != Proof::none;
}

}  // namespace

bool TreeSearch::gather_by_leases(Worker& worker, Slot& slot, const Turn& turn) {
  TurnProgress now;
  now.seats = seats_.take<Sharing::shared>(1, seat_limit());
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
  // Another worker's next lease clears the flag; without one, nothing is blocked.
  now.collided >= kMostTaken ? seats_.block() : seats_.unblock();
  return now.used != 0;
}

/// Returns false if the part belongs to another worker.
bool TreeSearch::lease_once(Worker& worker, Slot& slot, const Turn& turn, TurnProgress& now) {
  const LeaseTerms terms =
      lease_terms(tree_.root().visits.load(std::memory_order_relaxed), seats_.sharers(),
                  traits_.immediate() ? kWorthwhileAtOnce : kWorthwhilePlayouts);
  const Start root{tree_.root(), root_.position()};
  const WayToPart way = worker.walker->find_part(tree_, root, {config_, nullptr, Sharing::shared},
                                                 worker.selector.rule(), terms, worker.lease_path);
  if (!way.is_free) return false;
  const Node& top = *worker.lease_path.back();
  const std::uint32_t visits = top.visits.load(std::memory_order_relaxed);
  const std::uint32_t simulations = lease_simulations(visits, terms);
  const Lease lease(worker.lease_path, simulations, {.draw = tree_.draw(), .drawn = way.drawn});
  if (!lease.taken()) return false;
  seats_.set_dividable(visits <= terms.largest);
  now.tickets += tickets_.reserve(simulations);
  copy_position(worker.walker->position(), worker.lease_position);
  search_part(worker, slot, turn, now);
  tickets_.give_back(now.tickets - now.used);
  now.tickets = now.used;
  return true;
}

/// Runs the simulations that the turn has tickets for below the top of the worker's lease.
void TreeSearch::search_part(Worker& worker, Slot& slot, const Turn& turn, TurnProgress& now) {
  Node& top = *worker.lease_path.back();
  const Part part{{top, *worker.lease_position}, worker.tally};
  const bool was_proven = is_proven(top);
  worker.tally.restart(tally.numbers.fetch_add(now.tickets - now.used, std::memory_order_relaxed));
  const auto finish = [&] {
    tally.add(worker.tally);
    if (!is_proven(top) || was_proven) return;
    prove(tree_, worker.lease_path, static_cast<float>(top.proof.load(std::memory_order_relaxed)));
  };
  try {
    while (now.used < now.tickets && !turn.stop->load(std::memory_order_relaxed)) {
      if (config_.solver && is_proven(top)) break;
      walk_once<Sharing::exclusive>(worker, slot, turn, part, now);
      // A waiting leaf would have a path that starts at the top.
      assert(slot.batch->num_leaves == 0);
    }
  } catch (...) {
    finish();
    throw;
  }
  finish();
  seats_.unblock();
}

}  // namespace pyengine
