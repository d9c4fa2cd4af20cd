/// Keys of positions for a search of a graph.
#pragma once

#include <optional>

#include "games/game.h"

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

}  // namespace pyengine
