/// Bit boards of Connect Four. Columns are adjacent, with an empty point above each, so an addition
/// finds the playable points and a four never wraps around the edge.
///
/// Source: Tromp, "John's Connect Four Playground".
#pragma once

#include <bit>
#include <cstdint>

namespace pyengine::alphabeta {

/// A board whose size is known at compile time, which makes every shift and mask a constant.
template <int kRows, int kColumns>
struct FixedBoard {
  static constexpr int kMostColumns = kColumns;
  [[nodiscard]] static constexpr int rows() noexcept { return kRows; }
  [[nodiscard]] static constexpr int columns() noexcept { return kColumns; }
};
/// A board of any size.
struct AnyBoard {
  static constexpr int kMostColumns = 63;
  int rows_ = 6;
  int columns_ = 7;
  [[nodiscard]] int rows() const noexcept { return rows_; }
  [[nodiscard]] int columns() const noexcept { return columns_; }
};

template <class Size>
class ConnectFourBoard {
 public:
  using Bits = std::uint64_t;

  constexpr ConnectFourBoard() = default;
  explicit constexpr ConnectFourBoard(Size size) noexcept : size_(size) {}

  [[nodiscard]] constexpr int rows() const noexcept { return size_.rows(); }
  [[nodiscard]] constexpr int columns() const noexcept { return size_.columns(); }
  [[nodiscard]] constexpr int points() const noexcept { return rows() * columns(); }
  [[nodiscard]] constexpr int stride() const noexcept { return rows() + 1; }
  [[nodiscard]] constexpr Bits bottom() const noexcept {
    Bits bits = 0;
    for (int column = 0; column < columns(); ++column) bits |= Bits{1} << (stride() * column);
    return bits;
  }
  [[nodiscard]] constexpr Bits column_bits(int column) const noexcept {
    return ((Bits{1} << rows()) - 1) << (stride() * column);
  }
  [[nodiscard]] constexpr Bits all() const noexcept { return bottom() * ((Bits{1} << rows()) - 1); }
  /// The lowest row and every second row above it.
  [[nodiscard]] constexpr Bits even_rows() const noexcept {
    Bits bits = 0;
    for (int row = 0; row < rows(); row += 2) bits |= bottom() << row;
    return bits;
  }
  [[nodiscard]] constexpr Bits odd_rows() const noexcept { return all() ^ even_rows(); }
  /// The points on top of these stones.
  [[nodiscard]] constexpr Bits playable(Bits stones) const noexcept {
    return (stones + bottom()) & all();
  }
  [[nodiscard]] constexpr int column_of(Bits move) const noexcept {
    return std::countr_zero(move) / stride();
  }
  [[nodiscard]] constexpr int row_of(Bits move) const noexcept {
    return std::countr_zero(move) % stride();
  }
  /// These points and those above them.
  [[nodiscard]] constexpr Bits upward(Bits points) const noexcept {
    for (int row = 1; row < rows(); ++row) points |= points << 1 & all();
    return points;
  }

  /// Empty points that would complete a four of `own`.
  [[nodiscard]] constexpr Bits completing(Bits own, Bits stones) const noexcept {
    Bits found = own << 1 & own << 2 & own << 3;
    for (const int step : {stride(), stride() - 1, stride() + 1}) {
      const Bits ahead = own << step & own << (2 * step);
      const Bits behind = own >> step & own >> (2 * step);
      found |= ahead & (own << (3 * step) | own >> step);
      found |= behind & (own >> (3 * step) | own << step);
    }
    return found & (all() ^ stones);
  }
  /// Where fours of `stones` in the direction of `step` begin.
  [[nodiscard]] static constexpr Bits fours(Bits stones, int step) noexcept {
    const Bits pairs = stones & stones >> step;
    return pairs & pairs >> (2 * step);
  }
  [[nodiscard]] constexpr bool has_four(Bits stones) const noexcept {
    return (fours(stones, 1) | fours(stones, stride()) | fours(stones, stride() - 1) |
            fours(stones, stride() + 1)) != 0;
  }
  [[nodiscard]] constexpr Bits mirrored(Bits bits) const noexcept {
    const Bits one = (Bits{1} << stride()) - 1;
    Bits turned = 0;
    for (int column = 0; column < columns(); ++column) {
      turned |= (bits >> (stride() * column) & one) << (stride() * (columns() - 1 - column));
    }
    return turned;
  }

 private:
  [[no_unique_address]] Size size_{};
};

}  // namespace pyengine::alphabeta
