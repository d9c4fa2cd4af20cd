/// The transposition table: storage, growth, and concurrent access.
#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/error.h"
#include "exact/alphabeta/position.h"
#include "exact/alphabeta/table.h"

namespace pyengine::alphabeta {
namespace {

/// The test's value for a key, which lookups must return.
Found found_for(std::uint64_t key) {
  const auto score = static_cast<int>(key % 2'000'001) - 1'000'000;
  return {score, static_cast<Bound>(1 + key % 3), static_cast<std::uint8_t>(key % 256),
          static_cast<Action>(key % 65535)};
}

bool is_right(const Found& found, std::uint64_t key) {
  const Found expected = found_for(key);
  return found.score == expected.score && found.bound == expected.bound &&
      found.depth == expected.depth && found.action == expected.action;
}

std::uint64_t key_of(std::uint64_t number) { return mix64(number); }

void look_at_nothing() {}

TEST_CASE("a table returns what was stored, including scores of both signs and no action") {
  Table table(1U << 16);
  for (const int score : {0, 1, -1, kNoScore + 1, -kNoScore - 1}) {
    table.store(7, {score, Bound::exact, kWholeGame, kNoAction}, 1);
    const auto found = table.find(7);
    REQUIRE(found);
    CHECK(found->score == score);
    CHECK(found->action == kNoAction);
    CHECK(found->depth == kWholeGame);
  }
  CHECK(!table.find(8));
  table.clear();
  CHECK(!table.find(7));
}

TEST_CASE("a table never exceeds its size and rejects sizes below a bucket") {
  for (const std::uint64_t bytes : {64U, 100U, 1U << 20, (1U << 22) + 17}) {
    CHECK(Table(bytes).bytes() <= bytes);
  }
  CHECK_THROWS_AS(Table(63), ConfigError);
}

TEST_CASE("a table that grows keeps its entries") {
  constexpr std::uint64_t kStored = 4000;
  Table table(64U << 20);
  for (std::uint64_t i = 0; i < kStored; ++i) table.store(key_of(i), found_for(key_of(i)), 1);
  table.expect(std::uint64_t{1} << 40, look_at_nothing);
  std::uint64_t kept = 0;
  for (std::uint64_t i = 0; i < kStored; ++i) {
    const auto found = table.find(key_of(i));
    if (!found) continue;
    ++kept;
    CHECK(is_right(*found, key_of(i)));
  }
  CHECK(kept > kStored * 99 / 100);
}

TEST_CASE("a table grows for the stores of one search, not for many small searches") {
  constexpr std::uint64_t kSmall = 10000;
  Table table(64U << 20);
  const std::uint64_t before = table.bytes_in_use();
  for (int search = 0; search < 1000; ++search) {
    table.begin_search();
    table.expect(kSmall, look_at_nothing);
  }
  CHECK(table.bytes_in_use() == before);
  for (int part = 0; part < 1000; ++part) table.expect(kSmall, look_at_nothing);
  CHECK(table.bytes_in_use() > before);
  CHECK(table.bytes_in_use() <= table.bytes());
}

TEST_CASE("a table stopped while growing returns nothing wrong, and grows later") {
  constexpr std::uint64_t kStored = 4000;
  Table table(64U << 20);
  for (std::uint64_t i = 0; i < kStored; ++i) table.store(key_of(i), found_for(key_of(i)), 1);
  const std::uint64_t before = table.bytes_in_use();
  const auto stop = [] { throw std::runtime_error("stop"); };
  CHECK_THROWS_AS(table.expect(std::uint64_t{1} << 40, stop), std::runtime_error);
  CHECK(table.bytes_in_use() == before);
  table.expect(1, look_at_nothing);
  CHECK(table.bytes_in_use() == table.bytes());
  for (std::uint64_t i = 0; i < kStored; ++i) {
    const auto found = table.find(key_of(i));
    CHECK((!found || is_right(*found, key_of(i))));
  }
}

TEST_CASE("a full bucket evicts entries of earlier searches first, then the cheapest") {
  Table table(64);  // one bucket of four
  table.begin_search();
  for (const std::uint64_t key : {1U, 2U, 3U, 4U}) {
    table.store(key, found_for(key), std::uint64_t{1} << key);
  }
  table.store(5, found_for(5), 1);
  CHECK(!table.find(1));
  CHECK(table.find(4));
  table.begin_search();
  table.store(6, found_for(6), 1);
  table.store(7, found_for(7), 1);
  CHECK(table.find(6));  // from this search, although it cost less than the others
  CHECK(table.find(7));
}

TEST_SUITE("concurrent") {
  TEST_CASE("threads that overwrite each other never find what nobody has stored") {
    Table table(1U << 20);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < 20000; ++i) {
          const std::uint64_t key = key_of((i * 7 + static_cast<std::uint64_t>(t)) % 30000);
          table.store(key, found_for(key), i);
          const std::uint64_t other = key_of(i);
          const auto found = table.find(other);
          if (found && !is_right(*found, other)) ++wrong;
          if (t == 0 && i % 5000 == 0) table.expect(40000, look_at_nothing);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
  }
}

}  // namespace
}  // namespace pyengine::alphabeta
