/// Keys of positions for a search of a graph.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "games/any/foreign.h"
#include "games/any/state_numbers.h"
#include "games/common/key_hash.h"
#include "games/game_options.h"

namespace pyengine {

/// The positions of games without a key are never shared.
template <Game G>
class PositionKeys {
 public:
  [[nodiscard]] std::optional<PositionKey> of(const G& /*position*/) { return std::nullopt; }
  void forget() noexcept {}
};

template <Game G>
  requires HasTranspositionKey<G>
class PositionKeys<G> {
 public:
  [[nodiscard]] std::optional<PositionKey> of(const G& position) {
    return position.transposition_key();
  }
  void forget() noexcept {}
};

/// A user's game has its own key, or states that are numbered: equal states share a number. Numbers
/// last until forget(), and the states that were not used recently lose theirs; such a position
/// then gets a new number, and is not shared with its older node.
template <>
class PositionKeys<ForeignPosition> {
 public:
  /// nullopt if the game has neither. Throws the exceptions of the game.
  [[nodiscard]] std::optional<PositionKey> of(const ForeignPosition& position);
  /// Destroys the stored states, which may run user code.
  void forget() noexcept { numbers_.clear(); }

 private:
  static constexpr std::size_t kMostStates = 1U << 16;
  static std::uint64_t next_owner() noexcept;

  StateNumbers numbers_{kMostStates};
  std::uint64_t owner_ = next_owner();  ///< part of each key: another owner has the same numbers
};

/// A key that also covers the stones after each of the `boards` moves before the last one.
template <Game G>
[[nodiscard]] PositionKey with_earlier_boards(const PositionKey& key, const G& position,
                                              int boards) noexcept {
  KeyHash hash(key.high);
  hash.add(key.low);
  for (int t = 1; t <= boards; ++t) {
    std::array<BoardBits, 2> stones;
    position.stones(t, stones[0], stones[1]);
    for (const BoardBits& bits : stones) {
      for (const std::uint64_t word : bits.words) hash.add(word);
    }
  }
  return hash.key();
}

}  // namespace pyengine
