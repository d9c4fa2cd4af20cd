/// Marks moves that some thread is searching, so that the others defer them: a simplified ABDADA
/// [Weill, "The ABDADA distributed minimax search algorithm", 1996; Kerrigan, "Simplified ABDADA"].
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace pyengine::alphabeta {

/// A lossy set: a mark may be overwritten by another, which only causes a duplicate search.
class Busy {
 public:
  /// Call before use; a search with one thread needs no marks.
  void open() { marks_ = std::make_unique<Marks>(); }
  [[nodiscard]] bool has(std::uint64_t key) const noexcept {
    return (*marks_)[place(key)].load(std::memory_order_relaxed) == key;
  }
  void add(std::uint64_t key) noexcept {
    (*marks_)[place(key)].store(key, std::memory_order_relaxed);
  }
  void remove(std::uint64_t key) noexcept {
    std::atomic<std::uint64_t>& mark = (*marks_)[place(key)];
    if (mark.load(std::memory_order_relaxed) == key) mark.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kPlaces = 4096;
  using Marks = std::array<std::atomic<std::uint64_t>, kPlaces>;
  [[nodiscard]] static std::size_t place(std::uint64_t key) noexcept {
    return static_cast<std::size_t>(key * 0x9E3779B97F4A7C15U >> 52) % kPlaces;
  }

  std::unique_ptr<Marks> marks_;
};

}  // namespace pyengine::alphabeta
