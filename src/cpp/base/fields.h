/// Settings, each declared once in the table of its struct. Validation, error messages, the Python
/// class and the documentation are derived from the declaration.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace pyengine {

/// The range of a number. Infinities and NaN are outside every range.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above = false;  ///< excludes `least`

  [[nodiscard]] bool contains(double x) const noexcept {
    return std::isfinite(x) && (above ? x > least : x >= least) && x <= most;
  }
};

inline constexpr Range kAnyNumber{};
inline constexpr Range kPositive{.least = 0, .above = true};
inline constexpr Range kNotNegative{.least = 0};
inline constexpr Range kShare{.least = 0, .most = 1};
[[nodiscard]] constexpr Range at_least(double least) { return {.least = least}; }
[[nodiscard]] constexpr Range between(double least, double most) {
  return {.least = least, .most = most};
}

/// The names of an enum's values, in order: `static constexpr std::array values`.
template <class E>
struct Names;

template <class T>
struct WithoutOptional {
  using Type = T;
};
template <class T>
struct WithoutOptional<std::optional<T>> {
  using Type = T;
};

/// The values that a setting accepts.
struct Expected {
  enum class Kind : std::uint8_t { boolean, integer, number, text, texts, choice, settings };
  Kind kind = Kind::number;
  Range range;
  std::span<const char* const> choices;  ///< Kind::choice: the names; Kind::settings: the class
  bool optional = false;
};
/// For an error message: "a number > 0, or None".
[[nodiscard]] std::string in_words(const Expected& expected);
/// For the documentation: "float > 0 or None".
[[nodiscard]] std::string in_short(const Expected& expected);
/// "c_puct: expected a number > 0, got 0"
[[nodiscard]] std::string refusal(const char* name, const std::string& expected,
                                  const std::string& got);

/// The table of a struct of settings:
/// `static constexpr const char* name`, `static constexpr std::tuple fields{field(...), ...}`.
template <class Settings>
struct Table;

template <class Settings>
concept HasFields = requires { Table<Settings>::fields; };

template <class Settings, class T>
struct Field {
  using Value = typename WithoutOptional<T>::Type;

  const char* name;
  T Settings::* member;
  Range range;
  const char* meaning;  ///< a clause, with its source in brackets
  /// Accepted strings; empty = any. GCC warns about aggregates without this initializer.
  std::span<const char* const> choices{};  // NOLINT(readability-redundant-member-init)
  bool later = false;                      ///< in a fingerprint only if it is not the default

  /// Keeps fingerprints from before this setting existed.
  [[nodiscard]] constexpr Field added_later() const {
    Field field = *this;
    field.later = true;
    return field;
  }
  [[nodiscard]] static constexpr bool is_optional() noexcept { return !std::is_same_v<T, Value>; }

  [[nodiscard]] bool fits(const Value& value) const noexcept {
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
      return range.contains(static_cast<double>(value));
    } else if constexpr (std::is_same_v<Value, std::string>) {
      return choices.empty() ? !value.empty() : std::ranges::find(choices, value) != choices.end();
    } else {
      return true;
    }
  }
  [[nodiscard]] bool fits(const std::optional<Value>& value) const noexcept {
    return !value || fits(*value);
  }

  [[nodiscard]] Expected expected() const {
    if constexpr (HasFields<Value>) {
      return {Expected::Kind::settings, range, {&Table<Value>::name, 1}, is_optional()};
    } else if constexpr (std::is_enum_v<Value>) {
      return {Expected::Kind::choice, range, Names<Value>::values, is_optional()};
    } else if constexpr (std::is_same_v<Value, bool>) {
      return {Expected::Kind::boolean, range, {}, is_optional()};
    } else if constexpr (std::is_integral_v<Value>) {
      // As a double the largest std::uint64_t is 2^64; in_words() writes 2**64 - 1.
      constexpr auto kLeast = static_cast<double>(std::numeric_limits<Value>::min());
      constexpr auto kMost = static_cast<double>(std::numeric_limits<Value>::max());
      const Range whole{std::max(range.least, kLeast), std::min(range.most, kMost),
                        range.above && range.least >= kLeast};
      return {Expected::Kind::integer, whole, {}, is_optional()};
    } else if constexpr (std::is_same_v<Value, std::string>) {
      const auto kind = choices.empty() ? Expected::Kind::text : Expected::Kind::choice;
      return {kind, range, choices, is_optional()};
    } else if constexpr (!std::is_arithmetic_v<Value>) {
      return {Expected::Kind::texts, range, choices, is_optional()};
    } else {
      return {Expected::Kind::number, range, {}, is_optional()};
    }
  }
};

template <class Settings, class T>
constexpr Field<Settings, T> field(const char* name, T Settings::* member, Range range,
                                   const char* meaning) {
  return {name, member, range, meaning};
}
/// A bool, an enum, a string or a list of strings.
template <class Settings, class T>
constexpr Field<Settings, T> field(const char* name, T Settings::* member, const char* meaning) {
  return {name, member, kAnyNumber, meaning};
}
/// One of several strings.
template <class Settings, class T>
constexpr Field<Settings, T> field(const char* name, T Settings::* member,
                                   std::span<const char* const> choices, const char* meaning) {
  return {name, member, kAnyNumber, meaning, choices};
}

template <class Settings, class Visit>
void for_each_field(Visit&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, Table<Settings>::fields);
}

[[nodiscard]] std::string number_text(double value);
template <std::integral T>
[[nodiscard]] std::string number_text(T value) {
  return std::to_string(value);
}

/// Throws ConfigError naming the first field that is out of range.
template <class Settings>
void check_fields(const Settings& settings) {
  for_each_field<Settings>([&](const auto& field) {
    using Value = typename std::remove_cvref_t<decltype(field)>::Value;
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
      const std::optional<Value> value = settings.*field.member;
      if (field.fits(value)) return;
      throw ConfigError(
          refusal(field.name, in_words(field.expected()), number_text(value.value_or(Value{}))));
    } else if constexpr (std::is_same_v<Value, std::string>) {
      const std::optional<Value> value = settings.*field.member;
      if (field.fits(value)) return;
      throw ConfigError(
          refusal(field.name, in_words(field.expected()), in_quotes(value.value_or(""))));
    }
  });
}

}  // namespace pyengine
