/// How a walk comes to the position of its leaf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "games/any/any_game.h"
#include "search/tree/node.h"

namespace pyengine {

/// Plays the moves of a walk as it passes the nodes.
template <Game G>
class Descent {
 public:
  explicit Descent(const G& root) : position_(root) {}

  /// At the start of a walk.
  void begin(const G& root) { position_.value = root; }
  /// The walk goes on to `node`.
  void pass(const Node& node) {
    position_.value.play(node.action);
    if constexpr (CanFail<G>) position_.value.rethrow_if_failed();
  }
  /// Makes position() that of the last node passed.
  void reach() noexcept {}
  void forget() noexcept {}
  [[nodiscard]] const PositionOf<G>& position() const noexcept { return position_; }

 private:
  PositionOf<G> position_;
};

/// Positions of nodes, found again by the node's address. What a slot holds may be of another tree
/// or of a node that is gone: whether it fits, the position itself says.
template <CanReplay G>
class KeptPositions {
 public:
  /// The position that `moves` lead to from `root`; null where it is not kept.
  [[nodiscard]] const G* find(const Node& node, const G& root, std::span<const ActionId> moves) {
    if (slots_.empty()) return nullptr;
    Slot& slot = slots_[index(node)];
    if (slot.node != &node || !slot.position.is_reached(root, moves)) return nullptr;
    slot.used = true;
    return &slot.position;
  }
  /// A position that was used since another one asked for its slot stays.
  void keep(const Node& node, G&& position) {
    if (slots_.empty()) slots_.resize(kSlots);
    Slot& slot = slots_[index(node)];
    if (slot.node != &node && std::exchange(slot.used, false)) return;
    slot = {&node, false, std::move(position)};
  }
  void forget() noexcept { slots_.clear(); }

 private:
  static constexpr int kSlotBits = 11;  ///< 2 MB of states of 1 KB a worker
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;

  struct Slot {
    const Node* node = nullptr;  ///< compared, never followed
    bool used = false;           ///< since another position asked for the slot
    G position;
  };

  [[nodiscard]] static std::size_t index(const Node& node) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(&node);
    return (address * 0x9E3779B97F4A7C15U) >> (64 - kSlotBits);  // 2^64 / golden ratio
  }

  std::vector<Slot> slots_;
};

/// Where a move is a call of a user's code, nothing is played on the way down, which the tree
/// knows. The leaf's position is made from the nearest one above it that an earlier walk made.
template <CanReplay G>
class Descent<G> {
 public:
  /// Without a copy of the root: nobody would learn what the game's code threw.
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
    std::size_t known = nodes_.size() - 1;  // moves to the nearest position
    for (; known > 0; --known) {
      const G* kept = kept_.find(*nodes_[known - 1], *root_, std::span(moves_).first(known));
      if (kept == nullptr) continue;
      nearest = kept;
      break;
    }
    G& position = position_.value;
    position = *nearest;
    for (; known + 1 < moves_.size(); ++known) position.play_through(moves_[known]);
    position.play(moves_.back());
    position.rethrow_if_failed();
    leaf_ = nodes_.back();
  }
  /// Drops the positions of all walks.
  void forget() noexcept {
    leaf_ = nullptr;
    position_.value = G();
    kept_.forget();
  }
  [[nodiscard]] const PositionOf<G>& position() const noexcept { return position_; }

 private:
  PositionOf<G> position_;
  const Node* leaf_ = nullptr;  ///< whose position it is; null where none was made
  const G* root_ = nullptr;
  std::vector<const Node*> nodes_;  ///< passed by this walk
  std::vector<ActionId> moves_;     ///< to them
  KeptPositions<G> kept_;
};

}  // namespace pyengine
