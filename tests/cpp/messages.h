/// Helpers to test error messages.
#pragma once

#include <string>

namespace pyengine {

/// The message of the Error that `act` throws, or "" if it throws none.
template <class Error, class Act>
std::string message_of(Act&& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline bool mentions(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

}  // namespace pyengine
