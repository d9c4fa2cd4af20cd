#include "games/any/state_numbers.h"

#include <utility>

#include "games/common/hashing.h"

namespace pyengine {
namespace {

constexpr std::size_t kFirstLists = 1024;  ///< a power of two

}  // namespace

std::uint64_t StateNumbers::number(const ForeignState& state, std::uint64_t hash, const Keep& keep,
                                   const std::function<void()>& look) {
  if (first_.empty()) first_.assign(kFirstLists, kNobody);
  for (std::uint32_t i = first_of(hash); i != kNobody; i = entries_[i].next) {
    if (entries_[i].hash != hash) continue;
    look();
    if (!entries_[i].state->is_same(state)) continue;
    entries_[i].was_asked = true;
    return entries_[i].number;
  }
  look();
  add({.state = keep(), .hash = hash, .number = ++last_number_});
  return last_number_;
}

void StateNumbers::clear() noexcept {
  const auto entries =
      std::exchange(entries_, {});  // code that runs during their destruction sees an empty list
  first_.clear();
  hand_ = 0;
}

std::uint32_t& StateNumbers::first_of(std::uint64_t hash) noexcept {
  return first_[mix64(hash) & (first_.size() - 1)];
}

void StateNumbers::add(Entry entry) {
  if (entries_.size() == first_.size() && entries_.size() < most_) widen();
  std::uint32_t& first = first_of(entry.hash);
  if (entries_.size() < most_) {
    entries_.push_back(std::move(entry));
    entries_.back().next = std::exchange(first, static_cast<std::uint32_t>(entries_.size() - 1));
    return;
  }
  const std::uint32_t place = forget_one();
  entry.next = std::exchange(first, place);
  // The previous state is destroyed last, because that may run user code.
  std::swap(entries_[place], entry);
}

void StateNumbers::widen() {
  first_.assign(2 * first_.size(), kNobody);
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    entries_[i].next = std::exchange(first_of(entries_[i].hash), i);
  }
}

/// Takes a state that was not used recently out of its list and returns its slot.
std::uint32_t StateNumbers::forget_one() noexcept {
  while (std::exchange(entries_[hand_].was_asked, false)) hand_ = (hand_ + 1) % entries_.size();
  const auto place = static_cast<std::uint32_t>(hand_);
  hand_ = (hand_ + 1) % entries_.size();
  std::uint32_t* link = &first_of(entries_[place].hash);
  while (*link != place) link = &entries_[*link].next;
  *link = entries_[place].next;
  return place;
}

}  // namespace pyengine
