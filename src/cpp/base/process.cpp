#include "base/process.h"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace pyengine {
namespace {

std::atomic<long> g_forks{0};

#if defined(__unix__) || defined(__APPLE__)
/// Initialised before any of our threads can fork.
[[maybe_unused]] const int kCountsForks =
    pthread_atfork(nullptr, nullptr, [] { g_forks.fetch_add(1, std::memory_order_relaxed); });
#endif

}  // namespace

long process_id() noexcept { return g_forks.load(std::memory_order_relaxed); }

}  // namespace pyengine
