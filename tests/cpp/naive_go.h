/// A simple implementation of Go, as a reference for the real one.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "games/go/go.h"

namespace pyengine::go_test {

/// Go written for clarity: a board of characters, flood fills, a list of all earlier boards.
class NaiveGo {
 public:
  NaiveGo(const GoParams& params, std::string cells, int to_move)
      : params_(params), cells_(std::move(cells)), to_move_(to_move) {
    past_.push_back({cells_, to_move_});
  }

  [[nodiscard]] const std::string& cells() const { return cells_; }
  [[nodiscard]] bool over() const { return passes_ == 2 || ply_ == params_.max_game_length; }

  [[nodiscard]] std::vector<int> legal_actions() const {
    std::vector<int> actions;
    if (over()) return actions;
    for (int point = 0; point < points(); ++point) {
      if (is_legal(point)) actions.push_back(point);
    }
    actions.push_back(points());
    return actions;
  }

  void play(int action) {
    std::string after = action == points() ? cells_ : board_after(action);
    ko_ = action == points() ? -1 : ko_after(action, after);
    passes_ = action == points() ? passes_ + 1 : 0;
    cells_ = std::move(after);
    to_move_ = 1 - to_move_;
    ++ply_;
    past_.push_back({cells_, to_move_});
  }

  /// 'X' or 'O' by Tromp-Taylor if only that player reaches the point; else '.'.
  [[nodiscard]] char owner(int point) const {
    if (cells_[index(point)] != '.') return cells_[index(point)];
    bool first = false;
    bool second = false;
    for (const int p : border(cells_, group(cells_, point))) {
      first = first || cells_[index(p)] == 'X';
      second = second || cells_[index(p)] == 'O';
    }
    return first == second ? '.' : first ? 'X' : 'O';
  }

  /// Liberties of the chain at a point.
  [[nodiscard]] int liberties(int point) const { return liberties(cells_, point); }

 private:
  static std::size_t index(int point) { return static_cast<std::size_t>(point); }
  [[nodiscard]] int points() const { return params_.rows * params_.columns; }

  [[nodiscard]] std::vector<int> beside(int point) const {
    std::vector<int> found;
    const int row = point / params_.columns;
    const int column = point % params_.columns;
    if (row > 0) found.push_back(point - params_.columns);
    if (row + 1 < params_.rows) found.push_back(point + params_.columns);
    if (column > 0) found.push_back(point - 1);
    if (column + 1 < params_.columns) found.push_back(point + 1);
    return found;
  }

  static void add(std::vector<int>& points, int point) {
    if (std::find(points.begin(), points.end(), point) == points.end()) points.push_back(point);
  }

  /// Points connected to `point` by points of the same kind.
  [[nodiscard]] std::vector<int> group(const std::string& cells, int point) const {
    std::vector<int> found{point};
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (const int q : beside(found[i])) {
        if (cells[index(q)] == cells[index(point)]) add(found, q);
      }
    }
    return found;
  }

  [[nodiscard]] std::vector<int> border(const std::string& cells,
                                        const std::vector<int>& region) const {
    std::vector<int> found;
    for (const int p : region) {
      for (const int q : beside(p)) {
        if (cells[index(q)] != cells[index(p)]) add(found, q);
      }
    }
    return found;
  }

  [[nodiscard]] int liberties(const std::string& cells, int point) const {
    int count = 0;
    for (const int p : border(cells, group(cells, point))) count += cells[index(p)] == '.' ? 1 : 0;
    return count;
  }

  [[nodiscard]] std::string board_after(int point) const {
    std::string cells = cells_;
    const char own = to_move_ == 0 ? 'X' : 'O';
    const char other = to_move_ == 0 ? 'O' : 'X';
    const auto take = [&](int p) {
      for (const int q : group(cells, p)) cells[index(q)] = '.';
    };
    cells[index(point)] = own;
    for (const int p : beside(point)) {
      if (cells[index(p)] == other && liberties(cells, p) == 0) take(p);
    }
    if (liberties(cells, point) == 0) take(point);
    return cells;
  }

  /// The only point captured by a single stone that has it as its only liberty.
  [[nodiscard]] int ko_after(int point, const std::string& after) const {
    if (after[index(point)] == '.' || group(after, point).size() != 1) return -1;
    if (liberties(after, point) != 1) return -1;
    int ko = -1;
    int taken = 0;
    for (int p = 0; p < points(); ++p) {
      if (cells_[index(p)] == '.' || after[index(p)] != '.') continue;
      ko = p;
      ++taken;
    }
    return taken == 1 ? ko : -1;
  }

  [[nodiscard]] bool is_legal(int point) const {
    if (cells_[index(point)] != '.') return false;
    const std::string after = board_after(point);
    if (after == cells_) return false;  // single-stone suicide
    if (!params_.suicide && after[index(point)] == '.') return false;
    if (params_.superko == Superko::simple) return point != ko_;
    return std::none_of(past_.begin(), past_.end(), [&](const auto& earlier) {
      return earlier.first == after &&
          (params_.superko == Superko::positional || earlier.second == 1 - to_move_);
    });
  }

  GoParams params_;
  std::string cells_;
  int to_move_;
  int ko_ = -1;
  int passes_ = 0;
  int ply_ = 0;
  std::vector<std::pair<std::string, int>> past_;
};

}  // namespace pyengine::go_test
