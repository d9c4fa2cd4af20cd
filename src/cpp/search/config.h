/// The settings of a search.
#pragma once

#include <cstdint>
#include <numbers>
#include <optional>

namespace pyengine {

/// Selection rule, see rules/rule.h.
enum class Algorithm : std::uint8_t { puct, gumbel, uct, flat_ucb };
/// Selection of the move played at temperature 0.
enum class MoveChoice : std::uint8_t { visits, mean, lcb };
/// Exploration term. PUCT: standard or alphago; UCB1: standard or log.
enum class Exploration : std::uint8_t { standard, alphago, log };
enum class FirstPlay : std::uint8_t { value, parent, reduction };
enum class CollisionRule : std::uint8_t { virtual_visit, virtual_loss };
enum class SymmetryMode : std::uint8_t { none, random, average, root_average, fill };

/// The meaning and the accepted values of each field: config_fields.h.
struct SearchConfig {
  std::optional<std::uint64_t> simulations;  ///< kDefaultSimulations without any budget
  std::optional<double> seconds;

  Algorithm algorithm = Algorithm::puct;
  double c_puct = 1.25;
  std::optional<double> c_puct_base = 19652.0;
  double c_puct_factor = 1.0;
  double c_puct_stdev = 0.0;
  FirstPlay fpu = FirstPlay::reduction;
  double fpu_value = 0.25;
  std::optional<double> root_c_puct;     ///< see at_root()
  std::optional<double> root_fpu_value;  ///< the same
  MoveChoice choose = MoveChoice::visits;
  double lcb_stdevs = 5.0;
  double lcb_visits = 0.15;
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

  double draw_value = 0.0;
  bool stop_when_decided = false;

  std::optional<bool> graph;  ///< see searches_graph()
  int graph_history = 0;
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

  // Set by self-play for each of its searches; not in the table.
  double forced_playouts = 0.0;     ///< see rules/forced.h; 0 = off
  bool gumbel_plays_sample = true;  ///< whether the noise also affects the move played

  friend bool operator==(const SearchConfig&, const SearchConfig&) = default;
};

inline constexpr std::uint64_t kDefaultSimulations = 800;  ///< [AlphaZero]
inline constexpr std::uint64_t kLeastMemory = 8U << 20;    ///< two chunks for the tree, and a cache

/// Throws ConfigError naming the first invalid field.
void validate(const SearchConfig& config);

/// Whether equal positions share a node, with the game's default.
[[nodiscard]] constexpr bool searches_graph(const SearchConfig& config, bool by_default) noexcept {
  return config.graph.value_or(by_default && config.algorithm == Algorithm::puct);
}
/// The settings of PUCT at the root, under the names that they have elsewhere.
[[nodiscard]] SearchConfig at_root(SearchConfig config) noexcept;
/// Maximum number of leaves in flight per tree.
[[nodiscard]] int max_in_flight(const SearchConfig& config) noexcept;
/// Number of cores that this process may use.
[[nodiscard]] int usable_cores() noexcept;
/// Number of worker threads, including the calling thread.
[[nodiscard]] int num_workers(const SearchConfig& config) noexcept;

}  // namespace pyengine
