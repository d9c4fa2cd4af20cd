#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "base/cpu.h"

using namespace pyengine;

namespace {

/// The CPU flags reported by the system; empty if unavailable.
std::string flags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("flags", 0) == 0) return line.substr(line.find(':') + 1) + " ";
  }
  return {};
}

}  // namespace

TEST_CASE("CPU features match those reported by the system") {
  const std::string known = flags();
  if (known.empty()) {
    MESSAGE("SKIPPED: this system does not tell the flags of its processor");
    return;
  }
  const auto has = [&](const std::string& flag) {
    return known.find(" " + flag + " ") != std::string::npos;
  };
  CHECK(cpu_vectors().avx2 == has("avx2"));
  CHECK(cpu_vectors().avx512 == (has("avx512f") && has("avx512dq")));
  CHECK(cpu_vectors().bit_counts == (has("popcnt") && has("abm") && has("bmi1") && has("bmi2")));
  std::string missing;
  for (const char* flag : {"pni", "ssse3", "cx16", "sse4_1", "sse4_2", "popcnt"}) {
    if (!has(flag)) missing += flag;
  }
  CHECK(missing_of_x86_64_v2().empty() == missing.empty());
}
