#include "text.h"

#include "base/text.h"

namespace pyengine::bindings {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Replaces surrogates encoded as UTF-8 (ED A0..BF xx), the only possible defect.
std::string without_surrogates(std::string_view bytes) {
  std::string valid;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\xED' && static_cast<unsigned char>(bytes[i + 1]) >= 0xA0) {
      valid += kReplacement;
      i += 2;
    } else {
      valid += bytes[i];
    }
  }
  return valid;
}

bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == '\x7F'; }

/// The text of an object; its type if the object's code raises.
std::string text_or_type(const py::handle& object, PyObject* (*say)(PyObject*)) noexcept {
  const auto text = py::reinterpret_steal<py::object>(say(object.ptr()));
  if (text) return utf8_of(text);
  PyErr_Clear();
  return "<" + type_name(object) + " that has no text>";
}

}  // namespace

py::str text_of(std::string_view bytes) {
  PyObject* text =
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<py::ssize_t>(bytes.size()), "replace");
  if (text == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(text);
}

std::string utf8_of(const py::handle& text) {
  py::ssize_t size = 0;
  if (const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) {
    return {bytes, static_cast<std::size_t>(size)};
  }
  PyErr_Clear();
  const auto bytes = py::reinterpret_steal<py::bytes>(
      PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
  if (!bytes) throw py::error_already_set();
  return without_surrogates(std::string_view(bytes));
}

std::string in_one_line(std::string_view text, std::size_t most) {
  std::string line;
  for (const char byte : text) {
    if (byte == ' ' || (byte >= '\t' && byte <= '\r')) {
      if (!line.empty() && line.back() != ' ') line += ' ';
    } else if (is_control(byte)) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      const auto code = static_cast<unsigned char>(byte);
      line += {'\\', 'x', kDigits[code / 16], kDigits[code % 16]};
    } else {
      line += byte;
    }
  }
  return both_ends(line, most);
}

std::string repr_of(const py::handle& object) noexcept {
  return in_one_line(text_or_type(object, &PyObject_Repr), kMostQuoted);
}
std::string str_of(const py::handle& object) noexcept {
  return text_or_type(object, &PyObject_Str);
}

}  // namespace pyengine::bindings
