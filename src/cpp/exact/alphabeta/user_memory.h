/// Memory of a user's game that makes table entries exact: numbers for states, because the user's
/// hash may collide, and numbers for outcomes, which may be arbitrary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "games/any/foreign.h"

namespace pyengine::alphabeta {

/// Stores and numbers states: those that are equal by the game's own == share a number, others have
/// different ones. Numbers are never reused, so a forgotten state gets a new number.
class StateNumbers {
 public:
  /// `most`: maximum number of stored states, at least 1.
  explicit StateNumbers(std::size_t most) : most_(most) {}

  /// The number of `state`, which must have a hash. `look` is called before each call to the game's
  /// code; both may throw.
  std::uint64_t number(const std::shared_ptr<const ForeignState>& state, std::uint64_t hash,
                       const std::function<void()>& look);
  void clear() noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// Calls `visit(const ForeignState&)` for each stored state.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Entry& entry : entries_) visit(*entry.state);
  }

 private:
  static constexpr std::uint32_t kNobody = 0xFFFFFFFF;
  struct Entry {
    std::shared_ptr<const ForeignState> state;
    std::uint64_t hash = 0;
    std::uint64_t number = 0;
    std::uint32_t next = kNobody;  ///< next state in the same hash bucket
    bool was_asked = false;        ///< used since the clock hand passed: it survives one more round
  };

  [[nodiscard]] std::uint32_t& first_of(std::uint64_t hash) noexcept;
  void add(Entry entry);
  void widen();
  [[nodiscard]] std::uint32_t forget_one() noexcept;

  std::size_t most_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> first_;  ///< size is a power of two
  std::size_t hand_ =
      0;  ///< the hand of the clock algorithm [Corbato, "A paging experiment", 1968]
  std::uint64_t last_number_ = 0;
};

/// 24-bit integers for outcomes, with the signs of the outcomes.
class Outcomes {
 public:
  /// Throws ConfigError if there are more outcomes than numbers.
  [[nodiscard]] int number(double outcome);
  [[nodiscard]] double outcome(int number) const noexcept;

 private:
  std::unordered_map<double, int> numbers_;
  std::vector<double> sizes_;
};

struct UserMemory {
  explicit UserMemory(std::size_t states) : numbers(states) {}
  StateNumbers numbers;
  Outcomes outcomes;
};

}  // namespace pyengine::alphabeta
