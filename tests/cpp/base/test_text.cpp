#include <doctest/doctest.h>

#include <string>

#include "base/text.h"

namespace pyengine {
namespace {

TEST_CASE("a text is shortened between two characters") {
  CHECK(shortened("abc", 3) == "abc");
  CHECK(shortened("abcd", 3) == "abc");
  CHECK(shortened("\xD0\xB6\xD0\xB6", 4) == "\xD0\xB6\xD0\xB6");
  CHECK(shortened("\xD0\xB6\xD0\xB6", 3) == "\xD0\xB6");
  CHECK(shortened("\xE2\x82\xAC\xE2\x82\xAC", 5) == "\xE2\x82\xAC");
  CHECK(shortened("a\xF0\x9F\x98\x80", 4) == "a");
  CHECK(shortened("a\xF0\x9F\x98\x80", 1) == "a");
  CHECK(shortened("\xD0\xB6", 1).empty());
}

TEST_CASE("bytes that are no text are shortened all the same") {
  CHECK(shortened(std::string(10, '\x80'), 7) == std::string(7, '\x80'));
}

}  // namespace
}  // namespace pyengine
