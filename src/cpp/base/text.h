/// Texts in messages.
#pragma once

#include <cstddef>
#include <string_view>

namespace pyengine {

/// The first bytes of a UTF-8 text, `most` or a few less: no character is cut in two.
[[nodiscard]] constexpr std::string_view shortened(std::string_view text,
                                                   std::size_t most) noexcept {
  if (text.size() <= most) return text;
  const auto continues = [&](std::size_t i) {  // 10xxxxxx: not the first byte of a character
    return (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
  };
  std::size_t end = most;
  while (end > 0 && most - end < 3 && continues(end)) --end;
  return text.substr(0, continues(end) ? most : end);  // what is no UTF-8 is cut anywhere
}

}  // namespace pyengine
