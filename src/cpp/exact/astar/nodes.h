/// The record of each node in a search: cost so far, parent, open or closed.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "base/prefetch.h"
#include "exact/astar/limits.h"

namespace pyengine::astar {

using NodeId = std::uint32_t;
/// Limited by the 30 bits of a record's parent.
inline constexpr std::uint64_t kMaxNodes = (std::uint64_t{1} << 30) - 1;
inline constexpr NodeId kNoNode = kMaxNodes;

enum class Status : std::uint8_t { unseen, open, closed };

/// All zero = unseen, so fresh memory needs no initialisation.
template <class Cost>
struct Record {
  Cost g{};                      ///< cost of the cheapest known path
  std::uint32_t parent : 30 {};  ///< on that path
  std::uint32_t status : 2 {};   ///< a Status

  [[nodiscard]] bool is(Status s) const noexcept { return status == static_cast<unsigned>(s); }
  void set(Cost cost, NodeId from, Status s) noexcept {
    g = cost;
    parent = from & kNoNode;
    status = static_cast<unsigned>(s) & 3U;
  }
};
static_assert(sizeof(Record<std::int32_t>) == 8);
static_assert(sizeof(Record<double>) == 16);

/// The records of nodes 0..n-1. Untouched pages cost neither memory nor time.
template <class Cost>
class DenseNodes {
 public:
  DenseNodes(std::uint64_t count, Limits& limits) : count_(count) {
    limits.charge(count * sizeof(Record<Cost>));
    records_.reset(static_cast<Record<Cost>*>(std::calloc(count, sizeof(Record<Cost>))));
    if (records_ == nullptr && count > 0) throw std::bad_alloc();
  }
  [[nodiscard]] Record<Cost>& operator[](NodeId node) noexcept { return records_[node]; }
  void prefetch(NodeId node) const noexcept { pyengine::prefetch(records_.get() + node); }
  [[nodiscard]] std::span<const Record<Cost>> all() const noexcept {
    return {records_.get(), count_};
  }

 private:
  struct Free {
    void operator()(Record<Cost>* records) const noexcept { std::free(records); }
  };
  std::uint64_t count_;
  std::unique_ptr<Record<Cost>[], Free> records_;
};

/// Appends to a vector whose memory counts against the limits, including both copies while it
/// grows. Throws Stopped at the limit and leaves the vector unchanged.
template <class T>
void push_charged(std::vector<T>& list, const T& value, Limits& limits) {
  if (list.size() == list.capacity()) [[unlikely]] {
    const std::size_t capacity = list.empty() ? 64 : 2 * list.capacity();
    const std::size_t old = list.capacity() * sizeof(T);
    limits.charge(capacity * sizeof(T));
    list.reserve(capacity);
    limits.release(old);
  }
  list.push_back(value);
}

/// The records of nodes that are numbered when first seen.
template <class Cost>
class GrowingNodes {
 public:
  explicit GrowingNodes(Limits& limits) : limits_(limits) {}
  /// A reference is valid until the next call with a new node.
  [[nodiscard]] Record<Cost>& operator[](NodeId node) {
    while (node >= records_.size()) push_charged(records_, {}, limits_);
    return records_[node];
  }
  [[nodiscard]] std::span<const Record<Cost>> all() const noexcept { return records_; }

 private:
  Limits& limits_;
  std::vector<Record<Cost>> records_;
};

}  // namespace pyengine::astar
