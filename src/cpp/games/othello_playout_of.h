/// A playout of Othello with the rules of one board and instruction set. The including file defines
/// PYENGINE_WITH_TARGET: a function attribute, or nothing.
#pragma once

#include <cstdint>
#include <utility>

#include "games/common/draws.h"
#include "games/game.h"
#include "games/othello_bits.h"

namespace pyengine {

/// `Rules` has moves(own, other) and flips(point, own, other) on discs in the form of spread(word);
/// gather(discs), which returns the word; count(set); and nth(set, rank), the index of the bit with
/// `rank` smaller ones.
template <class Rules, class Word>
PYENGINE_WITH_TARGET Playout play_othello(Word first, Word second, unsigned mover,
                                          Rng& rng) noexcept {
  SmallDraws draws(rng);
  auto own = Rules::spread(first);
  auto other = Rules::spread(second);
  for (int plies = 0;; ++plies, mover ^= 1U, std::swap(own, other)) {
    Word moves = Rules::moves(own, other);
    if (moves == Word{}) {  // a pass or the end
      std::swap(own, other);
      mover ^= 1U;
      moves = Rules::moves(own, other);
      if (moves == Word{}) {
        if (mover != 0) std::swap(own, other);
        return {othello_outcome(Rules::gather(own), Rules::gather(other)), plies};
      }
      ++plies;
    }
    const auto count = static_cast<std::uint32_t>(Rules::count(moves));
    const unsigned point = Rules::nth(moves, draws.below(count));
    const auto flipped = Rules::flips(point, own, other);
    own = own | flipped | Rules::spread(bit_at<Word>(static_cast<int>(point)));
    other = other & ~flipped;
  }
}

}  // namespace pyengine
