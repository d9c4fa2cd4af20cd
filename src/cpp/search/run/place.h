/// A search's place in a run, and the two lines in which searches wait to be gathered from.
///
/// Both know of a search what the concept Schedulable says, and no more.
#pragma once

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "base/memory.h"

namespace pyengine {

struct Slot;

/// What the scheduler asks of a search. The answers may change at once; they are exact where nobody
/// gathers from the search and none of its leaves is in flight.
template <class S>
concept Schedulable = requires(const S search, S changing) {
  { search.may_gather() } noexcept -> std::same_as<bool>;  ///< a simulation can be begun now
  { search.idle() } noexcept -> std::same_as<bool>;        ///< no leaf is in flight
  /// No simulation is missing and no leaf is in flight; simulations being gathered are not seen.
  { search.finished() } noexcept -> std::same_as<bool>;
  { search.root_ready() } noexcept -> std::same_as<bool>;  ///< a result has moves
  { search.closed() } noexcept -> std::same_as<bool>;
  { changing.close() } noexcept;  ///< no simulation is begun any more
};

/// Whether a search has leaves in flight. Gathering from an idle one is what the serial search
/// would do; deepening a busy one costs strength.
enum class Load : std::uint8_t { idle, busy };

/// A search in a run, and what the run knows of it, under the scheduler's mutex. Another search may
/// take the place of a finished one. A cache line of its own, as the search has.
template <class Search>
struct alignas(kCacheLine) PlaceOf {
  Search* search = nullptr;  ///< none where the next one could not be made
  int gatherers = 0;         ///< workers between enter() and leave()
  bool handed_over = false;  ///< the finished search, to the succession
  bool held = false;         ///< by the worker that hands over: nobody else looks at the search
  PlaceOf* next_finished = nullptr;  ///< in the list of the worker that holds the place

  Slot* round = nullptr;                  ///< deterministic: the first slot of the round under way
  std::atomic<int> round_unevaluated{0};  ///< slots of the round

 private:
  template <class>
  friend class SearchQueueOf;
  std::array<PlaceOf*, 2> next_{};  ///< by Load
  std::array<bool, 2> queued_{};
};

/// Two lines, of idle and of busy searches; each serves the search that waits longest. A search
/// that was queued as busy may have become idle since, and is then queued as idle too. What comes
/// out is therefore a hint: the caller looks at the search itself. Never allocates.
template <class Search>
class SearchQueueOf {
 public:
  using Place = PlaceOf<Search>;

  void clear() noexcept { lines_ = {}; }
  [[nodiscard]] bool has(Load load) const noexcept { return lines_[at(load)].first != nullptr; }
  /// Does nothing where the place is in that line already.
  void push(Place& place, Load load) noexcept {
    if (place.queued_[at(load)]) return;
    Line& line = lines_[at(load)];
    place.queued_[at(load)] = true;
    place.next_[at(load)] = nullptr;
    (line.last == nullptr ? line.first : line.last->next_[at(load)]) = &place;
    line.last = &place;
    ++operations_;
  }
  /// What pop() would give; nullptr when the line is empty.
  [[nodiscard]] Place* front(Load load) const noexcept { return lines_[at(load)].first; }
  /// nullptr when the line is empty.
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
  /// Pushes and pops since the queue was made.
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
