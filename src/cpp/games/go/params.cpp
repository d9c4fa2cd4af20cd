#include "games/go/params.h"

#include <cmath>

#include "base/error.h"

namespace pyengine {
namespace {

constexpr std::string_view kColumnLetters = "ABCDEFGHJKLMNOPQRST";  // without I
constexpr std::string_view kSuperkoNames[] = {"positional", "situational", "simple"};
constexpr double kMaxKomi = 1000.0;
constexpr long long kMaxLength = 1'000'000;

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool is_pass(std::string_view text) {
  constexpr std::string_view kPass = "PASS";
  if (text.size() != kPass.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (upper(text[i]) != kPass[i]) return false;
  }
  return true;
}

void read_board(ParamReader& reader, GoParams& params) {
  const bool rows = reader.has("rows");
  const bool columns = reader.has("columns");
  if (reader.has("board_size") && (rows || columns)) {
    throw ConfigError("go: give either board_size or rows and columns, got both");
  }
  if (rows != columns) {
    throw ConfigError(std::string("go: rows and columns go together, got only ") +
                      (rows ? "rows" : "columns"));
  }
  const int size = static_cast<int>(reader.integer("board_size", params.rows, 2, 19));
  params.rows = static_cast<int>(reader.integer("rows", size, 1, 19));
  params.columns = static_cast<int>(reader.integer("columns", size, 1, 19));
}

Superko read_superko(ParamReader& reader) {
  const std::string name = reader.choice("superko", kSuperkoNames[0],
                                         {kSuperkoNames[0], kSuperkoNames[1], kSuperkoNames[2]});
  if (name == kSuperkoNames[1]) return Superko::situational;
  return name == kSuperkoNames[2] ? Superko::simple : Superko::positional;
}

}  // namespace

GoParams parse_go_params(ParamMap map) {
  ParamReader reader("go", std::move(map));
  GoParams params;
  read_board(reader, params);
  params.komi = reader.number("komi", params.komi, -kMaxKomi, kMaxKomi);
  if (2.0 * params.komi != std::floor(2.0 * params.komi)) {
    throw ConfigError("go: komi must be a multiple of 0.5, got " +
                      to_string(ParamValue{params.komi}));
  }
  params.komi += 0.0;  // -0.0 is the same komi as 0.0 and must have the same text
  params.superko = read_superko(reader);
  params.suicide = reader.boolean("suicide", params.suicide);
  params.max_game_length = static_cast<int>(
      reader.integer("max_game_length", 2LL * params.rows * params.columns, 1, kMaxLength));
  reader.finish();
  return params;
}

ParamMap describe_go_params(const GoParams& params) {
  ParamMap map;
  if (params.rows == params.columns && params.rows >= 2) {
    map.emplace_back("board_size", static_cast<long long>(params.rows));
  } else {
    map.emplace_back("rows", static_cast<long long>(params.rows));
    map.emplace_back("columns", static_cast<long long>(params.columns));
  }
  map.emplace_back("komi", params.komi);
  map.emplace_back("superko", std::string(kSuperkoNames[static_cast<std::size_t>(params.superko)]));
  map.emplace_back("suicide", params.suicide);
  map.emplace_back("max_game_length", static_cast<long long>(params.max_game_length));
  return map;
}

GameShape go_shape(const GoParams& params) {
  const int points = params.rows * params.columns;
  return {
      .rows = params.rows,
      .columns = params.columns,
      .num_actions = points + 1,
      .max_game_length = params.max_game_length,
      .pass = points,
      .symmetry = params.rows == params.columns ? SymmetryGroup::square : SymmetryGroup::rectangle};
}

std::string go_action_to_string(const GoParams& params, Action action) {
  if (action == params.rows * params.columns) return "pass";
  const int column = action % params.columns;
  const int row = action / params.columns;
  return kColumnLetters[static_cast<std::size_t>(column)] + std::to_string(params.rows - row);
}

Action go_string_to_action(const GoParams& params, std::string_view text) {
  if (is_pass(text)) return params.rows * params.columns;
  if (text.size() < 2 || text.size() > 3) return kNoAction;
  const std::size_t column = kColumnLetters.find(upper(text[0]));
  if (column >= static_cast<std::size_t>(params.columns)) return kNoAction;  // includes npos
  int number = 0;
  for (const char c : text.substr(1)) {
    if (c < '0' || c > '9' || (number == 0 && c == '0')) return kNoAction;
    number = 10 * number + (c - '0');
  }
  if (number > params.rows) return kNoAction;
  return (params.rows - number) * params.columns + static_cast<int>(column);
}

std::string go_board_text(const GoParams& params, const BoardBits& first, const BoardBits& second) {
  std::string letters = "  ";
  for (int column = 0; column < params.columns; ++column) {
    letters += ' ';
    letters += kColumnLetters[static_cast<std::size_t>(column)];
  }
  std::string text = letters + '\n';
  for (int row = 0; row < params.rows; ++row) {
    const std::string number = std::to_string(params.rows - row);
    text += (number.size() < 2 ? " " : "") + number;
    for (int column = 0; column < params.columns; ++column) {
      const int point = row * params.columns + column;
      text += ' ';
      text += first.test(point) ? 'X' : second.test(point) ? 'O' : '.';
    }
    text += ' ' + number + '\n';
  }
  return text + letters + '\n';
}

}  // namespace pyengine
