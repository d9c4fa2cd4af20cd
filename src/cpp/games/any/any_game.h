/// Type-erased games and positions, for evaluators and the API. The search itself is a template
/// over the game (search/run/walker.h) and pays no virtual call per ply.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/rng.h"
#include "base/types.h"
#include "games/common/default_text.h"
#include "games/game_options.h"

namespace pyengine {

/// Scratch memory for the playouts of one thread, so that a playout allocates nothing.
struct PlayoutSpace {
  std::unique_ptr<class AnyPosition> position;
  ActionList legal;
};

/// A position of some game. All functions have the meaning given in the Game concept.
class AnyPosition {
 public:
  AnyPosition() = default;
  AnyPosition(const AnyPosition&) = default;
  AnyPosition& operator=(const AnyPosition&) = delete;
  virtual ~AnyPosition() = default;

  [[nodiscard]] virtual std::unique_ptr<AnyPosition> clone() const = 0;
  /// Becomes a copy of `other`, a position of the same game, reusing memory.
  virtual void assign(const AnyPosition& other) = 0;

  [[nodiscard]] virtual int to_move() const noexcept = 0;
  [[nodiscard]] virtual std::optional<Outcome> outcome() const noexcept = 0;
  virtual void legal_actions(ActionList& moves) const = 0;
  /// The same as a set; false if the game does not store it.
  virtual bool legal_bits(BoardBits& bits) const noexcept = 0;
  [[nodiscard]] virtual bool is_legal(Action action) const noexcept = 0;
  virtual void play(Action action) = 0;
  [[nodiscard]] virtual std::uint64_t hash() const noexcept = 0;
  [[nodiscard]] virtual bool equals(const AnyPosition& other) const = 0;
  /// nullopt if the game has none, or one that leaves earlier positions out.
  [[nodiscard]] virtual std::optional<PositionKey> transposition_key() const noexcept = 0;
  [[nodiscard]] virtual std::string to_string() const = 0;

  /// Inputs of networks; see game_options.h. The bool says whether the game provides them.
  virtual void stones(int t, BoardBits& first, BoardBits& second) const noexcept = 0;
  [[nodiscard]] virtual Action last_move(int t) const noexcept = 0;
  virtual bool liberties(int k, BoardBits& bits) const noexcept = 0;
  virtual bool area_points(BoardBits& first, BoardBits& second) const noexcept = 0;
  [[nodiscard]] virtual Action ko_point() const noexcept = 0;
  /// The planes of a user's game, float32[C,H,W]; false if the game has none.
  virtual bool observation(std::span<float> planes) const = 0;

  /// Plays to the end from here, uniformly or by the game's playout policy. Rethrows exceptions of
  /// a user's game.
  virtual Playout play_out(Rng& rng, PlayoutSpace& space) const = 0;
  /// Rethrows an exception that a user's game threw in a function that cannot throw.
  virtual void rethrow_if_failed() const = 0;
};

/// Makes `to` a copy of `from`, reusing an existing position of the same game.
inline void copy_position(const AnyPosition& from, std::unique_ptr<AnyPosition>& to) {
  if (to == nullptr) {
    to = from.clone();
  } else {
    to->assign(from);
  }
}

/// What all positions of a game have in common.
struct GameTraits {
  GameShape shape;
  Symmetries symmetries;
  /// Shape of AnyPosition::observation(), {C, H, W}; zeros if the game has none.
  std::array<int, 3> observation_shape{};
  bool has_binary_observation = false;  ///< whether all its elements are 0 or 1
  bool has_stones = false;              ///< whether stones() and last_move() are available
  bool has_setup = false;               ///< whether from_setup() is
  bool has_liberties = false;
  bool has_area = false;
  bool has_ko = false;
  bool fills_up = false;               ///< see game_options.h
  bool has_transposition_key = false;  ///< whether a search of a graph recognises its positions
  bool key_forgets_history = false;  ///< whether legal moves after further moves depend on the path
  bool graph_by_default = false;     ///< the default of SearchConfig::graph
};

/// A game with its parameters, which creates positions. Immutable, shared between threads.
class AnyGame {
 public:
  explicit AnyGame(GameTraits traits) : traits_(std::move(traits)) {}
  AnyGame(const AnyGame&) = delete;
  AnyGame& operator=(const AnyGame&) = delete;
  virtual ~AnyGame() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual ParamMap params() const = 0;
  /// "go(board_size=9,...)" with every parameter.
  [[nodiscard]] virtual std::string to_string() const = 0;
  /// Same game and parameters; for users' games, the same object.
  [[nodiscard]] virtual bool same_as(const AnyGame& other) const = 0;
  [[nodiscard]] const GameTraits& traits() const noexcept { return traits_; }
  [[nodiscard]] const GameShape& shape() const noexcept { return traits_.shape; }
  [[nodiscard]] const Symmetries& symmetries() const noexcept { return traits_.symmetries; }

  [[nodiscard]] virtual std::unique_ptr<AnyPosition> initial_position() const = 0;
  [[nodiscard]] virtual std::unique_ptr<AnyPosition> from_setup(const BoardSetup& setup) const = 0;
  [[nodiscard]] virtual std::string action_to_string(Action action) const = 0;
  [[nodiscard]] virtual Action string_to_action(std::string_view text) const = 0;

 private:
  GameTraits traits_;
};

/// A G behind the AnyPosition interface. The search uses `value` directly.
template <Game G>
class PositionOf final : public AnyPosition {
 public:
  explicit PositionOf(G position) : value(std::move(position)) {}

  [[nodiscard]] std::unique_ptr<AnyPosition> clone() const override {
    return std::make_unique<PositionOf>(value);
  }
  void assign(const AnyPosition& other) override {
    value = static_cast<const PositionOf&>(other).value;
  }
  [[nodiscard]] int to_move() const noexcept override { return value.to_move(); }
  [[nodiscard]] std::optional<Outcome> outcome() const noexcept override { return value.outcome(); }
  void legal_actions(ActionList& moves) const override { value.legal_actions(moves); }
  bool legal_bits(BoardBits& bits) const noexcept override {
    if constexpr (HasLegalBits<G>) bits = value.legal_bits();
    return HasLegalBits<G>;
  }
  [[nodiscard]] bool is_legal(Action action) const noexcept override {
    return value.is_legal(action);
  }
  void play(Action action) override { value.play(action); }
  [[nodiscard]] std::uint64_t hash() const noexcept override { return value.hash(); }
  [[nodiscard]] bool equals(const AnyPosition& other) const override {
    const auto* same = dynamic_cast<const PositionOf*>(&other);
    return same != nullptr && same->value == value;
  }
  [[nodiscard]] std::optional<PositionKey> transposition_key() const noexcept override {
    if constexpr (HasTranspositionKey<G>) {
      if (!key_forgets_history(value)) return value.transposition_key();
    }
    return std::nullopt;
  }
  [[nodiscard]] std::string to_string() const override {
    if constexpr (HasText<G>) {
      return value.to_string();
    } else {
      BoardBits first;
      BoardBits second;
      value.stones(0, first, second);
      return default_text(G::shape(value.params()), first, second, value.outcome(),
                          value.to_move());
    }
  }
  void stones(int t, BoardBits& first, BoardBits& second) const noexcept override {
    value.stones(t, first, second);
  }
  [[nodiscard]] Action last_move(int t) const noexcept override { return value.last_move(t); }
  bool liberties(int k, BoardBits& bits) const noexcept override {
    if constexpr (HasLiberties<G>) value.liberties(k, bits);
    return HasLiberties<G>;
  }
  bool area_points(BoardBits& first, BoardBits& second) const noexcept override {
    if constexpr (HasArea<G>) value.area_points(first, second);
    return HasArea<G>;
  }
  [[nodiscard]] Action ko_point() const noexcept override {
    if constexpr (HasKo<G>) return value.ko_point();
    return kNoAction;
  }
  bool observation(std::span<float> planes) const override {
    if constexpr (requires { value.observation(planes); }) {
      value.observation(planes);
      return true;
    }
    return false;
  }
  Playout play_out(Rng& rng, PlayoutSpace& space) const override {
    if constexpr (HasForeignPlayout<G>) return value.play_out(rng);
    if constexpr (HasLightPlayout<G>) {
      if (value.has_light_playout()) {
        const auto outcome = value.outcome();
        return outcome ? Playout{*outcome} : value.light_playout(rng);
      }
    }
    copy_position(*this, space.position);
    return play_by_single_moves(static_cast<PositionOf&>(*space.position).value, rng, space.legal);
  }
  void rethrow_if_failed() const override {
    if constexpr (CanFail<G>) value.rethrow_if_failed();
  }

  G value;

 private:
  static Playout play_by_single_moves(G& game, Rng& rng, ActionList& legal) {
    for (int plies = 0;; ++plies) {
      if constexpr (CanFail<G>) game.rethrow_if_failed();
      if (const auto outcome = game.outcome()) return {*outcome, plies};
      if constexpr (HasPlayoutMove<G>) {
        game.play(game.playout_move(rng, legal));
      } else {
        game.legal_actions(legal);
        if constexpr (CanFail<G>) game.rethrow_if_failed();
        game.play(legal[static_cast<int>(rng.below(static_cast<std::uint32_t>(legal.size())))]);
      }
    }
  }
};

}  // namespace pyengine
