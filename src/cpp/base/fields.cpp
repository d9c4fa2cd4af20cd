#include "base/fields.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <string>

namespace pyengine {
namespace {

constexpr double kLarge = 1e6;  // larger powers of two are written as 2**n

/// A bound as a Python expression.
std::string bound_text(double bound) {
  int exponent = 0;
  if (std::abs(bound) > kLarge) {
    const std::string sign = bound < 0 ? "-" : "";
    if (std::frexp(std::abs(bound), &exponent) == 0.5) {
      // 2^64 stands for the largest std::uint64_t, which is not a double.
      return sign + "2**" + std::to_string(exponent - 1) + (exponent == 65 ? " - 1" : "");
    }
    if (std::frexp(bound + 1, &exponent) == 0.5)
      return "2**" + std::to_string(exponent - 1) + " - 1";
  }
  return number_text(bound);
}

/// "> 0", "in [0, 1]", or "" if any number is accepted.
std::string range_text(const Range& range) {
  if (std::isinf(range.most)) {
    if (std::isinf(range.least)) return "";
    return (range.above ? "> " : ">= ") + bound_text(range.least);
  }
  return std::string("in ") + (range.above ? "(" : "[") + bound_text(range.least) + ", " +
      bound_text(range.most) + "]";
}

std::string list(std::span<const char* const> choices, const char* last) {
  std::string text;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i != 0) text += i + 1 == choices.size() ? last : ", ";
    text += '"' + std::string(choices[i]) + '"';
  }
  return text;
}

std::string with_range(const char* kind, const Range& range) {
  const std::string text = range_text(range);
  return text.empty() ? kind : kind + (' ' + text);
}

}  // namespace

std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.15g", value);
  return text.data();
}

std::string in_words(const Expected& expected) {
  const auto kind = [&]() -> std::string {
    switch (expected.kind) {
      case Expected::Kind::boolean:
        return "True or False";
      case Expected::Kind::integer:
        return with_range("an int", expected.range);
      case Expected::Kind::choice:
        return "one of " + list(expected.choices, ", ");
      case Expected::Kind::settings:
        return std::string("a ") + expected.choices[0];
      case Expected::Kind::text:
        return "a non-empty str";
      case Expected::Kind::texts:
        return "a str or a sequence of str";
      case Expected::Kind::number:
        break;
    }
    return with_range("a number", expected.range);
  };
  return kind() + (expected.optional ? ", or None" : "");
}

std::string in_short(const Expected& expected) {
  const auto kind = [&]() -> std::string {
    switch (expected.kind) {
      case Expected::Kind::boolean:
        return "bool";
      case Expected::Kind::integer:
        return with_range("int", expected.range);
      case Expected::Kind::choice:
        return list(expected.choices, " or ");
      case Expected::Kind::settings:
        return expected.choices[0];
      case Expected::Kind::text:
        return "str";
      case Expected::Kind::texts:
        return "tuple of str";
      case Expected::Kind::number:
        break;
    }
    return with_range("float", expected.range);
  };
  return kind() + (expected.optional ? " or None" : "");
}

std::string refusal(const char* name, const std::string& expected, const std::string& got) {
  return std::string(name) + ": expected " + expected + ", got " + got;
}

}  // namespace pyengine
