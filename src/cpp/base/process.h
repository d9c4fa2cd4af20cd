/// Detection of fork(): a child inherits the objects of its parent, but not its threads.
#pragma once

#include <atomic>
#include <memory>

namespace pyengine {

/// Differs from the id of every ancestor process. Cheaper than getpid().
[[nodiscard]] long process_id() noexcept;

/// A singleton per process. A forked child creates a new one and leaves its parent's untouched,
/// because threads that do not exist in the child may hold its locks.
template <class T>
class OfProcess {
 public:
  OfProcess() = default;
  OfProcess(const OfProcess&) = delete;
  OfProcess& operator=(const OfProcess&) = delete;
  ~OfProcess() {
    Made* instance = current_.load(std::memory_order_acquire);
    if (instance != nullptr && instance->process == process_id()) delete instance;
  }

  /// Created at the first call.
  [[nodiscard]] T& get() {
    Made* known = current_.load(std::memory_order_acquire);
    if (known != nullptr && known->process == process_id()) return known->object;
    auto instance = std::make_unique<Made>();
    if (current_.compare_exchange_strong(known, instance.get(), std::memory_order_acq_rel)) {
      return instance.release()->object;
    }
    return known->object;
  }

 private:
  struct Made {
    const long process = process_id();
    T object;
  };

  std::atomic<Made*> current_{nullptr};
};

}  // namespace pyengine
