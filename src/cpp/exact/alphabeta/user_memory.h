/// What a solver remembers of a user's game, so that the table's entries are exact: numbers for
/// states, since the user's hash may be the same for many of them, and numbers for outcomes, which
/// may be any numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "games/any/foreign.h"

namespace pyengine::alphabeta {

/// Keeps states: those that are == by the game's own code have one number, others have different
/// ones. A number is never used again, so that a state that was forgotten gets another.
class StateNumbers {
 public:
  /// `most`: states that are kept, at least 1.
  explicit StateNumbers(std::size_t most) : most_(most) {}

  /// The number of `state`, which has a hash. `look` is called before each call of the game's code;
  /// it may throw, and so may the game.
  std::uint64_t number(const std::shared_ptr<const ForeignState>& state, std::uint64_t hash,
                       const std::function<void()>& look);
  void clear() noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// Calls `visit(const ForeignState&)` for each state.
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
    std::uint32_t next = kNobody;  ///< with the same remainder of the hash
    bool was_asked = false;        ///< since the clock's hand passed: it is kept once more
  };

  [[nodiscard]] std::uint32_t& first_of(std::uint64_t hash) noexcept;
  void add(Entry entry);
  void widen();
  [[nodiscard]] std::uint32_t forget_one() noexcept;

  std::size_t most_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> first_;  ///< a power of two
  std::size_t hand_ = 0;              ///< the clock's [Corbato, "A paging experiment", 1968]
  std::uint64_t last_number_ = 0;
};

/// Whole numbers of 24 bits for outcomes, with the outcomes' signs.
class Outcomes {
 public:
  /// Throws ConfigError when there are more outcomes than numbers.
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
