/// State shared by the threads of one search, and its termination.
#pragma once

#include <atomic>
#include <exception>

#include "exact/alphabeta/busy.h"
#include "exact/alphabeta/table.h"

namespace pyengine::alphabeta {

/// Thrown to end a search with its current result.
class Stopped final : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "the search was stopped"; }
};

/// State shared by the threads of a search.
struct Shared {
  explicit Shared(Table& table_in) : table(table_in) {}
  Table& table;
  Busy busy;
  std::atomic<bool> stop{false};  ///< set to make every thread throw Stopped
  std::atomic<int> threads{1};
};

}  // namespace pyengine::alphabeta
