/// Chooses the search to gather from next and replaces finished ones.
///
/// Invariant: a search that can be gathered from is in the queue of its load, unless the maximum
/// number of workers already gather from it. So each change of a search (gathering, completing a
/// leaf, replacing it) must be followed by review().
///
///              enter()               leave()
///   queued ─────────────▶ gathered ───────────▶ review() ──▶ queued (idle or busy)
///      ▲                                          │ finished
///      │        replaced()                        ▼
///      └──────────────────────────────────────── held ──▶ handed over, nothing follows
///
/// The owner's mutex guards everything except hands_over().
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

#include "search/run/place.h"

namespace pyengine {

template <Schedulable Search>
class SearchesOf {
 public:
  using Place = PlaceOf<Search>;

  /// Creates places for the searches of a run, all idle and queued.
  void begin(std::span<Search* const> searches, int most_gatherers, bool hands_over) {
    places_ = std::make_unique<Place[]>(searches.size());
    size_ = unfinished_ = searches.size();
    most_gatherers_ = most_gatherers;
    hands_over_.store(hands_over, std::memory_order_relaxed);
    for (std::size_t i = 0; i < size_; ++i) {
      places_[i].search = searches[i];
      queue_.push(places_[i], Load::idle);
    }
  }
  void end() noexcept {
    queue_.clear();
    places_.reset();
    size_ = unfinished_ = 0;
  }
  [[nodiscard]] std::span<Place> places() noexcept { return {places_.get(), size_}; }

  /// Enters searches for one worker's turn, longest waiting first and idle ones before busy ones,
  /// as far as `may_gather(Load)` allows. Stores them in `turn` and returns their number.
  template <class MayGather>
  std::size_t enter(std::span<Place*> turn, const MayGather& may_gather) noexcept {
    std::size_t count = 0;
    if (!may_gather(Load::idle)) return 0;
    while (count < turn.size()) {
      Place* place = queue_.pop(Load::idle);
      if (place == nullptr) break;
      if (!may_enter(*place)) continue;  // review() queues it again
      if (place->search->idle()) {
        turn[count++] = &take(*place);
      } else {
        queue_.push(*place, Load::busy);
      }
    }
    while (count < turn.size() && may_gather(Load::busy)) {
      Place* place = queue_.front(Load::busy);
      // A place of this turn keeps its position in the queue and is entered again in the next turn.
      if (place == nullptr || contains(turn.first(count), place)) break;
      static_cast<void>(queue_.pop(Load::busy));
      if (may_enter(*place)) turn[count++] = &take(*place);
    }
    for (Place* place : turn.first(count))
      queue(*place);  // several workers may gather from one search
    return count;
  }
  /// Enters this search again if it can be gathered from.
  bool enter_again(Place& place) noexcept {
    if (!may_enter(place)) return false;
    queue(take(place));
    return true;
  }
  /// Whether a queue is not empty.
  [[nodiscard]] bool waits(Load load) const noexcept { return queue_.has(load); }

  /// Called after the worker has gathered. Returns the result of review().
  [[nodiscard]] bool leave(Place& place) noexcept {
    --place.gatherers;
    return review(place);
  }
  /// Queues a search that can be gathered from. Returns whether it is finished and now held by the
  /// caller, who must hand it over.
  [[nodiscard]] bool review(Place& place) noexcept {
    if (hands_over() && !place.held && !place.handed_over && finished(place)) {
      return place.held = place.handed_over = true;
    }
    queue(place);
    return false;
  }
  /// Called after the search of a held place was handed over. `follows`: another search has
  /// replaced it. Returns whether that one has finished already and is held as well.
  [[nodiscard]] bool replaced(Place& place, bool follows) noexcept {
    follows = follows && hands_over();
    // Its tree may have a new root by now, with budget left.
    if (!follows) place.search->close();
    place.held = follows && finished(place);
    place.handed_over = place.held || !follows;
    queue(place);
    return place.held;
  }
  /// Called if no search could be created for a held place.
  void abandon(Place& place) noexcept { place.search = nullptr; }

  /// Whether something may follow a finished search. Callable at any time from any thread.
  [[nodiscard]] bool hands_over() const noexcept {
    return hands_over_.load(std::memory_order_relaxed);
  }
  /// The run ends early: nothing follows any more, and each search ends as soon as its root has
  /// moves. Returns whether all have ended; otherwise call it again.
  bool close_where_ready() noexcept {
    hands_over_.store(false, std::memory_order_relaxed);
    bool all = true;
    for (Place& place : places()) {
      if (place.search == nullptr || place.held) continue;  // replaced() closes the next search
      if (place.search->root_ready()) place.search->close();
      all = all && place.search->closed();
    }
    return all;
  }
  /// Ends the run now.
  void close_all() noexcept {
    hands_over_.store(false, std::memory_order_relaxed);
    for (Place& place : places()) {
      if (place.search != nullptr && !place.held) place.search->close();
    }
  }

  /// Whether all searches have finished. Usually looks at one search only, because data written by
  /// other cores is slow to read.
  [[nodiscard]] bool all_finished() noexcept {
    while (unfinished_ != 0 && done(places_[unfinished_ - 1])) --unfinished_;
    return unfinished_ == 0;
  }
  /// Queue operations since construction.
  [[nodiscard]] std::uint64_t operations() const noexcept { return queue_.operations(); }

 private:
  [[nodiscard]] bool may_enter(const Place& place) const noexcept {
    // The search of a held place may be under construction.
    return place.search != nullptr && !place.held && place.gatherers < most_gatherers_ &&
        place.search->may_gather();
  }
  void queue(Place& place) noexcept {
    if (may_enter(place)) queue_.push(place, place.search->idle() ? Load::idle : Load::busy);
  }
  [[nodiscard]] static bool contains(std::span<Place* const> turn, const Place* place) noexcept {
    return std::find(turn.begin(), turn.end(), place) != turn.end();
  }
  [[nodiscard]] static Place& take(Place& place) noexcept {
    ++place.gatherers;
    return place;
  }
  [[nodiscard]] static bool finished(const Place& place) noexcept {
    return place.gatherers == 0 && place.search->finished();
  }
  [[nodiscard]] bool done(const Place& place) const noexcept {
    if (place.search == nullptr) return true;
    return !place.held && finished(place) && (place.handed_over || !hands_over());
  }

  SearchQueueOf<Search> queue_;
  std::unique_ptr<Place[]> places_;
  std::size_t size_ = 0;
  std::size_t unfinished_ = 0;  ///< all places from here on are done
  int most_gatherers_ = 1;      ///< per search, at the same time
  std::atomic<bool> hands_over_{false};
};

}  // namespace pyengine
