/// Everything that can be set about a search.
#pragma once

#include <cstdint>
#include <numbers>
#include <optional>

namespace pyengine {

/// Which rule chooses a child, see rules/rule.h.
enum class Algorithm : std::uint8_t { puct, gumbel, uct, flat_ucb };
/// Which move of the root is played at temperature 0.
enum class MoveChoice : std::uint8_t { visits, mean };
/// The exploration term: of PUCT standard or AlphaGo's, of UCB1 standard or logarithmic.
enum class Exploration : std::uint8_t { standard, alphago, log };
enum class FirstPlay : std::uint8_t { value, parent, reduction };
enum class CollisionRule : std::uint8_t { virtual_visit, virtual_loss };
enum class SymmetryMode : std::uint8_t { none, random, average, root_average, fill };

struct SearchConfig {
  std::optional<std::uint64_t> simulations;  ///< >= 1; with neither budget: kDefaultSimulations
  std::optional<double> seconds;             ///< > 0

  Algorithm algorithm = Algorithm::puct;
  double c_puct = 1.25;                         ///< > 0   [AlphaZero pseudocode, pb_c_init]
  std::optional<double> c_puct_base = 19652.0;  ///< > 0, or constant c [pb_c_base]
  double c_puct_factor = 1.0;                   ///< >= 0  [lc0, KataGo: cpuct factor]
  FirstPlay fpu = FirstPlay::reduction;         ///< [lc0, KataGo]; AlphaGo Zero: value 0
  double fpu_value = 0.25;                      ///< in [-2, 2]
  MoveChoice choose = MoveChoice::visits;
  Exploration exploration = Exploration::standard;
  double uct_c = std::numbers::sqrt2 / 2;  ///< 1 / sqrt(2), >= 0 [Kocsis and Szepesvári]
  double expand_probability = 1.0;         ///< in (0, 1], of uct: see rules/ucb1.h

  int threads = 0;     ///< 0 = all cores this process may use; at most 1024
  int batch_size = 8;  ///< rows, 1..4096      [AlphaGo Zero: mini-batch of 8]
  int in_flight = 0;   ///< leaves of one tree, 0 = 2 * batch_size; at most 65535
  CollisionRule collision = CollisionRule::virtual_visit;
  double virtual_loss = 1.0;  ///< losses counted for a leaf in flight, >= 0

  SymmetryMode symmetry = SymmetryMode::random;
  std::optional<double> dirichlet_alpha;  ///< > 0; default 10 / legal actions [AlphaZero's scaling]
  double dirichlet_fraction = 0.0;        ///< in [0, 1]; 0.25 in self-play
  bool dirichlet_shaped = false;          ///< see run/root_priors.h   [KataGo]
  /// Of the root's priors before the noise, > 0   [SAI; KataGo: 1.1 to 1.25]
  double root_policy_temperature = 1.0;
  double temperature = 0.0;      ///< >= 0, of the move choice
  double forced_playouts = 0.0;  ///< of self-play, see rules/forced.h; 0 = none

  bool reuse_tree = true;
  std::uint64_t cache_entries = 1U << 17;
  std::uint64_t memory_limit = std::uint64_t{2} << 30;  ///< bytes, tree and cache; >= kLeastMemory
  bool solver = true;
  bool deterministic = false;
  std::uint64_t seed = 0;

  /// Leaves with at most so many empty points are solved exactly, 0 = none; 0..64.
  int endgame_solver_empties = 0;

  int gumbel_actions = 16;       ///< >= 1 [mctx, max_num_considered_actions]
  double gumbel_c_visit = 50.0;  ///< also of improved_policy, >= 0 [mctx, maxvisit_init]
  double gumbel_c_scale = 0.1;   ///< also of improved_policy, >= 0 [mctx, value_scale]
  bool gumbel_noise = true;
  /// Of self-play: whether the noise has its say in the move, which makes it a sample, or in the
  /// search alone.
  bool gumbel_plays_sample = true;

  friend bool operator==(const SearchConfig&, const SearchConfig&) = default;
};

inline constexpr std::uint64_t kDefaultSimulations = 800;  ///< [AlphaZero]
inline constexpr std::uint64_t kLeastMemory = 8U << 20;    ///< two chunks of tree and a cache

/// Throws ConfigError naming the first field that is out of range.
void validate(const SearchConfig& config);

/// Leaves of one tree that may wait at once.
[[nodiscard]] int max_in_flight(const SearchConfig& config) noexcept;
/// Cores that this process may use.
[[nodiscard]] int usable_cores() noexcept;
/// Worker threads, the calling one included.
[[nodiscard]] int num_workers(const SearchConfig& config) noexcept;

}  // namespace pyengine
