/// What a worker does between two passes through the mutex, and what it has at hand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "search/run/plan.h"
#include "search/run/slot.h"
#include "search/run/tree_search.h"

namespace pyengine {

struct Task {
  enum class Kind : std::uint8_t {
    none,       ///< the caller looks after its host
    gather,     ///< from `places` into `slot`
    round,      ///< gather a whole round from places[0]
    fill,       ///< the spare rows of a partial `slot` that is to be evaluated
    evaluate,   ///< `slot`, and complete it
    complete,   ///< `slot`, which a device has evaluated
    cancel,     ///< take back the leaves of `slot`
    hand_over,  ///< the finished search of places[0]
    leave,      ///< a helper goes to another run
    end,        ///< the run is over
  };
  Kind kind = Kind::none;
  std::size_t num_places = 0;
  std::array<Place*, kMostSearchesPerTurn> places{};
  Slot* slot = nullptr;  ///< of gather: nullptr where the worker is to make one, or has none left

  // What the worker reports.
  bool full = false;     ///< gather: the slot is to be evaluated
  bool added = false;    ///< gather: a leaf
  bool follows = false;  ///< hand_over: another search is in the place
  bool failed = false;   ///< hand_over: no search could be made
  SlotList slots;        ///< round: to be evaluated; complete: without leaves to wait for

  /// A task for this slot, where there is one.
  [[nodiscard]] bool take(Kind wanted, Slot* found) noexcept {
    if (found == nullptr) return false;
    kind = wanted;
    slot = found;
    return true;
  }
  [[nodiscard]] std::span<Place* const> turn() const noexcept {
    return std::span(places).first(num_places);
  }
};

/// What belongs to one worker.
struct Hand {
  Worker worker;
  bool caller = false;  ///< the thread that called run()
  /// Of Turn; that of the caller looks after the host.
  std::function<bool()> goes_on;
  Place* last = nullptr;       ///< from which it gathered last
  Place* finished = nullptr;   ///< places that it holds and is to hand over
  std::size_t visits = 0;      ///< of searches, one after the other, for one slot
  bool visits_added = false;   ///< a leaf
  bool added_nothing = false;  ///< as many visits as a plan has, and no leaf

  void forget_visits() noexcept {
    visits = 0;
    visits_added = added_nothing = false;
  }
  /// After a turn of gathering; `most` visits make one count.
  void count_visits(const Task& gathered, int most) noexcept {
    const bool kept = gathered.slot != nullptr && !gathered.full;
    const bool added = visits_added || gathered.added;
    const std::size_t count = visits + gathered.num_places;
    const bool over = !kept || finished != nullptr || count >= static_cast<std::size_t>(most);
    forget_visits();
    added_nothing = over && kept && !added;
    if (over) return;
    visits = count;
    visits_added = added;
  }
  /// Before anything of a run has begun: positions change under a succession.
  void prepare(const TreeSearch& first) {
    last = finished = nullptr;
    forget_visits();
    if (!worker.walker) worker.walker = make_walker(first.root().position());
    worker.selector.configure(first.config());
    if (first.config().endgame_solver_empties > 0 && !worker.endings) {
      worker.endings = std::make_unique<EndgameSolver>();
    }
    if (worker.allocator.arena() != first.tree().shared_arena()) {
      worker.allocator = Allocator(first.tree().shared_arena());
    }
  }
};

}  // namespace pyengine
