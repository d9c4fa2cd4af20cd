#include "games/common/grid_text.h"

#include <algorithm>

namespace pyengine {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

char column_letter(const GridNames& names, int column) {
  return static_cast<char>((names.upper_case ? 'A' : 'a') + column);
}

int row_number(const GridNames& names, int row) {
  return names.rows_from_bottom ? names.rows - row : row + 1;
}

std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

char stone_at(const BoardBits& first, const BoardBits& second, int point) {
  if (first.test(point)) return 'X';
  return second.test(point) ? 'O' : '.';
}

}  // namespace

std::string point_name(const GridNames& names, Action point) {
  return column_letter(names, point % names.columns) +
      std::to_string(row_number(names, point / names.columns));
}

int small_number(std::string_view text, int high) {
  if (text.empty() || text.size() > 5 || text.front() == '0') return 0;
  int number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return 0;
    number = 10 * number + (c - '0');
  }
  return number <= high ? number : 0;
}

Action point_named(const GridNames& names, std::string_view text) {
  if (text.size() < 2) return kNoAction;
  const int column = lower(text.front()) - 'a';
  const int number = small_number(text.substr(1), names.rows);
  if (column < 0 || column >= names.columns || number == 0) return kNoAction;
  const int row = names.rows_from_bottom ? names.rows - number : number - 1;
  return row * names.columns + column;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string board_text(const GridNames& names, const BoardBits& first, const BoardBits& second) {
  const std::size_t margin = std::to_string(names.rows).size();
  std::string text(margin, ' ');
  for (int column = 0; column < names.columns; ++column) {
    text += ' ';
    text += column_letter(names, column);
  }
  for (int row = 0; row < names.rows; ++row) {
    text += '\n' + right_aligned(std::to_string(row_number(names, row)), margin);
    for (int column = 0; column < names.columns; ++column) {
      text += ' ';
      text += stone_at(first, second, row * names.columns + column);
    }
  }
  return text + '\n';
}

std::string column_board_text(int rows, int columns, const BoardBits& first,
                              const BoardBits& second) {
  const std::size_t width = std::to_string(columns).size() + 1;
  std::string text;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      text += right_aligned({stone_at(first, second, row * columns + column)}, width);
    }
    text += '\n';
  }
  for (int column = 1; column <= columns; ++column) {
    text += right_aligned(std::to_string(column), width);
  }
  return text + '\n';
}

std::string turn_text(Status status, int to_move) {
  switch (status) {
    case Status::playing:
      break;
    case Status::first_won:
      return "X has won\n";
    case Status::second_won:
      return "O has won\n";
    case Status::draw:
      return "draw\n";
  }
  return to_move == 0 ? "X to move\n" : "O to move\n";
}

}  // namespace pyengine
