/// Functions by the type that they are for. Other code may add types while threads look them up.
#pragma once

#include <initializer_list>
#include <mutex>
#include <shared_mutex>
#include <typeindex>
#include <unordered_map>
#include <utility>

namespace pyengine {

/// Thread-safe. `F` is a pointer.
template <class F>
class TypeTable {
 public:
  TypeTable(std::initializer_list<std::pair<const std::type_index, F>> entries)
      : functions_(entries) {}

  /// Leaves an existing entry unchanged and returns false.
  bool add(std::type_index type, F function) {
    const std::unique_lock lock(mutex_);
    return functions_.emplace(type, function).second;
  }
  /// nullptr for an unknown type.
  [[nodiscard]] F find(std::type_index type) const {
    const std::shared_lock lock(mutex_);
    const auto entry = functions_.find(type);
    return entry != functions_.end() ? entry->second : nullptr;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::type_index, F> functions_;
};

}  // namespace pyengine
