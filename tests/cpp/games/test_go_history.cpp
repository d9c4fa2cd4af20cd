#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "games/go/history.h"

namespace {

using pyengine::GoHistory;
using pyengine::Rng;

constexpr int kMostStones = 9;

/// A history and its expected contents.
struct Checked {
  GoHistory history;
  std::vector<std::pair<std::uint64_t, int>> positions;  ///< key and stones

  void add(std::uint64_t key, int stones) {
    history.make_room(stones);
    history.add(key, stones);
    positions.emplace_back(key, stones);
  }
  /// Assigns as the search does: to a history with other contents.
  void become(const Checked& other) {
    history = other.history;
    positions = other.positions;
  }
  void check() const {
    std::set<std::pair<std::uint64_t, int>> known(positions.begin(), positions.end());
    for (const auto& [key, stones] : positions) {
      CHECK(history.contains(key, stones));
      CHECK_FALSE(history.contains(~key, stones));
    }
    for (int stones = 0; stones <= kMostStones + 2; ++stones) {
      bool any = false;
      for (const auto& [key, count] : known) any = any || count == stones;
      CHECK(history.any_with(stones) == any);
    }
    GoHistory fresh;
    for (const auto& [key, stones] : known) {  // in another order
      fresh.make_room(kMostStones);
      fresh.add(key, stones);
    }
    CHECK(fresh == history);
  }
};

void extend(Checked& history, Rng& rng, int plies) {
  for (int i = 0; i < plies; ++i) {
    const std::uint64_t key = rng.next();
    history.add(key, static_cast<int>(rng.below(kMostStones + 1)));
  }
}

}  // namespace

TEST_CASE("an assigned history contains exactly the other's positions") {
  for (const int plies : {0, 1, 5, 40, 400}) {
    CAPTURE(plies);
    Rng rng(3, static_cast<std::uint64_t>(plies));
    Checked root;
    extend(root, rng, plies);
    Checked walk;
    for (int i = 0; i < 60; ++i) {
      walk.become(root);
      walk.check();
      extend(walk, rng, static_cast<int>(rng.below(30)));
      Checked leaf;
      leaf.become(walk);
      leaf.check();
      extend(leaf, rng, 3);
      walk.become(leaf);
      walk.check();
      if (i % 10 == 0) extend(root, rng, 1);
    }
    Checked other;  // the history of another game
    extend(other, rng, plies);
    walk.become(other);
    walk.check();
    walk.become(Checked());
    walk.check();
  }
}
