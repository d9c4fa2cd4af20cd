/// Runs the C++ tests. Test suites decide where a case runs:
///   (none)                     always, and under AddressSanitizer
///   TEST_SUITE("concurrent")   always, and under both sanitizers
///   TEST_SUITE("slow")         only in `make slow`
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
