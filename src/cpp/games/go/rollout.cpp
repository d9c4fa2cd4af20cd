#include "games/go/rollout.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "games/go/go.h"

namespace pyengine {
namespace {

GoParams params_of(const AnyGame& game) {
  // A user's game may have any name, and its stones are unknown.
  if (game.name() == Go9::kName && game.traits().has_stones) return parse_go_params(game.params());
  throw ModelError("expected a game of Go for the rollout policy, got " + game.to_string());
}

/// Calls visit(std::integral_constant<int, MaxSide>{}) for the type that supports the board size.
template <class Visit>
auto with_board(const GoParams& params, Visit&& visit) {
  if (Go9::accepts(params)) return visit(std::integral_constant<int, 9>{});
  if (Go13::accepts(params)) return visit(std::integral_constant<int, 13>{});
  return visit(std::integral_constant<int, 19>{});
}

template <int MaxSide>
GoRolloutStart start_of(const BasicGo<MaxSide>& go) {
  GoRolloutStart start;
  go.stones(0, start.first, start.second);
  start.to_move = go.to_move();
  start.ko = go.ko_point();
  const Action last = go.last_move(0);
  start.passed = last == go.params().rows * go.params().columns;
  if (!start.passed) start.last = last;
  start.plies_left = go.params().max_game_length - go.ply();
  return start;
}

template <int MaxSide>
class GoPlayouts final : public GoRolloutPlayouts {
 public:
  GoPlayouts(const GoParams& params, const GoRolloutStrengths& strengths)
      : komi_(params.komi),
        grid_(params.rows, params.columns),
        empty_(grid_, strengths),
        start_(empty_),
        board_(empty_) {}

  void begin(const AnyPosition& position) override {
    const auto& go = static_cast<const PositionOf<BasicGo<MaxSide>>&>(position).value;
    outcome_ = go.outcome();
    start_ = empty_;
    start_.set_up(start_of(go));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return sizeof(*this); }

  Outcome play_out(Rng& rng) override {
    if (outcome_) return *outcome_;
    board_ = start_;
    while (!board_.over()) board_.play(board_.draw(rng));
    const double margin = board_.margin() - komi_;
    return {margin > 0 ? 1.0F : margin < 0 ? -1.0F : 0.0F};
  }

  void moves(GoRolloutMoves& found) override {
    const auto points = outcome_ ? 0 : static_cast<std::size_t>(grid_.rows * grid_.columns);
    found.moves.resize(points);
    found.strengths.resize(points);
    if (points == 0) return;
    const auto count = static_cast<std::size_t>(start_.moves(found.moves, found.strengths));
    found.moves.resize(count);
    found.strengths.resize(count);
  }

  void probabilities(std::span<const ActionId> legal, std::span<float> probabilities) override {
    moves(found_);
    std::ranges::fill(probabilities, 0.0F);
    double sum = 0.0;
    std::size_t i = 0;
    for (std::size_t k = 0; k < found_.moves.size();
         ++k) {  // both ascend, and legal ends with a pass
      while (static_cast<Action>(legal[i]) < found_.moves[k].point) ++i;
      if (static_cast<Action>(legal[i]) != found_.moves[k].point) continue;  // forbidden by superko
      probabilities[i] = static_cast<float>(found_.strengths[k]);
      sum += static_cast<double>(found_.strengths[k]);
    }
    if (sum == 0.0 && !probabilities.empty()) probabilities.back() = 1.0F;
    if (sum == 0.0) return;
    for (float& p : probabilities) p = static_cast<float>(p / sum);
  }

 private:
  double komi_;
  GoRolloutGrid<MaxSide> grid_;
  GoRolloutBoard<MaxSide> empty_;
  GoRolloutBoard<MaxSide> start_;
  GoRolloutBoard<MaxSide> board_;
  GoRolloutMoves found_;
  std::optional<Outcome> outcome_;  ///< set if the game is over before the playouts begin
};

}  // namespace

std::unique_ptr<GoRolloutPlayouts> GoRolloutPolicy::open(const AnyGame& game) const {
  const GoParams params = params_of(game);
  return with_board(params, [&]<int side>(std::integral_constant<int, side>) {
    return std::unique_ptr<GoRolloutPlayouts>(
        std::make_unique<GoPlayouts<side>>(params, strengths_));
  });
}

}  // namespace pyengine
