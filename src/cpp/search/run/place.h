/// A search's place in a run, and the two queues of searches that wait to be gathered from. Both
/// access a search only through the concept Schedulable.
#pragma once

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "base/memory.h"

namespace pyengine {

struct Slot;

/// The queries that the scheduler makes. The answers may change at any time; they are exact while
/// nobody gathers from the search and none of its leaves is in flight.
template <class S>
concept Schedulable = requires(const S search, S changing) {
  { search.may_gather() } noexcept -> std::same_as<bool>;  ///< a simulation can begin now
  { search.idle() } noexcept -> std::same_as<bool>;        ///< no leaf is in flight
  /// The budget is spent and no leaf is in flight; simulations being gathered are not seen.
  { search.finished() } noexcept -> std::same_as<bool>;
  { search.root_ready() } noexcept -> std::same_as<bool>;  ///< the root has moves
  { search.closed() } noexcept -> std::same_as<bool>;
  { changing.close() } noexcept;  ///< no further simulation begins
};

/// Whether a search has leaves in flight. Gathering from an idle search matches the serial search;
/// gathering from a busy one costs strength.
enum class Load : std::uint8_t { idle, busy };

/// A search in a run and the scheduler's data about it, guarded by the scheduler's mutex. When a
/// search has finished, another one may take its place. Cache-line aligned, as the search is.
template <class Search>
struct alignas(kCacheLine) PlaceOf {
  Search* search = nullptr;  ///< nullptr if the next search could not be created
  int gatherers = 0;         ///< workers between enter() and leave()
  bool handed_over = false;  ///< the finished search was passed to the succession
  bool held = false;         ///< by the worker that hands it over; no other thread uses the search
  PlaceOf* next_finished = nullptr;  ///< next in the list of the worker that holds the place

  Slot* round = nullptr;                  ///< deterministic: the first slot of the current round
  std::atomic<int> round_unevaluated{0};  ///< slots of the round

 private:
  template <class>
  friend class SearchQueueOf;
  std::array<PlaceOf*, 2> next_{};  ///< indexed by Load
  std::array<bool, 2> queued_{};
};

/// Two FIFO queues, of idle and of busy searches. A search queued as busy may have become idle
/// since, and is then queued as idle too. The result of pop() is therefore a hint, and the caller
/// checks the search itself. Never allocates.
template <class Search>
class SearchQueueOf {
 public:
  using Place = PlaceOf<Search>;

  void clear() noexcept { lines_ = {}; }
  [[nodiscard]] bool has(Load load) const noexcept { return lines_[at(load)].first != nullptr; }
  /// Does nothing if the place is already in that queue.
  void push(Place& place, Load load) noexcept {
    if (place.queued_[at(load)]) return;
    Line& line = lines_[at(load)];
    place.queued_[at(load)] = true;
    place.next_[at(load)] = nullptr;
    (line.last == nullptr ? line.first : line.last->next_[at(load)]) = &place;
    line.last = &place;
    ++operations_;
  }
  /// The next result of pop(); nullptr if the queue is empty.
  [[nodiscard]] Place* front(Load load) const noexcept { return lines_[at(load)].first; }
  /// Returns nullptr if the queue is empty.
  Place* pop(Load load) noexcept {
    Line& line = lines_[at(load)];
    Place* place = line.first;
    if (place == nullptr) return nullptr;
    line.first = place->next_[at(load)];
    if (line.first == nullptr) line.last = nullptr;
    place->queued_[at(load)] = false;
    ++operations_;
    return place;
  }
  /// Total number of pushes and pops.
  [[nodiscard]] std::uint64_t operations() const noexcept { return operations_; }

 private:
  struct Line {
    Place* first = nullptr;
    Place* last = nullptr;
  };
  [[nodiscard]] static std::size_t at(Load load) noexcept { return static_cast<std::size_t>(load); }

  std::array<Line, 2> lines_{};
  std::uint64_t operations_ = 0;
};

}  // namespace pyengine
