/// Playouts by a policy that knows a game: the seam between such a policy and its evaluators.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/rng.h"
#include "games/any/any_game.h"

namespace pyengine {

/// Playouts of one thread. Reused: nothing is allocated for a playout.
class PolicyPlayouts {
 public:
  PolicyPlayouts() = default;
  PolicyPlayouts(const PolicyPlayouts&) = delete;
  PolicyPlayouts& operator=(const PolicyPlayouts&) = delete;
  virtual ~PolicyPlayouts() = default;

  /// The position where the playouts begin from now on; it is read here alone.
  virtual void begin(const AnyPosition& position) = 0;
  /// Of memory, all of it.
  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
  /// Plays from there to the end.
  virtual Outcome play_out(Rng& rng) = 0;
  /// What the policy would play there: probabilities[i] is that of legal[i].
  virtual void probabilities(std::span<const ActionId> legal, std::span<float> probabilities) = 0;
};

/// A policy with its weights. Immutable, shared between threads.
class PlayoutPolicy {
 public:
  PlayoutPolicy() = default;
  PlayoutPolicy(const PlayoutPolicy&) = delete;
  PlayoutPolicy& operator=(const PlayoutPolicy&) = delete;
  virtual ~PlayoutPolicy() = default;
  /// Throws ModelError when it is for another game. The policy must outlive what is returned.
  [[nodiscard]] virtual std::unique_ptr<PolicyPlayouts> bind(const AnyGame& game) const = 0;
};

}  // namespace pyengine
