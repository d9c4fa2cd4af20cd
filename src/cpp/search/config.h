/// The settings of a search.
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

/// What each field means and which values fit: config_fields.h.
struct SearchConfig {
  std::optional<std::uint64_t> simulations;  ///< with neither budget: kDefaultSimulations
  std::optional<double> seconds;

  Algorithm algorithm = Algorithm::puct;
  double c_puct = 1.25;
  std::optional<double> c_puct_base = 19652.0;
  double c_puct_factor = 1.0;
  FirstPlay fpu = FirstPlay::reduction;
  double fpu_value = 0.25;
  MoveChoice choose = MoveChoice::visits;
  Exploration exploration = Exploration::standard;
  double uct_c = std::numbers::sqrt2 / 2;
  double expand_probability = 1.0;

  int threads = 0;  ///< see num_workers()
  int batch_size = 8;
  std::optional<int> in_flight;  ///< see max_in_flight()
  CollisionRule collision = CollisionRule::virtual_visit;
  double virtual_loss = 1.0;

  SymmetryMode symmetry = SymmetryMode::random;
  std::optional<double> dirichlet_alpha;
  double dirichlet_fraction = 0.0;
  bool dirichlet_shaped = false;
  double root_policy_temperature = 1.0;
  double temperature = 0.0;

  bool reuse_tree = true;
  std::uint64_t cache_entries = 1U << 17;
  std::uint64_t memory_limit = std::uint64_t{2} << 30;
  bool solver = true;
  bool deterministic = false;
  std::uint64_t seed = 0;
  int endgame_solver_empties = 0;

  int gumbel_actions = 16;
  double gumbel_c_visit = 50.0;
  double gumbel_c_scale = 0.1;
  bool gumbel_noise = true;

  // Self-play sets these for each of its searches; they are not in the table.
  double forced_playouts = 0.0;     ///< see rules/forced.h; 0 = none
  bool gumbel_plays_sample = true;  ///< whether the noise also affects the move played

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
