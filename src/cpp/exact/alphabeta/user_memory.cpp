#include "exact/alphabeta/user_memory.h"

#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "games/common/hashing.h"

namespace pyengine::alphabeta {
namespace {

constexpr std::size_t kFirstLists = 1024;  ///< a power of two
constexpr int kMostOutcomes = 1 << 22;

}  // namespace

std::uint64_t StateNumbers::number(const std::shared_ptr<const ForeignState>& state,
                                   std::uint64_t hash, const std::function<void()>& look) {
  if (first_.empty()) first_.assign(kFirstLists, kNobody);
  for (std::uint32_t i = first_of(hash); i != kNobody; i = entries_[i].next) {
    if (entries_[i].hash != hash) continue;
    look();
    if (!entries_[i].state->is_same(*state)) continue;
    entries_[i].was_asked = true;
    return entries_[i].number;
  }
  add({.state = state, .hash = hash, .number = ++last_number_});
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

int Outcomes::number(double outcome) {
  if (outcome == 0.0) return 0;
  const auto next = static_cast<int>(sizes_.size()) + 1;
  const auto [at, is_new] = numbers_.try_emplace(std::abs(outcome), next);
  if (is_new) {
    if (next > kMostOutcomes - 1) {
      numbers_.erase(at);
      throw ConfigError("returns(): expected at most " + std::to_string(kMostOutcomes - 1) +
                        " different outcomes of a game that is solved, got more");
    }
    sizes_.push_back(std::abs(outcome));
  }
  return outcome < 0.0 ? -at->second : at->second;
}

double Outcomes::outcome(int number) const noexcept {
  if (number == 0) return 0.0;
  const double size = sizes_[static_cast<std::size_t>(std::abs(number)) - 1];
  return number < 0 ? -size : size;
}

}  // namespace pyengine::alphabeta
