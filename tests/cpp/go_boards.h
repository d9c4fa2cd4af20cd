/// Go positions as ASCII boards: X first player, O second, top row first.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "games/go/go.h"

namespace pyengine::go_test {

using Rows = std::vector<std::string>;

inline GoParams board(int rows, int columns, Superko superko = Superko::positional,
                      bool suicide = false) {
  GoParams params;
  params.rows = rows;
  params.columns = columns;
  params.superko = superko;
  params.suicide = suicide;
  params.max_game_length = 1000;
  return params;
}

inline BoardSetup setup_of(const Rows& rows, int to_move = 0) {
  BoardSetup setup;
  setup.to_move = to_move;
  int point = 0;
  for (const std::string& row : rows) {
    for (const char c : row) {
      if (c == 'X') setup.first.set(point);
      if (c == 'O') setup.second.set(point);
      ++point;
    }
  }
  return setup;
}

template <class G = Go9>
G start(const Rows& rows, int to_move = 0, Superko superko = Superko::positional,
        bool suicide = false) {
  const auto params =
      board(static_cast<int>(rows.size()), static_cast<int>(rows[0].size()), superko, suicide);
  return G::from_setup(params, setup_of(rows, to_move));
}

template <class G>
Action at(const G& go, const char* text) {
  const Action action = G::string_to_action(go.params(), text);
  REQUIRE(action != kNoAction);
  return action;
}

template <class G>
bool legal(const G& go, const char* text) {
  return go.is_legal(at(go, text));
}

template <class G>
void play(G& go, std::initializer_list<const char*> moves) {
  for (const char* text : moves) {
    INFO(text);
    REQUIRE(legal(go, text));
    go.play(at(go, text));
  }
}

inline Rows rows_of(const GoParams& params, const BoardBits& first, const BoardBits& second) {
  Rows rows(static_cast<std::size_t>(params.rows));
  for (int point = 0; point < params.rows * params.columns; ++point) {
    const char c = first.test(point) ? 'X' : second.test(point) ? 'O' : '.';
    rows[static_cast<std::size_t>(point / params.columns)] += c;
  }
  return rows;
}

template <class G>
Rows rows_of(const G& go, int t = 0) {
  BoardBits first;
  BoardBits second;
  go.stones(t, first, second);
  return rows_of(go.params(), first, second);
}

inline std::string joined(const Rows& rows) {
  std::string cells;
  for (const std::string& row : rows) cells += row;
  return cells;
}

}  // namespace pyengine::go_test
