/// Recognises the states of a user's game although their hash may collide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "games/any/foreign.h"

namespace pyengine {

/// Stores and numbers states: those that are equal by the game's own == share a number, others have
/// different ones. Numbers are never reused, so a forgotten state gets a new number.
class StateNumbers {
 public:
  /// `most`: maximum number of stored states, at least 1.
  explicit StateNumbers(std::size_t most) : most_(most) {}

  using Keep = std::function<std::shared_ptr<const ForeignState>()>;

  /// The number of `state`. A new one is stored as `keep()`, an equal state that never changes.
  /// `look` is called before each call to the game's code; all of them may throw.
  std::uint64_t number(const ForeignState& state, std::uint64_t hash, const Keep& keep,
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

}  // namespace pyengine
