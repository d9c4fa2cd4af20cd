/// The random order in which moves are tried.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "search/tree/order.h"

namespace pyengine {
namespace {

TEST_CASE("an order contains every place once, for any number of moves and any key") {
  for (const int count : {1, 2, 3, 4, 5, 7, 8, 9, 64, 65, 225, 362, 65535}) {
    for (std::uint64_t key = 0; key < 5; ++key) {
      CAPTURE(count);
      CAPTURE(key);
      std::vector<char> seen(static_cast<std::size_t>(count), 0);
      for (int place = 0; place < count; ++place) {
        const int found = place_in_order(place, count, mix64(key));
        REQUIRE(found >= 0);
        REQUIRE(found < count);
        seen[static_cast<std::size_t>(found)] += 1;
      }
      CHECK(std::count(seen.begin(), seen.end(), 1) == count);
    }
  }
}

TEST_CASE("over the keys, every move comes first, second and last equally often") {
  constexpr int kKeys = 70000;
  for (const int count : {2, 5, 7, 9}) {
    for (const int place : {0, 1, count - 1}) {
      std::array<int, 9> times{};
      for (std::uint64_t i = 0; i < kKeys; ++i) {
        const std::array<std::uint64_t, 1> moves{i};
        ++times[static_cast<std::size_t>(place_in_order(place, count, order_key(7, 3, moves)))];
      }
      double chi_squared = 0.0;
      const double expected = static_cast<double>(kKeys) / count;
      for (int move = 0; move < count; ++move) {
        const double off = times[static_cast<std::size_t>(move)] - expected;
        chi_squared += off * off / expected;
      }
      CAPTURE(count);
      CAPTURE(place);
      CHECK(chi_squared < 32.0);  // 8 degrees of freedom: 1 in 10,000
    }
  }
}

TEST_CASE("which move follows which is close to random as well") {
  constexpr int kKeys = 90000;
  constexpr int kMoves = 9;
  std::array<int, kMoves * kMoves> times{};
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    const std::uint64_t key = mix64(i);
    const int first = place_in_order(0, kMoves, key);
    const int second = place_in_order(1, kMoves, key);
    ++times[static_cast<std::size_t>(kMoves * first + second)];
  }
  for (int first = 0; first < kMoves; ++first) {
    for (int second = 0; second < kMoves; ++second) {
      const int found = times[static_cast<std::size_t>(kMoves * first + second)];
      if (first == second) {
        CHECK(found == 0);
      } else {
        CHECK(found > kKeys / 72 * 3 / 4);
        CHECK(found < kKeys / 72 * 5 / 4);
      }
    }
  }
}

}  // namespace
}  // namespace pyengine
