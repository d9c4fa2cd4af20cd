/// Transposition keys of OpenSpiel's games, whose states have neither == nor a hash.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "games/common/key_hash.h"

namespace pyengine::bindings {

/// Whether the text of a state and the player to move decide the future, apart from the ply: games
/// in which the text shows the whole board and no rule refers to earlier boards. In others it hides
/// repetitions (chess, go, oware, lines_of_action), counters or half-made moves (amazons).
/// `game`: "pyspiel:NAME(...)".
inline bool text_identifies(std::string_view game) {
  static constexpr std::array<std::string_view, 13> kGames = {
      "breakthrough", "clobber", "connect_four", "dots_and_boxes", "gomoku",      "havannah", "hex",
      "mnk",          "nim",     "othello",      "pentago",        "tic_tac_toe", "y"};
  constexpr std::string_view kPrefix = "pyspiel:";
  if (!game.starts_with(kPrefix)) return false;
  game.remove_prefix(kPrefix.size());
  return std::ranges::find(kGames, game.substr(0, game.find('('))) != kGames.end();
}

/// A hash of 128 bits, which is not verified.
inline PositionKey key_of_text(std::string_view text, long long player) noexcept {
  KeyHash hash(static_cast<std::uint64_t>(player));
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(sizeof word, text.size());
    std::memcpy(&word, text.data(), size);
    hash.add(word);
    text.remove_prefix(size);
  }
  return hash.key();
}

}  // namespace pyengine::bindings
