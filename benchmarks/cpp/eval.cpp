/// Costs around the network: planes and the cache.
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "eval/network/cache.h"
#include "eval/network/encoder.h"
#include "support.h"

namespace pyengine::bench {
namespace {

/// AlphaGo Zero's 17 planes as float32: the cost of a leaf before the network.
void encode(benchmark::State& state, const AnyGame& game) {
  const auto position = middle_position(game);
  const Encoder encoder(alphago_zero_spec(), game);
  const std::size_t size = encoder.shape().elements();
  ActionList legal;
  position->legal_actions(legal);
  PlaneStack planes;
  std::vector<float> row(size);
  auto* bytes = reinterpret_cast<std::byte*>(row.data());

  encoder.open(*position, legal, planes);
  encoder.write(planes, 0, ElementType::float32, bytes);
  BoardBits first;
  BoardBits second;
  position->stones(0, first, second);
  const auto points = static_cast<std::ptrdiff_t>(encoder.shape().points());
  const float own = std::accumulate(row.begin(), row.begin() + points, 0.0F);
  const BoardBits& stones = position->to_move() == 0 ? first : second;
  require(own == static_cast<float>(stones.count()), "the first plane shows the mover's stones");
  const float colour = position->to_move() == 0 ? 1.0F : 0.0F;
  require(row.back() == colour, "the last plane shows whether the first player moves");

  const int symmetries = game.symmetries().count();
  int symmetry = 0;
  for (auto _ : state) {
    encoder.open(*position, legal, planes);
    encoder.write(planes, symmetry, ElementType::float32, bytes);
    symmetry = symmetry + 1 == symmetries ? 0 : symmetry + 1;
    benchmark::DoNotOptimize(row.data());
    benchmark::ClobberMemory();
  }
  set_rate(state);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size * sizeof(float)));
}

constexpr std::uint64_t kEntries = 1U << 14;

std::vector<CacheKey> keys(std::uint64_t seed, std::size_t count = 1024) {
  std::vector<CacheKey> made(count);
  Rng rng(seed);
  for (CacheKey& key : made) key = {rng.next(), rng.next()};
  return made;
}

/// Repeated cache lookups.
enum class Ask { hit, miss, store };

/// With rows as long as a network's policy and value for the game.
void cache(benchmark::State& state, const AnyGame& game, Ask ask) {
  const auto size = static_cast<std::size_t>(game.shape().num_actions) + 1;
  EvalCache cache(kEntries, std::uint64_t{1} << 30, size);
  const auto known = keys(1);
  const auto unknown = keys(2);
  std::vector<float> row(size);
  for (std::size_t i = 0; i < known.size(); ++i) {
    row[0] = static_cast<float>(i);
    cache.store(known[i], row.data());
  }
  require(cache.find(known[7], row.data()) && row[0] == 7.0F, "what was stored is found");
  require(!cache.find(unknown[7], row.data()), "what was not stored is not found");
  const auto others = keys(3, 4 * kEntries);  // each is evicted before it comes up again
  const auto& asked = ask == Ask::hit ? known : (ask == Ask::miss ? unknown : others);
  std::size_t i = 0;
  for (auto _ : state) {
    if (ask == Ask::store) {
      cache.store(asked[i], row.data());
    } else {
      benchmark::DoNotOptimize(cache.find(asked[i], row.data()));
    }
    i = (i + 1) % asked.size();
  }
  set_rate(state);
}

const bool registered = [] {
  for (const Subject& subject : kGames) {
    const std::string game = subject.game;
    add(std::string("eval/") + subject.name + "/alphago_zero/encode",
        [=](auto& state) { encode(state, *game_of(game)); });
    const std::string start = std::string("eval/") + subject.name + "/cache/";
    add(start + "hit", [=](auto& state) { cache(state, *game_of(game), Ask::hit); });
    add(start + "miss", [=](auto& state) { cache(state, *game_of(game), Ask::miss); });
    add(start + "store", [=](auto& state) { cache(state, *game_of(game), Ask::store); });
  }
  return true;
}();

}  // namespace
}  // namespace pyengine::bench
