/// Runs the C++ tests. Test suites decide where a case runs:
///   (none)                     always, and under AddressSanitizer
///   TEST_SUITE("concurrent")   always, and under both sanitizers
///   TEST_SUITE("slow")         only in `make slow`
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#if defined(__SANITIZE_THREAD__)
/// ThreadSanitizer does not see how the C++ library, which is built without it, counts the owners
/// of an exception that has gone from one thread to another.
extern "C" __attribute__((visibility("default"))) const char*
__tsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "race:std::__exception_ptr::exception_ptr::_M_release\n";
}
#endif
