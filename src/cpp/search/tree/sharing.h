/// Atomic or plain counting, depending on whether threads share a tree.
#pragma once

#include <atomic>

namespace pyengine {

/// Whether several threads use a tree concurrently. A single thread needs no lock prefix, which
/// makes a simulation with the uniform evaluator about a quarter faster.
enum class Sharing : bool { exclusive, shared };

/// Adds to a counter and returns its previous value.
template <Sharing S, class T>
T add(std::atomic<T>& counter, T amount) noexcept {
  if constexpr (S == Sharing::shared) return counter.fetch_add(amount, std::memory_order_relaxed);
  const T before = counter.load(std::memory_order_relaxed);
  counter.store(before + amount, std::memory_order_relaxed);
  return before;
}

/// Replaces a counter and returns its previous value.
template <Sharing S, class T>
T exchange(std::atomic<T>& counter, T value) noexcept {
  if constexpr (S == Sharing::shared) return counter.exchange(value, std::memory_order_relaxed);
  const T before = counter.load(std::memory_order_relaxed);
  counter.store(value, std::memory_order_relaxed);
  return before;
}

}  // namespace pyengine
