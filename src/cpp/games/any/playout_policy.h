/// The interface between a game's playout policy and the evaluators that use it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/rng.h"
#include "games/any/any_game.h"

namespace pyengine {

/// Playouts of one thread. Reused, so a playout allocates nothing.
class PolicyPlayouts {
 public:
  PolicyPlayouts() = default;
  PolicyPlayouts(const PolicyPlayouts&) = delete;
  PolicyPlayouts& operator=(const PolicyPlayouts&) = delete;
  virtual ~PolicyPlayouts() = default;

  /// The starting position of later playouts; it is read only in this call.
  virtual void begin(const AnyPosition& position) = 0;
  /// Total memory in bytes.
  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
  /// Plays from there to the end.
  virtual Outcome play_out(Rng& rng) = 0;
  /// The policy's distribution there: probabilities[i] is that of legal[i].
  virtual void probabilities(std::span<const ActionId> legal, std::span<float> probabilities) = 0;
};

/// A policy with its weights. Immutable, shared between threads.
class PlayoutPolicy {
 public:
  PlayoutPolicy() = default;
  PlayoutPolicy(const PlayoutPolicy&) = delete;
  PlayoutPolicy& operator=(const PlayoutPolicy&) = delete;
  virtual ~PlayoutPolicy() = default;
  /// Throws ModelError for another game. The policy must outlive the result.
  [[nodiscard]] virtual std::unique_ptr<PolicyPlayouts> bind(const AnyGame& game) const = 0;
};

}  // namespace pyengine
