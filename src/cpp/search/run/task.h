/// A worker's task between two passes through the mutex, and the worker's data.
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
    none,       ///< the calling thread polls its host
    gather,     ///< from `places` into `slot`
    round,      ///< gather a whole round from places[0]
    fill,       ///< the spare rows of a partial `slot` before its evaluation
    evaluate,   ///< evaluate and complete `slot`
    complete,   ///< `slot`, which a device has evaluated
    cancel,     ///< take back the leaves of `slot`
    hand_over,  ///< the finished search of places[0]
    leave,      ///< a helper moves to another run
    end,        ///< the run is over
  };
  Kind kind = Kind::none;
  std::size_t num_places = 0;
  std::array<Place*, kMostSearchesPerTurn> places{};
  Slot* slot = nullptr;  ///< gather: nullptr if the worker must create one, or none is left

  // What the worker reports.
  bool full = false;     ///< gather: the slot is ready for evaluation
  bool added = false;    ///< gather: at least one leaf
  bool follows = false;  ///< hand_over: another search has taken the place
  bool failed = false;   ///< hand_over: no search could be created
  SlotList slots;        ///< round: to be evaluated; complete: all leaves answered

  /// Sets a task for this slot; returns false if it is nullptr.
  [[nodiscard]] bool take(Kind next_kind, Slot* next_slot) noexcept {
    if (next_slot == nullptr) return false;
    kind = next_kind;
    slot = next_slot;
    return true;
  }
  [[nodiscard]] std::span<Place* const> turn() const noexcept {
    return std::span(places).first(num_places);
  }
};

/// The data of one worker.
struct Hand {
  Worker worker;
  bool caller = false;  ///< the thread that called run()
  /// For Turn; the caller's also polls the host.
  std::function<bool()> goes_on;
  Place* last = nullptr;       ///< the search it gathered from last
  Place* finished = nullptr;   ///< places that it holds and must hand over
  std::size_t visits = 0;      ///< to searches, one after another, for one slot
  bool visits_added = false;   ///< at least one leaf
  bool added_nothing = false;  ///< the planned number of visits added no leaf

  void forget_visits() noexcept {
    visits = 0;
    visits_added = added_nothing = false;
  }
  /// Called after a turn of gathering: counts the visits made for one slot, up to `most`.
  void count_visits(const Task& gathered, int most) noexcept {
    const bool partial = gathered.slot != nullptr && !gathered.full;
    const bool added = visits_added || gathered.added;
    const std::size_t count = visits + gathered.num_places;
    const bool over = !partial || finished != nullptr || count >= static_cast<std::size_t>(most);
    forget_visits();
    added_nothing = over && partial && !added;
    if (over) return;
    visits = count;
    visits_added = added;
  }
  /// Called before the run begins: a succession changes positions later.
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
