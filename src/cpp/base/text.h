/// Strings in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pyengine {

/// Maximum length of a quoted string in bytes; src/pyengine/base/checks.py has the same limit.
inline constexpr std::size_t kMostQuoted = 100;

/// Shortens a UTF-8 string to about `most` bytes: both ends with "..." between them.
[[nodiscard]] inline std::string both_ends(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto start_of_character = [&](std::size_t place) {
    for (int step = 0; step < 3 && place > 0; ++step, --place) {
      if ((static_cast<unsigned char>(text[place]) & 0xC0U) != 0x80U)
        break;  // 10xxxxxx continues a character
    }
    return place;
  };
  const std::size_t head = start_of_character(most / 2);
  const std::size_t tail = start_of_character(text.size() - most / 2);
  return std::string(text.substr(0, head)) + "..." + std::string(text.substr(tail));
}

/// A quoted string, shortened.
[[nodiscard]] inline std::string in_quotes(std::string_view text, char mark = '"') {
  return mark + both_ends(text, kMostQuoted) + mark;
}

}  // namespace pyengine
