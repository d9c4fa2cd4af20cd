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

/// Reads and describes the parameters of a game whose class declares each of them once:
///
///   template <class Field>
///   static void fields(Params& params, Field&& field) {
///     field("board_size", params.board_size, 2, 19);  // int: with its range
///     field("swap", params.swap);                     // bool
///   }
template <class G>
typename G::Params parse_fields(const ParamMap& given) {
  struct Reader {
    ParamReader reader;
    void operator()(std::string_view name, int& value, int low, int high) {
      value = static_cast<int>(reader.integer(name, value, low, high));
    }
    void operator()(std::string_view name, bool& value) { value = reader.boolean(name, value); }
  } field{ParamReader(G::kName, given)};
  typename G::Params params;
  G::fields(params, field);
  field.reader.finish();
  return params;
}
template <class G>
ParamMap describe_fields(typename G::Params params) {
  struct Writer {
    ParamMap map;
    void operator()(std::string_view name, int value, int /*low*/, int /*high*/) {
      map.emplace_back(name, static_cast<long long>(value));
    }
    void operator()(std::string_view name, bool value) { map.emplace_back(name, value); }
  } field;
  G::fields(params, field);
  return field.map;
}

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
