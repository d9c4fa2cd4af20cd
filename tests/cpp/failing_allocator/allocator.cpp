#include "failing_allocator/allocator.h"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace pyengine::failing_allocator {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

std::atomic<std::int64_t> left{kNever};  ///< allocations before the one that fails
std::atomic<bool> all{false};
std::atomic<bool> failed{false};

bool fails() noexcept {
  if (left.load(std::memory_order_relaxed) == kNever) return false;
  const std::int64_t before = left.fetch_sub(1, std::memory_order_relaxed);
  const bool now = before == 0 || (before < 0 && all.load(std::memory_order_relaxed));
  if (now) failed.store(true, std::memory_order_relaxed);
  return now;
}

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (fails()) return nullptr;
  if (alignment == 0) return std::malloc(size == 0 ? 1 : size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* memory = allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

Failing::Failing(std::int64_t number, Failures failures) noexcept {
  failed = false;
  all = failures == Failures::all;
  left = number;
}
Failing::~Failing() { left = kNever; }
bool Failing::has_failed() noexcept { return failed; }

}  // namespace pyengine::failing_allocator

namespace failing = pyengine::failing_allocator;

void* operator new(std::size_t size) { return failing::allocate_or_throw(size, 0); }
void* operator new[](std::size_t size) { return failing::allocate_or_throw(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return failing::allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return failing::allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return failing::allocate(size, 0);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return failing::allocate(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return failing::allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
