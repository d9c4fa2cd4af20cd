/// Unordered piles of items, for open lists.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "exact/astar/limits.h"

namespace pyengine::astar {

/// Unordered items in memory blocks that move from pile to pile.
template <class Item>
class Piles {
 public:
  explicit Piles(Limits& limits) : limits_(limits) {}

  [[nodiscard]] bool empty() const noexcept { return filled_ == 0; }
  /// The smallest index of a non-empty pile.
  [[nodiscard]] int least() const noexcept { return std::countr_zero(filled_); }
  [[nodiscard]] std::size_t size(int index) const noexcept { return pile(index).size; }

  void push(int index, const Item& item) {
    Pile& to = piles_[static_cast<std::size_t>(index)];
    if (to.size % kBlock == 0) to.blocks.push_back(block());
    (*to.blocks.back())[to.size++ % kBlock] = item;
    filled_ |= std::uint64_t{1} << index;
  }

  template <class Visit>
  void for_each(int index, Visit&& visit) const {
    std::size_t left = pile(index).size;
    for (const auto& block : pile(index).blocks) {
      const std::size_t count = std::min(left, kBlock);
      for (std::size_t i = 0; i < count; ++i) visit((*block)[i]);
      left -= count;
    }
  }

  /// Removes all items from a pile; `visit` may push to other piles.
  template <class Visit>
  void drain(int index, Visit&& visit) {
    Pile from = std::exchange(piles_[static_cast<std::size_t>(index)], Pile{});
    filled_ &= ~(std::uint64_t{1} << index);
    while (!from.blocks.empty()) {
      const std::size_t count = (from.size - 1) % kBlock + 1;
      for (std::size_t i = 0; i < count; ++i) visit((*from.blocks.back())[i]);
      from.size -= count;
      spare_.push_back(std::move(from.blocks.back()));
      from.blocks.pop_back();
    }
  }

 private:
  static constexpr std::size_t kBlock = 64;
  static constexpr std::size_t kPiles = 64;
  using Block = std::array<Item, kBlock>;
  struct Pile {
    std::vector<std::unique_ptr<Block>> blocks;
    std::size_t size = 0;
  };

  [[nodiscard]] const Pile& pile(int index) const noexcept {
    return piles_[static_cast<std::size_t>(index)];
  }
  std::unique_ptr<Block> block() {
    if (spare_.empty()) {
      limits_.charge(sizeof(Block));
      return std::make_unique_for_overwrite<Block>();
    }
    std::unique_ptr<Block> block = std::move(spare_.back());
    spare_.pop_back();
    return block;
  }

  Limits& limits_;
  std::array<Pile, kPiles> piles_;
  std::vector<std::unique_ptr<Block>> spare_;
  std::uint64_t filled_ = 0;  ///< one bit per pile
};

}  // namespace pyengine::astar
