/// Chunk pools, arenas and the background thread.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "base/janitor.h"
#include "base/memory.h"
#include "search_fixtures.h"

namespace pyengine {
namespace {

std::shared_ptr<ChunkPool> pool_of(std::uint64_t chunks) {
  return std::make_shared<ChunkPool>(chunks * kChunkBytes + kChunkBytes / 2);
}

/// Takes blocks of one size until the arena is exhausted.
std::vector<BlockIndex> take_all(Allocator& allocator, int units) {
  std::vector<BlockIndex> blocks;
  while (const BlockIndex block = allocator.take(units)) blocks.push_back(block);
  return blocks;
}

TEST_CASE("a pool hands out chunks up to its cap and reuses returned ones") {
  ChunkPool pool(3 * kChunkBytes + kChunkBytes - 1);
  CHECK(pool.limit_chunks() == 3);
  std::vector<std::byte*> chunks;
  while (std::byte* chunk = pool.take()) {
    CHECK(reinterpret_cast<std::uintptr_t>(chunk) % kChunkBytes == 0);
    chunks.push_back(chunk);
  }
  CHECK(chunks.size() == 3);
  CHECK(pool.refusals() == 1);
  CHECK(pool.bytes() == 3 * kChunkBytes);
  pool.give_back(std::span(chunks).subspan(1, 1));
  CHECK(pool.bytes() == 3 * kChunkBytes);  // cached
  CHECK(pool.take() == chunks[1]);
  CHECK(pool.take() == nullptr);
  pool.give_back(chunks);
}

TEST_CASE("blocks do not overlap, are aligned and keep their contents") {
  auto arena = std::make_shared<Arena>(pool_of(4));
  Allocator allocator(arena);
  std::vector<std::pair<BlockIndex, int>> blocks;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const int units = 1 + static_cast<int>(search_test::mixed(i) % 60);
    const BlockIndex block = allocator.take(units);
    REQUIRE(block != 0);
    REQUIRE(reinterpret_cast<std::uintptr_t>(arena->at(block)) % kUnitBytes == 0);
    std::memset(arena->at(block), static_cast<int>(i % 251), static_cast<std::size_t>(units) * 8);
    blocks.emplace_back(block, units);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [block, units] = blocks[i];
    for (std::size_t byte = 0; byte < static_cast<std::size_t>(units) * 8; ++byte) {
      if (arena->at(block)[byte] != static_cast<std::byte>(i % 251)) FAIL("overwritten");
    }
  }
}

TEST_CASE("an arena at the cap returns no block, and a chunk fits the largest block") {
  const auto pool = pool_of(2);
  auto arena = std::make_shared<Arena>(pool);
  Allocator allocator(arena);
  const auto blocks = take_all(allocator, Arena::kMaxUnits);
  CHECK(blocks.size() == 2 * 7);  // the last unit of a chunk stays unused
  CHECK(pool->bytes() == 2 * kChunkBytes);
  CHECK(allocator.take(Arena::kMaxUnits) == 0);
}

TEST_CASE("freed blocks are reused before new memory") {
  auto arena = std::make_shared<Arena>(pool_of(1));
  Allocator allocator(arena);
  const auto blocks = take_all(allocator, 100);
  for (const BlockIndex block : blocks) allocator.give(block, 100);
  const auto again = take_all(allocator, 100);
  CHECK(std::set(again.begin(), again.end()) == std::set(blocks.begin(), blocks.end()));
}

TEST_CASE("flushed blocks are available to other allocators") {
  auto arena = std::make_shared<Arena>(pool_of(1));
  Allocator giver(arena);
  Allocator taker(arena);
  const auto blocks = take_all(giver, 64);
  CHECK(taker.take(64) == 0);
  for (const BlockIndex block : blocks) giver.give(block, 64);
  CHECK(taker.take(64) == 0);  // still cached by the giver
  giver.flush();
  CHECK(take_all(taker, 64).size() == blocks.size());
}

TEST_CASE("at the cap a larger free block is split, and no memory is lost") {
  auto arena = std::make_shared<Arena>(pool_of(1));
  Allocator giver(arena);
  const auto large = take_all(giver, 181);  // edges of a 19x19 board
  for (const BlockIndex block : large) giver.give(block, 181);
  giver.flush();
  Allocator taker(arena);
  const auto small = take_all(taker, 180);  // one move later
  CHECK(small.size() >= large.size());
  const auto rest = take_all(taker, 1);
  CHECK(rest.size() + 180 * small.size() >= 181 * large.size());
}

TEST_CASE("an allocator reuses what another one left over") {
  const auto pool = pool_of(1);
  const auto arena = std::make_shared<Arena>(pool);
  const BlockIndex first = Allocator(arena).take(3);
  for (BlockIndex i = 1; i < 10'000; ++i) CHECK(Allocator(arena).take(3) == first + 3 * i);
}

TEST_CASE("remainders of spans are used before new memory") {
  const auto pool = pool_of(1);
  const auto arena = std::make_shared<Arena>(pool);
  std::vector<Allocator> allocators;
  for (int i = 0; i < 31; ++i) CHECK(allocators.emplace_back(arena).take(1) != 0);
  allocators.clear();
  Allocator last(arena);
  CHECK(take_all(last, 1000).size() >= 31 * 8);
}

TEST_CASE("a destroyed arena returns its chunks to the pool") {
  const auto pool = pool_of(2);
  for (int round = 0; round < 3; ++round) {
    Allocator allocator(std::make_shared<Arena>(pool));
    CHECK(take_all(allocator, 1000).size() > 400);
    CHECK(pool->bytes() == 2 * kChunkBytes);
  }
}

TEST_CASE("blocks taken concurrently are distinct") {
  auto arena = std::make_shared<Arena>(pool_of(4));
  std::vector<std::vector<BlockIndex>> taken(4);
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back([&] {
      Allocator allocator(arena);
      for (int i = 0; i < 4000; ++i) {
        mine.push_back(allocator.take(6));
        if (i % 3 == 0) {
          allocator.give(mine.back(), 6);
          mine.pop_back();
        }
        if (i % 100 == 0) allocator.flush();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<BlockIndex> all;
  std::size_t count = 0;
  for (const auto& mine : taken) {
    all.insert(mine.begin(), mine.end());
    count += mine.size();
  }
  CHECK(all.size() == count);
  CHECK(all.count(0) == 0);
}

TEST_CASE("background work runs in order of submission, and callers can wait for it") {
  std::vector<int> done;
  for (int i = 0; i < 20; ++i) run_in_background([&done, i] { done.push_back(i); });
  wait_for_background();
  REQUIRE(done.size() == 20);
  for (int i = 0; i < 20; ++i) CHECK(done[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("submitting background work never blocks") {
  std::atomic<bool> go{false};
  run_in_background([&] {
    while (!go) std::this_thread::yield();
  });
  run_in_background([] {});
  go = true;
  wait_for_background();
}

}  // namespace
}  // namespace pyengine
