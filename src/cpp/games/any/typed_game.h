/// A game in C++ behind AnyGame.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "games/any/any_game.h"
#include "games/common/default_text.h"

namespace pyengine {

template <Game G>
[[nodiscard]] GameTraits traits_of(const typename G::Params& params) {
  GameTraits traits;
  traits.shape = G::shape(params);
  if constexpr (HasSymmetries<G>) {
    traits.symmetries = G::symmetries(params);
  } else {
    traits.symmetries = make_symmetries(traits.shape);
  }
  if constexpr (HasObservation<G>) traits.observation_shape = G::observation_shape(params);
  traits.has_binary_observation = has_binary_observation<G>();
  traits.has_stones = true;
  traits.has_setup = HasSetup<G>;
  traits.has_liberties = HasLiberties<G>;
  traits.has_area = HasArea<G>;
  traits.has_ko = HasKo<G>;
  traits.fills_up = fills_up<G>();
  traits.has_transposition_key = HasTranspositionKey<G>;
  traits.key_forgets_history = key_forgets_history(G(params));
  traits.graph_by_default = graph_by_default<G>();
  return traits;
}

template <Game G>
class TypedGame final : public AnyGame {
 public:
  explicit TypedGame(typename G::Params params)
      : AnyGame(traits_of<G>(params)), params_(std::move(params)) {}

  [[nodiscard]] std::string name() const override { return std::string(G::kName); }
  [[nodiscard]] ParamMap params() const override { return G::describe(params_); }
  [[nodiscard]] std::string to_string() const override {
    return pyengine::to_string(NamedParams{name(), params()});
  }
  [[nodiscard]] bool same_as(const AnyGame& other) const override {
    const auto* same = dynamic_cast<const TypedGame*>(&other);
    return same != nullptr && same->params_ == params_;
  }

  [[nodiscard]] std::unique_ptr<AnyPosition> initial_position() const override {
    return std::make_unique<PositionOf<G>>(G(params_));
  }
  [[nodiscard]] std::unique_ptr<AnyPosition> from_setup(const BoardSetup& setup) const override {
    if constexpr (HasSetup<G>) {
      return std::make_unique<PositionOf<G>>(G::from_setup(params_, setup));
    } else {
      throw ConfigError(name() + ": positions of this game cannot be set up");
    }
  }
  [[nodiscard]] std::string action_to_string(Action action) const override {
    if constexpr (HasActionNames<G>) {
      return G::action_to_string(params_, action);
    } else {
      return default_action_name(shape(), action);
    }
  }
  [[nodiscard]] Action string_to_action(std::string_view text) const override {
    if constexpr (HasActionNames<G>) {
      return G::string_to_action(params_, text);
    } else {
      return default_action_named(shape(), text);
    }
  }

 private:
  typename G::Params params_;
};

}  // namespace pyengine
