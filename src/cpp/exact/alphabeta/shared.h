/// What the threads of one search share, and what ends it.
#pragma once

#include <atomic>
#include <exception>

#include "exact/alphabeta/busy.h"
#include "exact/alphabeta/table.h"

namespace pyengine::alphabeta {

/// Thrown through a search that is to end with what it has.
class Stopped final : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "the search was stopped"; }
};

/// What the threads of a search share.
struct Shared {
  explicit Shared(Table& table_in) : table(table_in) {}
  Table& table;
  Busy busy;
  std::atomic<bool> stop{false};  ///< every thread throws Stopped
  std::atomic<int> threads{1};
};

}  // namespace pyengine::alphabeta
