/// Parameters of games by name, and their text form "go(board_size=9,komi=7.0)".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pyengine {

using ParamValue = std::variant<bool, long long, double, std::string>;
/// Names and values, in the given order.
using ParamMap = std::vector<std::pair<std::string, ParamValue>>;

/// Reads parameters from a map with checks; finish() rejects the rest. Every error is a ConfigError
/// that names the game and the parameter.
class ParamReader {
 public:
  ParamReader(std::string_view game, ParamMap params);
  long long integer(std::string_view name, long long fallback, long long low, long long high);
  double number(std::string_view name, double fallback, double low, double high);
  bool boolean(std::string_view name, bool fallback);
  std::string choice(std::string_view name, std::string_view fallback,
                     const std::vector<std::string_view>& allowed);
  [[nodiscard]] bool has(std::string_view name) const;
  /// Throws ConfigError for an unknown parameter.
  void finish() const;

 private:
  const ParamValue* take(std::string_view name);
  std::string game_;
  ParamMap params_;
  std::vector<std::string> known_;  ///< names read so far, for the message
  std::vector<bool> taken_;
};

/// A name with its parameters: "go", {board_size: 9}.
struct NamedParams {
  std::string name;
  ParamMap params;
};

/// Reads "name" or "name(key=value,...)"; throws ConfigError on anything else.
NamedParams parse_named_params(std::string_view text);
/// The text form that parse_named_params() reads.
std::string to_string(const NamedParams& named);
std::string to_string(const ParamValue& value);

}  // namespace pyengine
