/// Othello mobility and flips on an N x N bitboard, row-major from the top left.
#pragma once

#include <cstdint>

#include "base/bits.h"
#include "base/types.h"

namespace pyengine {

/// 128 bits with the integer operations that bit boards need; shifts are by 1..63.
struct Bits128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  constexpr Bits128() = default;
  constexpr explicit Bits128(std::uint64_t low_word, std::uint64_t high_word = 0) noexcept
      : low(low_word), high(high_word) {}
  friend constexpr bool operator==(const Bits128&, const Bits128&) = default;
  friend constexpr Bits128 operator&(Bits128 a, Bits128 b) noexcept {
    return Bits128(a.low & b.low, a.high & b.high);
  }
  friend constexpr Bits128 operator|(Bits128 a, Bits128 b) noexcept {
    return Bits128(a.low | b.low, a.high | b.high);
  }
  friend constexpr Bits128 operator~(Bits128 a) noexcept { return Bits128(~a.low, ~a.high); }
  friend constexpr Bits128 operator<<(Bits128 a, int n) noexcept {
    return Bits128(a.low << n, (a.high << n) | (a.low >> (64 - n)));
  }
  friend constexpr Bits128 operator>>(Bits128 a, int n) noexcept {
    return Bits128((a.low >> n) | (a.high << (64 - n)), a.high >> n);
  }
  constexpr Bits128& operator|=(Bits128 b) noexcept { return *this = *this | b; }
};

template <class Word>
constexpr Word bit_at(int point) noexcept {
  return Word(std::uint64_t{1} << point);
}
template <>
constexpr Bits128 bit_at<Bits128>(int point) noexcept {
  return point < 64 ? Bits128(std::uint64_t{1} << point)
                    : Bits128(0, std::uint64_t{1} << (point - 64));
}

[[nodiscard]] constexpr int count_discs(std::uint64_t discs) noexcept { return count_bits(discs); }
[[nodiscard]] constexpr int count_discs(Bits128 discs) noexcept {
  return count_bits(discs.low) + count_bits(discs.high);
}

/// The result of a game that ends with these discs.
template <class Word>
constexpr Outcome othello_outcome(Word first, Word second) noexcept {
  const int margin = count_discs(first) - count_discs(second);
  return {margin > 0 ? 1.0F : margin < 0 ? -1.0F : 0.0F};
}

/// The rules on a board of N x N points: pure functions of both players' discs.
template <int N, class Word>
class OthelloBits {
 public:
  /// Empty points on which a disc would flip something.
  static constexpr Word moves(Word own, Word other) noexcept {
    const Word inner = other & kInnerColumns;
    return (beyond<1>(own, inner) | beyond<N>(own, other) | beyond<N - 1>(own, inner) |
            beyond<N + 1>(own, inner)) &
        kBoard & ~(own | other);
  }
  /// Discs that a disc on the single point of `place` flips.
  static constexpr Word flips(Word place, Word own, Word other) noexcept {
    const Word inner = other & kInnerColumns;
    return enclosed<1>(place, own, inner) | enclosed<N>(place, own, other) |
        enclosed<N - 1>(place, own, inner) | enclosed<N + 1>(place, own, inner);
  }
  static constexpr Word board() noexcept { return kBoard; }

 private:
  static constexpr Word make_board(bool with_edge_columns) noexcept {
    Word board{};
    for (int point = 0; point < N * N; ++point) {
      const int column = point % N;
      if (with_edge_columns || (column != 0 && column != N - 1)) board |= bit_at<Word>(point);
    }
    return board;
  }
  static constexpr Word kBoard = make_board(true);
  /// A run of discs flipped horizontally or diagonally never contains an edge column; with the
  /// mask, no shift wraps around the edge.
  static constexpr Word kInnerColumns = make_board(false);

  template <int kShift>
  static constexpr Word shifted(Word bits) noexcept {
    if constexpr (kShift > 0) {
      return bits << kShift;
    } else {
      return bits >> -kShift;
    }
  }
  /// Discs of `other` that follow `from` without a gap, at most N - 2: one, two, then two at a
  /// time.
  template <int kShift>
  static constexpr Word run(Word from, Word other) noexcept {
    Word discs = other & shifted<kShift>(from);
    discs |= other & shifted<kShift>(discs);
    const Word pairs = other & shifted<kShift>(other);
    for (int reached = 2; reached < N - 2; reached += 2) {
      discs |= pairs & shifted<2 * kShift>(discs);
    }
    return discs;
  }
  /// Points that end such runs, on both sides.
  template <int kShift>
  static constexpr Word beyond(Word own, Word other) noexcept {
    return shifted<kShift>(run<kShift>(own, other)) | shifted<-kShift>(run<-kShift>(own, other));
  }
  template <int kShift>
  static constexpr Word if_closed(Word discs, Word own) noexcept {
    return (shifted<kShift>(discs) & own) == Word{} ? Word{} : discs;
  }
  /// Runs of the opponent's discs between `place` and a disc of the player, on both sides.
  template <int kShift>
  static constexpr Word enclosed(Word place, Word own, Word other) noexcept {
    return if_closed<kShift>(run<kShift>(place, other), own) |
        if_closed<-kShift>(run<-kShift>(place, other), own);
  }
};

}  // namespace pyengine
