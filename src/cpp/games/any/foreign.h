/// Games implemented elsewhere: in Python or another library. The virtual functions may throw;
/// ForeignPosition validates their results and wraps them in a Game that never throws.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "games/any/any_game.h"

namespace pyengine {

/// A position of the user's game, with OpenSpiel's vocabulary. Every function may throw anything.
class ForeignState {
 public:
  ForeignState() = default;
  ForeignState(const ForeignState&) = delete;
  ForeignState& operator=(const ForeignState&) = delete;
  virtual ~ForeignState() = default;

  [[nodiscard]] virtual std::unique_ptr<ForeignState> clone() const = 0;
  [[nodiscard]] virtual bool is_terminal() const = 0;
  /// 0 or 1; anything else is rejected with a clear error. Called only on non-terminal positions.
  [[nodiscard]] virtual long long current_player() const = 0;
  /// The returns of both players, in the game's units. Called only on terminal positions.
  [[nodiscard]] virtual std::array<double, 2> returns() const = 0;
  /// Fills `actions` (cleared by the caller), in any order.
  virtual void legal_actions(std::vector<long long>& actions) const = 0;
  virtual void apply_action(Action action) = 0;
  /// The returns of both players after one random game from here, played by the game itself or its
  /// library; nullopt if it does not support this. Called only on non-terminal positions. Positions
  /// of one search have the same `origin`.
  [[nodiscard]] virtual std::optional<std::array<double, 2>> play_out(
      Rng& /*rng*/, int /*to_move*/, std::uint64_t /*origin*/) const {
    return std::nullopt;
  }

  [[nodiscard]] virtual bool has_text() const noexcept = 0;
  /// Describes the position if has_text(), else perhaps only the object.
  [[nodiscard]] virtual std::string to_string() const = 0;
  [[nodiscard]] virtual std::string action_to_string(Action action) const {
    return std::to_string(action);
  }
  /// Fills [C,H,W] of ForeignInfo::observation_shape; not called if that is zero.
  virtual void observation(std::span<float> planes) const = 0;
  /// Whether both have the same history; nullopt if the game cannot tell.
  [[nodiscard]] virtual std::optional<bool> equals(const ForeignState& other) const = 0;
  /// Whether both are the same position with the same future, regardless of history, by the game's
  /// own ==. Called only for states with equal hash().
  [[nodiscard]] virtual bool is_same(const ForeignState& other) const {
    return equals(other).value_or(false);
  }
  /// The game's own hash, which may collide; nullopt if it has none consistent with is_same().
  [[nodiscard]] virtual std::optional<std::uint64_t> hash() const = 0;
  /// The game's own key for a search of a graph; nullopt if it has none: positions are then
  /// recognised by hash() and is_same().
  [[nodiscard]] virtual std::optional<PositionKey> transposition_key() const {
    return std::nullopt;
  }
};

/// The fixed properties of a user's game.
struct ForeignInfo {
  std::string name;
  std::string text;  ///< name and parameters, for messages and serialised states
  ParamMap params;
  GameShape shape;
  std::array<int, 3> observation_shape{};  ///< {C, H, W}; zeros = no planes
  double max_utility = 1.0;                ///< returns are divided by it
  bool has_binary_planes = false;          ///< the planes are 0 and 1
  /// A legal action stays legal for both players until it is played, and no other becomes legal.
  bool actions_stay_legal = false;
};

/// The user's game, which creates states. Immutable, shared.
class ForeignRules {
 public:
  /// Throws ConfigError if the numbers in `info` are inconsistent.
  explicit ForeignRules(ForeignInfo info);
  ForeignRules(const ForeignRules&) = delete;
  ForeignRules& operator=(const ForeignRules&) = delete;
  virtual ~ForeignRules() = default;

  [[nodiscard]] const ForeignInfo& info() const noexcept { return info_; }

  /// Validated results of a state; they throw ConfigError if a result is invalid.
  [[nodiscard]] int checked_player(long long player) const;
  /// The return of the first player, in [-max_utility, max_utility]. `method` returned both.
  [[nodiscard]] double checked_return(std::array<double, 2> returns,
                                      std::string_view method = "returns") const;
  [[nodiscard]] std::vector<long long> sorted_and_checked(std::vector<long long> actions) const;
  /// `plies`: of a game that is not over.
  void check_length(int plies) const;

  [[nodiscard]] virtual std::unique_ptr<ForeignState> initial_state() const = 0;
  [[nodiscard]] virtual bool same_as(const ForeignRules& other) const { return this == &other; }
  /// Whether copying a state is cheaper than replaying its moves.
  [[nodiscard]] virtual bool has_slow_moves() const noexcept { return true; }
  /// Whether states have a transposition_key() or a hash().
  [[nodiscard]] virtual bool has_transposition_key() const noexcept { return false; }

  /// Brackets a series of calls on one thread and acquires once what they all need (a lock). The
  /// token returned by enter() is passed to the matching leave().
  [[nodiscard]] virtual int enter() const noexcept { return 0; }
  virtual void leave(int /*token*/) const noexcept {}

 private:
  ForeignInfo info_;
};

/// A user's position as a Game. Exceptions in its code are stored: the position then has no legal
/// actions and no outcome, and rethrow_if_failed() throws the exception (once, if the position
/// itself is intact). Copying also calls user code (clone).
class ForeignPosition {
 public:
  struct Params {
    std::shared_ptr<const ForeignRules> rules;
    friend bool operator==(const Params&, const Params&) = default;
  };
  static constexpr std::string_view kName = "foreign";
  /// Always throws: such a game is created from an object, not from parameters.
  static Params parse(const ParamMap& params);
  static ParamMap describe(const Params& params);
  static GameShape shape(const Params& params);
  static ForeignPosition from_setup(const Params& params, const BoardSetup& setup);
  static std::string action_to_string(const Params& params, Action action);
  static Action string_to_action(const Params& params, std::string_view text);

  ForeignPosition() = default;
  explicit ForeignPosition(const Params& params);
  ForeignPosition(Params params, std::unique_ptr<ForeignState> state);
  ForeignPosition(const ForeignPosition& other);
  ForeignPosition(ForeignPosition&&) noexcept = default;
  ForeignPosition& operator=(const ForeignPosition& other);
  ForeignPosition& operator=(ForeignPosition&&) noexcept = default;
  ~ForeignPosition() = default;

  [[nodiscard]] const Params& params() const noexcept { return params_; }
  [[nodiscard]] int to_move() const noexcept { return to_move_; }
  [[nodiscard]] std::optional<Outcome> outcome() const noexcept { return outcome_; }
  void legal_actions(ActionList& moves) const noexcept;
  [[nodiscard]] bool is_legal(Action action) const noexcept;
  void play(Action action) noexcept;
  /// play() to a position about which the caller already knows everything: until the next play(),
  /// to_move() and outcome() are those of an earlier position.
  void play_through(Action action) noexcept;
  /// Whether this is the position that `moves` lead to from `root`, with no stored failure.
  [[nodiscard]] bool is_reached(const ForeignPosition& root,
                                std::span<const ActionId> moves) const noexcept;
  [[nodiscard]] bool has_slow_moves() const noexcept { return params_.rules->has_slow_moves(); }
  /// A random game from here that does not call current_player(). Rethrows the game's exceptions.
  [[nodiscard]] Playout play_out(Rng& rng) const;
  /// The game's own hash, else a hash of the actions. Different positions may collide.
  [[nodiscard]] std::uint64_t hash() const noexcept;
  /// A hash of the origin and the actions since: equal for positions reached the same way,
  /// otherwise different except with probability 2^-64.
  [[nodiscard]] std::uint64_t path_key() const noexcept;
  [[nodiscard]] static std::uint64_t path_key_after(std::uint64_t before, Action action) noexcept;
  /// Actions since the origin.
  [[nodiscard]] int plies() const noexcept { return static_cast<int>(played_.size()); }
  void stones(int /*t*/, BoardBits& first, BoardBits& second) const noexcept;
  [[nodiscard]] Action last_move(int /*t*/) const noexcept { return kNoAction; }
  [[nodiscard]] std::string to_string() const;
  void observation(std::span<float> planes) const;
  void rethrow_if_failed() const;

  /// If equality cannot be determined: compares player, legal actions, planes and text; at least
  /// one of the last two must exist.
  [[nodiscard]] bool resembles(const ForeignPosition& other) const;

  /// The user's own object; null after a failed copy.
  [[nodiscard]] const ForeignState* state() const noexcept { return state_.get(); }

  /// Same actions since a common origin, or equal by the game's own ==.
  friend bool operator==(const ForeignPosition& a, const ForeignPosition& b);

  /// Held by a search while it walks down from a position: one lock for the whole walk.
  class WalkScope {
   public:
    explicit WalkScope(const Params& params) noexcept
        : rules_(params.rules.get()), token_(rules_ != nullptr ? rules_->enter() : 0) {}
    explicit WalkScope(const ForeignPosition& position) noexcept : WalkScope(position.params_) {}
    WalkScope(const WalkScope&) = delete;
    WalkScope& operator=(const WalkScope&) = delete;
    ~WalkScope() {
      if (rules_ != nullptr) rules_->leave(token_);
    }

   private:
    const ForeignRules* rules_;
    int token_;
  };

 private:
  void refresh();
  bool apply(Action action) noexcept;
  template <class Verb>
  bool guarded(Verb&& verb) const noexcept;

  Params params_;
  std::unique_ptr<ForeignState> state_;
  std::uint64_t origin_ = 0;      ///< identifies the position that this one was copied from
  std::vector<ActionId> played_;  ///< since the origin
  int to_move_ = 0;
  std::optional<Outcome> outcome_;
  bool broken_ = false;  ///< permanent, because the failure left no valid position
  mutable std::exception_ptr failure_;
};

static_assert(Game<ForeignPosition>);
static_assert(CanFail<ForeignPosition>);

/// A user's game as an AnyGame; its positions are PositionOf<ForeignPosition>.
class ForeignGame final : public AnyGame {
 public:
  explicit ForeignGame(std::shared_ptr<const ForeignRules> rules);

  [[nodiscard]] const std::shared_ptr<const ForeignRules>& rules() const noexcept {
    return params_.rules;
  }
  [[nodiscard]] std::unique_ptr<AnyPosition> wrap(std::unique_ptr<ForeignState> state) const;

  [[nodiscard]] std::string name() const override { return info().name; }
  [[nodiscard]] ParamMap params() const override { return info().params; }
  [[nodiscard]] std::string to_string() const override { return info().text; }
  [[nodiscard]] bool same_as(const AnyGame& other) const override;
  [[nodiscard]] std::unique_ptr<AnyPosition> initial_position() const override;
  [[nodiscard]] std::unique_ptr<AnyPosition> from_setup(const BoardSetup& setup) const override;
  [[nodiscard]] std::string action_to_string(Action action) const override;
  [[nodiscard]] Action string_to_action(std::string_view text) const override;

 private:
  [[nodiscard]] const ForeignInfo& info() const noexcept { return params_.rules->info(); }
  ForeignPosition::Params params_;
};

}  // namespace pyengine
