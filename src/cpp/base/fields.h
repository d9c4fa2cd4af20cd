/// Settings: each is declared once, in the table of its struct. From the declaration follow its
/// validation, the text of its error, its name and type in Python and its documentation.
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

#include "base/error.h"

namespace pyengine {

/// The numbers that a setting may have. Only finite ones are in a range.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above = false;  ///< `least` itself is excluded

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

/// The words for an enum's values, in their order: `static constexpr std::array values`.
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

/// What fits a setting.
struct Expected {
  enum class Kind : std::uint8_t { boolean, integer, number, choice, settings };
  Kind kind = Kind::number;
  Range range;
  std::span<const char* const> choices;  ///< of Kind::choice; the class's name of Kind::settings
  bool optional = false;
};
/// For a message: "a number > 0, or None".
[[nodiscard]] std::string in_words(const Expected& expected);
/// For a page: "float > 0 or None".
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
  bool later = false;   ///< in a fingerprint only if it differs from its default

  /// The same, for a setting that is younger than records named by fingerprints.
  [[nodiscard]] constexpr Field added_later() const {
    Field field = *this;
    field.later = true;
    return field;
  }
  [[nodiscard]] static bool is_optional() noexcept { return !std::is_same_v<T, Value>; }

  [[nodiscard]] bool fits(const Value& value) const noexcept {
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
      return range.contains(static_cast<double>(value));
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
      // As a double the largest std::uint64_t is 2^64, which in_words() knows.
      const Range all = between(static_cast<double>(std::numeric_limits<Value>::min()),
                                static_cast<double>(std::numeric_limits<Value>::max()));
      const Range held{std::max(range.least, all.least), std::min(range.most, all.most)};
      return {Expected::Kind::integer, held, {}, is_optional()};
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
/// A flag, or a choice among the names of an enum.
template <class Settings, class T>
constexpr Field<Settings, T> field(const char* name, T Settings::* member, const char* meaning) {
  return {name, member, kAnyNumber, meaning};
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

/// Throws ConfigError naming the first field that is out of its range.
template <class Settings>
void check_fields(const Settings& settings) {
  for_each_field<Settings>([&](const auto& field) {
    using Value = typename std::remove_cvref_t<decltype(field)>::Value;
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
      const std::optional<Value> value = settings.*field.member;
      if (field.fits(value)) return;
      throw ConfigError(
          refusal(field.name, in_words(field.expected()), number_text(value.value_or(Value{}))));
    }
  });
}

}  // namespace pyengine
