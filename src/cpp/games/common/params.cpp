#include "games/common/params.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <locale>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/text.h"

namespace pyengine {
namespace {

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_char(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }

bool is_name(std::string_view text) {
  return !text.empty() && is_name_start(text.front()) &&
      std::all_of(text.begin(), text.end(), is_name_char);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<long long> read_integer(std::string_view text) {
  long long value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

/// Uses a stream in the classic locale, because some libraries lack std::from_chars for double.
std::optional<double> read_number(std::string_view text) {
  if (text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return std::nullopt;
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  double value = 0.0;
  if (!(stream >> value) || stream.peek() != std::istringstream::traits_type::eof()) {
    return std::nullopt;
  }
  return value;
}

/// The fewest digits that read back as the same number, with a point or an exponent so that it does
/// not read back as an integer.
std::string write_number(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : (value > 0 ? "inf" : "-inf");
  std::string text;
  for (int digits = 1; digits <= std::numeric_limits<double>::max_digits10; ++digits) {
    std::ostringstream stream;
    stream.imbue(std::locale::classic());
    stream.precision(digits);
    stream << value;
    text = stream.str();
    if (read_number(text) == value) break;
  }
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

/// Position of the first comma outside quotes, or npos.
std::size_t find_comma(std::string_view text) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == ',') {
      return i;
    }
  }
  return std::string_view::npos;
}

ParamValue read_value(std::string_view text, std::string_view whole) {
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  if (const auto integer = read_integer(text)) return *integer;
  if (const auto number = read_number(text)) return *number;
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front()) {
    return std::string(text.substr(1, text.size() - 2));
  }
  if (is_name(text)) return std::string(text);
  throw ConfigError("expected a number, true, false or a word as a parameter's value, got " +
                    in_quotes(text) + " in " + in_quotes(whole));
}

std::string kind_of(const ParamValue& value) {
  static constexpr const char* kKinds[] = {"the boolean ", "the integer ", "the number ",
                                           "the text "};
  return kKinds[value.index()];
}

[[noreturn]] void refuse(std::string_view game, std::string_view name, const std::string& expected,
                         const ParamValue& found) {
  throw ConfigError("game " + in_quotes(game) + ": parameter " + in_quotes(name) + ": expected " +
                    expected + ", got " + kind_of(found) +
                    both_ends(to_string(found), kMostQuoted));
}

}  // namespace

ParamReader::ParamReader(std::string_view game, ParamMap params)
    : game_(game), params_(std::move(params)), taken_(params_.size(), false) {
  for (std::size_t i = 0; i < params_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (params_[i].first == params_[j].first) {
        throw ConfigError("game " + in_quotes(game_) + ": parameter " +
                          in_quotes(params_[i].first) +
                          ": given twice: " + both_ends(to_string(params_[j].second), kMostQuoted) +
                          " and " + both_ends(to_string(params_[i].second), kMostQuoted));
      }
    }
  }
}

const ParamValue* ParamReader::take(std::string_view name) {
  if (std::find(known_.begin(), known_.end(), name) == known_.end()) known_.emplace_back(name);
  for (std::size_t i = 0; i < params_.size(); ++i) {
    if (params_[i].first == name) {
      taken_[i] = true;
      return &params_[i].second;
    }
  }
  return nullptr;
}

bool ParamReader::has(std::string_view name) const {
  return std::any_of(params_.begin(), params_.end(),
                     [name](const auto& param) { return param.first == name; });
}

long long ParamReader::integer(std::string_view name, long long fallback, long long low,
                               long long high) {
  const ParamValue* value = take(name);
  if (value == nullptr) return fallback;
  const auto* integer = std::get_if<long long>(value);
  if (integer == nullptr || *integer < low || *integer > high) {
    refuse(game_, name, "an integer in " + std::to_string(low) + ".." + std::to_string(high),
           *value);
  }
  return *integer;
}

double ParamReader::number(std::string_view name, double fallback, double low, double high) {
  const ParamValue* value = take(name);
  if (value == nullptr) return fallback;
  double number = std::numeric_limits<double>::quiet_NaN();
  if (const auto* real = std::get_if<double>(value)) number = *real;
  if (const auto* integer = std::get_if<long long>(value)) number = static_cast<double>(*integer);
  if (!(number >= low && number <= high)) {
    refuse(game_, name, "a number in " + write_number(low) + ".." + write_number(high), *value);
  }
  return number;
}

bool ParamReader::boolean(std::string_view name, bool fallback) {
  const ParamValue* value = take(name);
  if (value == nullptr) return fallback;
  const auto* flag = std::get_if<bool>(value);
  if (flag == nullptr) refuse(game_, name, "true or false", *value);
  return *flag;
}

std::string ParamReader::choice(std::string_view name, std::string_view fallback,
                                const std::vector<std::string_view>& allowed) {
  const ParamValue* value = take(name);
  if (value == nullptr) return std::string(fallback);
  const auto* text = std::get_if<std::string>(value);
  if (text == nullptr || std::find(allowed.begin(), allowed.end(), *text) == allowed.end()) {
    std::string expected = "one of";
    for (const std::string_view word : allowed) expected += ' ' + in_quotes(word);
    refuse(game_, name, expected, *value);
  }
  return *text;
}

void ParamReader::finish() const {
  for (std::size_t i = 0; i < params_.size(); ++i) {
    if (taken_[i]) continue;
    std::string expected = known_.empty() ? "no parameters" : "only";
    for (const std::string& name : known_) expected += ' ' + in_quotes(name);
    throw ConfigError("game " + in_quotes(game_) + ": expected " + expected +
                      ", got the unknown parameter " + in_quotes(params_[i].first));
  }
}

NamedParams parse_named_params(std::string_view text) {
  const std::string_view whole = text;
  const auto fail = [whole](const std::string& expected) -> ConfigError {
    return ConfigError("expected " + expected + ", got " + in_quotes(whole));
  };
  NamedParams named;
  text = trimmed(text);
  const std::size_t open = text.find('(');
  named.name = trimmed(text.substr(0, open));
  if (!is_name(named.name)) throw fail("a game such as \"go\" or \"go(board_size=9)\"");
  if (open == std::string_view::npos) return named;
  if (text.back() != ')') throw fail("a closing parenthesis at the end");
  text = trimmed(text.substr(open + 1, text.size() - open - 2));
  while (!text.empty()) {
    const std::size_t comma = find_comma(text);
    const std::string_view item = text.substr(0, comma);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) throw fail("name=value between commas");
    const std::string_view name = trimmed(item.substr(0, equals));
    if (!is_name(name)) throw fail("a parameter's name before each \"=\"");
    named.params.emplace_back(name, read_value(trimmed(item.substr(equals + 1)), whole));
    if (comma == std::string_view::npos) break;
    text = trimmed(text.substr(comma + 1));
    if (text.empty()) throw fail("name=value after each comma");
  }
  return named;
}

std::string to_string(const ParamValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<long long>(&value)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value)) return write_number(*number);
  const std::string& text = std::get<std::string>(value);
  const bool plain =
      is_name(text) && text != "true" && text != "True" && text != "false" && text != "False";
  return plain ? text : '"' + text + '"';
}

std::string to_string(const NamedParams& named) {
  std::string text = named.name;
  if (named.params.empty()) return text;
  char separator = '(';
  for (const auto& [name, value] : named.params) {
    text += separator + name + '=' + to_string(value);
    separator = ',';
  }
  return text + ')';
}

}  // namespace pyengine
