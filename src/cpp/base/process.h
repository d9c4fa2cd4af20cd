/// Which process this is: after fork() a child has our objects, but none of our threads.
#pragma once

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace pyengine {

[[nodiscard]] inline long process_id() noexcept {
#if defined(__unix__) || defined(__APPLE__)
  return static_cast<long>(getpid());
#else
  return 0;  // no fork there
#endif
}

}  // namespace pyengine
