/// The marks of walks that collided in a graph. Several paths may lead to a leaf in flight, so its
/// own path does not tell where walks have turned up.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "search/tree/backup.h"

namespace pyengine {

/// Thread-safe.
class Detours {
 public:
  /// Marks the path of a walk that collided, so that later walks turn away earlier, until clear().
  template <Sharing S>
  void mark(const Path& path, std::uint32_t times) {
    const std::lock_guard lock(mutex_);
    marks_.push_back({path, times});
    pyengine::mark<S>(path, times);
  }
  /// Removes all marks: a leaf has landed, and walks may choose again.
  template <Sharing S>
  void clear() noexcept {
    const std::lock_guard lock(mutex_);
    for (const Marks& marks : marks_) unmark_once<S>(marks.path, marks.times);
    marks_.clear();
  }

 private:
  struct Marks {
    Path path;
    std::uint32_t times;
  };
  std::mutex mutex_;
  std::vector<Marks> marks_;
};

}  // namespace pyengine
