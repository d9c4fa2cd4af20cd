#include "processor.h"

#include <pybind11/pybind11.h>

#include <string>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

namespace pyengine::bindings {

void check_processor() {
#if defined(__x86_64__) && defined(__GNUC__)
  // x86-64 psABI, section 3.1.1: x86-64-v2. Bits of CPUID, leaf 1, ECX.
  struct Feature {
    const char* name;
    unsigned bit;
  };
  constexpr Feature kNeeded[] = {{"SSE3", 0},    {"SSSE3", 9},   {"CMPXCHG16B", 13},
                                 {"SSE4.1", 19}, {"SSE4.2", 20}, {"POPCNT", 23}};
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return;
  std::string missing;
  for (const auto& [name, bit] : kNeeded) {
    if ((c >> bit & 1U) == 0) missing += (missing.empty() ? "" : ", ") + std::string(name);
  }
  if (missing.empty()) return;
  throw pybind11::import_error(
      "pyengine needs a processor of x86-64-v2 (Intel since 2009, AMD since 2011), as NumPy does; "
      "this one is without " +
      missing);
#endif
}

}  // namespace pyengine::bindings
