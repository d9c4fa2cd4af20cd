/// Which search is gathered from next.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/memory.h"
#include "search/run/slot.h"

namespace pyengine {

class TreeSearch;

/// Whether a search has leaves in flight. Whoever gathers from an idle one does what the serial
/// search would do; to deepen a busy one costs strength.
enum class Load : std::uint8_t { idle, busy };

/// A search in a run, and what the run knows of it, under the run's mutex. Another search may take
/// the place of one that is finished. A cache line of its own, as the search has them.
struct alignas(kCacheLine) Place {
  TreeSearch* search = nullptr;  ///< none where what follows could not be made
  bool reported = false;         ///< as finished
  bool held = false;             ///< it is decided what follows: nobody else looks at the search

  Slot* round = nullptr;           ///< deterministic: the first slot of the round under way
  std::atomic<int> round_open{0};  ///< slots of the round that are not evaluated yet

 private:
  friend class SearchQueue;
  std::array<Place*, 2> next_{};  ///< by Load
  std::array<bool, 2> queued_{};
};

/// Two lines, of idle and of busy searches; each serves whoever waits longest. A search that was
/// queued as busy may have become idle since, and is then queued as idle too. What comes out is
/// therefore a hint: the caller looks at the search itself. Never allocates.
class SearchQueue {
 public:
  void clear() noexcept { *this = {}; }
  [[nodiscard]] bool has(Load load) const noexcept { return lines_[at(load)].first != nullptr; }
  /// Does nothing where the place is in that line already.
  void push(Place& place, Load load) noexcept {
    if (place.queued_[at(load)]) return;
    Line& line = lines_[at(load)];
    place.queued_[at(load)] = true;
    place.next_[at(load)] = nullptr;
    (line.last == nullptr ? line.first : line.last->next_[at(load)]) = &place;
    line.last = &place;
  }
  /// nullptr when the line is empty.
  Place* pop(Load load) noexcept {
    Line& line = lines_[at(load)];
    Place* place = line.first;
    if (place == nullptr) return nullptr;
    line.first = place->next_[at(load)];
    if (line.first == nullptr) line.last = nullptr;
    place->queued_[at(load)] = false;
    return place;
  }

 private:
  struct Line {
    Place* first = nullptr;
    Place* last = nullptr;
  };
  [[nodiscard]] static std::size_t at(Load load) noexcept { return static_cast<std::size_t>(load); }

  std::array<Line, 2> lines_{};
};

}  // namespace pyengine
