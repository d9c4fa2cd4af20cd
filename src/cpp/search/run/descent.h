/// Computes the position of a walk's leaf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "games/any/any_game.h"
#include "search/tree/node.h"

namespace pyengine {

/// Plays the moves of a walk on the way down.
template <Game G>
class Descent {
 public:
  explicit Descent(const G& root) : position_(root) {}

  /// Called at the start of a walk.
  void begin(const G& root) { position_.value = root; }
  /// Called for each node that the walk enters.
  void pass(const Node& node) {
    position_.value.play(node.action);
    if constexpr (CanFail<G>) position_.value.rethrow_if_failed();
  }
  /// Makes position() the position of the last node passed.
  void reach() noexcept {}
  void forget() noexcept {}
  [[nodiscard]] const PositionOf<G>& position() const noexcept { return position_; }

 private:
  PositionOf<G> position_;
};

/// A cache of positions, keyed by the address of their node. A slot may hold a position of another
/// tree or of a deleted node, so a lookup compares the position's moves.
template <CanReplay G>
class KeptPositions {
 public:
  /// The position after `moves` from `root`; nullptr if it is not cached.
  [[nodiscard]] const G* find(const Node& node, const G& root, std::span<const ActionId> moves) {
    if (slots_.empty()) return nullptr;
    Slot& slot = slots_[index(node)];
    if (slot.node != &node || !slot.position.is_reached(root, moves)) return nullptr;
    slot.used = true;
    return &slot.position;
  }
  /// Stores a position unless its slot holds one that was used since the last attempt to replace
  /// it.
  void keep(const Node& node, G&& position) {
    if (slots_.empty()) slots_.resize(kSlots);
    Slot& slot = slots_[index(node)];
    if (slot.node != &node && std::exchange(slot.used, false)) return;
    slot = {&node, false, std::move(position)};
  }
  void forget() noexcept { slots_.clear(); }

 private:
  static constexpr int kSlotBits = 11;  ///< 2 MB per worker for states of 1 KB
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;

  struct Slot {
    const Node* node = nullptr;  ///< only compared, never dereferenced
    bool used = false;           ///< since the last attempt to replace it
    G position;
  };

  [[nodiscard]] static std::size_t index(const Node& node) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(&node);
    return (address * 0x9E3779B97F4A7C15U) >> (64 - kSlotBits);  // 2^64 / golden ratio
  }

  std::vector<Slot> slots_;
};

/// For user-defined games, in which each move calls user code. Moves along the tree are not played
/// on the way down: the leaf's position is derived from the nearest cached ancestor.
template <CanReplay G>
class Descent<G> {
 public:
  /// Does not copy the root: nobody would see an exception thrown by the copy.
  explicit Descent(const G& /*root*/) : position_(G()) {}

  void begin(const G& root) {
    if (leaf_ != nullptr && root.has_slow_moves() && !position_.value.outcome()) {
      kept_.keep(*leaf_, std::move(position_.value));
    }
    leaf_ = nullptr;
    root_ = &root;
    nodes_.clear();
    moves_.clear();
  }
  void pass(const Node& node) {
    nodes_.push_back(&node);
    moves_.push_back(node.action);
  }
  void reach() {
    const G* nearest = root_;
    std::size_t known = nodes_.size() - 1;  // the nearest node with a known position
    for (; known > 0; --known) {
      const G* cached = kept_.find(*nodes_[known - 1], *root_, std::span(moves_).first(known));
      if (cached == nullptr) continue;
      nearest = cached;
      break;
    }
    G& position = position_.value;
    position = *nearest;
    for (; known + 1 < moves_.size(); ++known) position.play_through(moves_[known]);
    position.play(moves_.back());
    position.rethrow_if_failed();
    leaf_ = nodes_.back();
  }
  /// Drops all cached positions.
  void forget() noexcept {
    leaf_ = nullptr;
    position_.value = G();
    kept_.forget();
  }
  [[nodiscard]] const PositionOf<G>& position() const noexcept { return position_; }

 private:
  PositionOf<G> position_;
  const Node* leaf_ = nullptr;  ///< the node of the current position; nullptr if there is none
  const G* root_ = nullptr;
  std::vector<const Node*> nodes_;  ///< passed by this walk
  std::vector<ActionId> moves_;     ///< the moves to `nodes_`
  KeptPositions<G> kept_;
};

}  // namespace pyengine
