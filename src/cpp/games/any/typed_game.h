/// A built-in game behind AnyGame.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "games/any/any_game.h"

namespace pyengine {

template <Game G>
class TypedGame final : public AnyGame {
 public:
  explicit TypedGame(typename G::Params params)
      : params_(std::move(params)),
        shape_(G::shape(params_)),
        symmetries_(make_symmetries(shape_)),
        forgets_history_(pyengine::key_forgets_history(G(params_))) {}

  [[nodiscard]] std::string name() const override { return std::string(G::kName); }
  [[nodiscard]] ParamMap params() const override { return G::describe(params_); }
  [[nodiscard]] std::string to_string() const override {
    return pyengine::to_string(NamedParams{name(), params()});
  }
  [[nodiscard]] bool same_as(const AnyGame& other) const override {
    const auto* same = dynamic_cast<const TypedGame*>(&other);
    return same != nullptr && same->params_ == params_;
  }
  [[nodiscard]] const GameShape& shape() const noexcept override { return shape_; }
  [[nodiscard]] const Symmetries& symmetries() const noexcept override { return symmetries_; }
  [[nodiscard]] std::array<int, 3> observation_shape() const noexcept override { return {}; }
  [[nodiscard]] bool has_liberties() const noexcept override { return HasLiberties<G>; }
  [[nodiscard]] bool has_area() const noexcept override { return HasArea<G>; }
  [[nodiscard]] bool has_ko() const noexcept override { return HasKo<G>; }
  [[nodiscard]] bool has_transposition_key() const noexcept override {
    return HasTranspositionKey<G>;
  }
  [[nodiscard]] bool key_forgets_history() const noexcept override { return forgets_history_; }
  [[nodiscard]] bool graph_by_default() const noexcept override {
    return pyengine::graph_by_default<G>();
  }
  [[nodiscard]] bool has_stones() const noexcept override { return true; }

  [[nodiscard]] std::unique_ptr<AnyPosition> initial_position() const override {
    return std::make_unique<PositionOf<G>>(G(params_));
  }
  [[nodiscard]] std::unique_ptr<AnyPosition> from_setup(const BoardSetup& setup) const override {
    return std::make_unique<PositionOf<G>>(G::from_setup(params_, setup));
  }
  [[nodiscard]] std::string action_to_string(Action action) const override {
    return G::action_to_string(params_, action);
  }
  [[nodiscard]] Action string_to_action(std::string_view text) const override {
    return G::string_to_action(params_, text);
  }

 private:
  typename G::Params params_;
  GameShape shape_;
  Symmetries symmetries_;
  bool forgets_history_;
};

}  // namespace pyengine
