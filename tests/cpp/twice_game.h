/// A user's game, written in C++, in which players move twice in a row.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "games/any/foreign.h"
#include "search_fixtures.h"

namespace pyengine::search_test {

/// Three in a row on 4x3 points; every player moves twice in a row after the first single move.
class TwiceState final : public ForeignState {
 public:
  explicit TwiceState(int fail_at) : fail_at_(fail_at) {}
  [[nodiscard]] std::unique_ptr<ForeignState> clone() const override {
    auto copy = std::make_unique<TwiceState>(fail_at_);
    copy->board_ = board_;
    copy->plies_ = plies_;
    return copy;
  }
  [[nodiscard]] bool is_terminal() const override { return plies_ == 12 || winner() >= 0; }
  [[nodiscard]] long long current_player() const override { return ((plies_ + 1) / 2) % 2; }
  [[nodiscard]] std::array<double, 2> returns() const override {
    if (winner() < 0) return {0.0, 0.0};
    return winner() == 0 ? std::array{1.0, -1.0} : std::array{-1.0, 1.0};
  }
  void legal_actions(std::vector<long long>& actions) const override {
    for (std::size_t p = 0; p < board_.size(); ++p) {
      if (board_[p] < 0) actions.push_back(static_cast<long long>(p));
    }
  }
  void apply_action(Action action) override {
    if (plies_ + 1 == fail_at_) throw std::runtime_error("the user's game fails");
    board_[static_cast<std::size_t>(action)] = static_cast<int>(current_player());
    ++plies_;
  }
  [[nodiscard]] bool has_text() const noexcept override { return false; }
  [[nodiscard]] std::string to_string() const override { return "twice"; }
  void observation(std::span<float>) const override {}
  [[nodiscard]] std::optional<bool> equals(const ForeignState& other) const override {
    return board_ == dynamic_cast<const TwiceState&>(other).board_;
  }
  [[nodiscard]] std::optional<std::uint64_t> hash() const override {
    std::uint64_t hash = 0;
    for (const int stone : board_) hash = mixed(hash + static_cast<std::uint64_t>(stone + 2));
    return hash;
  }

 private:
  [[nodiscard]] int winner() const {
    static constexpr int kSteps[][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 4; ++column) {
        for (const auto& step : kSteps) {
          const int last_row = row + 2 * step[0];
          const int last_column = column + 2 * step[1];
          if (last_row > 2 || last_column > 3 || last_column < 0) continue;
          const auto at = [&](int i) {
            return board_[static_cast<std::size_t>((row + i * step[0]) * 4 + column + i * step[1])];
          };
          if (at(0) >= 0 && at(0) == at(1) && at(1) == at(2)) return at(0);
        }
      }
    }
    return -1;
  }
  std::array<int, 12> board_{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  int plies_ = 0;
  int fail_at_;
};

class TwiceRules final : public ForeignRules {
 public:
  explicit TwiceRules(int fail_at) : ForeignRules(info()), fail_at_(fail_at) {}
  [[nodiscard]] std::unique_ptr<ForeignState> initial_state() const override {
    return std::make_unique<TwiceState>(fail_at_);
  }
  [[nodiscard]] bool has_transposition_key() const noexcept override { return true; }

 private:
  static ForeignInfo info() {
    ForeignInfo info;
    info.name = "twice";
    info.text = "twice";
    info.shape.num_actions = 12;
    info.shape.max_game_length = 12;
    info.observation_shape = {1, 3, 4};
    return info;
  }
  int fail_at_;
};

/// `fail_at`: the game's code throws when this ply (from 1) is played; 0 = never.
inline std::shared_ptr<const AnyGame> twice_game(int fail_at = 0) {
  return std::make_shared<ForeignGame>(std::make_shared<TwiceRules>(fail_at));
}

}  // namespace pyengine::search_test
