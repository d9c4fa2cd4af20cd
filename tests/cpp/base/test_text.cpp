#include <doctest/doctest.h>

#include <string>

#include "base/text.h"

namespace pyengine {
namespace {

TEST_CASE("a long text is shortened to both ends without splitting a character") {
  CHECK(both_ends("abcd", 4) == "abcd");
  CHECK(both_ends("abcdefgh", 4) == "ab...gh");
  CHECK(both_ends("\xD0\xB6\xD0\xB6", 4) == "\xD0\xB6\xD0\xB6");
  CHECK(both_ends("\xD0\xB6zz\xD0\xB6", 2) == "...\xD0\xB6");
  CHECK(both_ends("\xE2\x82\xAC__\xE2\x82\xAC", 7) == "\xE2\x82\xAC...\xE2\x82\xAC");
  CHECK(both_ends("a\xF0\x9F\x98\x80", 4) == "a...\xF0\x9F\x98\x80");
}

TEST_CASE("invalid UTF-8 is shortened too") {
  CHECK(both_ends(std::string(1000, '\x80'), 100).size() < 110);
}

TEST_CASE("a message quotes at most about a hundred bytes of a text") {
  CHECK(in_quotes("word") == "\"word\"");
  CHECK(in_quotes("word", '\'') == "'word'");
  CHECK(in_quotes(std::string(1000, 'x')).size() == kMostQuoted + 5);
}

}  // namespace
}  // namespace pyengine
