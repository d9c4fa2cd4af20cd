/// Which process this is: after fork() a child has our objects, but none of our threads.
#pragma once

#include <atomic>
#include <memory>

namespace pyengine {

/// Differs from that of every process that this one was forked from. Cheaper than the system's.
[[nodiscard]] long process_id() noexcept;

/// An object of which every process has its own. A forked child makes another one and leaves its
/// parent's as it is, with its locks: threads that the child does not have may hold them.
template <class T>
class OfProcess {
 public:
  OfProcess() = default;
  OfProcess(const OfProcess&) = delete;
  OfProcess& operator=(const OfProcess&) = delete;
  ~OfProcess() {
    Made* made = current_.load(std::memory_order_acquire);
    if (made != nullptr && made->process == process_id()) delete made;
  }

  /// Made at the first call.
  [[nodiscard]] T& get() {
    Made* known = current_.load(std::memory_order_acquire);
    if (known != nullptr && known->process == process_id()) return known->object;
    auto made = std::make_unique<Made>();
    if (current_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) {
      return made.release()->object;
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
