/// The choice of a child: PUCT as API §3 writes it, evaluated in double precision and in that order
/// of operations, so that visit counts equal those of the textbook algorithm.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "search/config.h"
#include "search/rules/scan.h"
#include "search/tree/tree.h"

namespace pyengine {

/// c(n) = c_puct + factor * ln((1 + n + base) / base), or the constant c_puct without a base.
[[nodiscard]] inline double exploration_rate(const SearchConfig& config, double n) noexcept {
  if (!config.c_puct_base) return config.c_puct;
  const double base = *config.c_puct_base;
  return config.c_puct + config.c_puct_factor * std::log((1.0 + n + base) / base);
}

/// Value of a child without visits, for the player to move at the node.
[[nodiscard]] inline double first_play_value(const SearchConfig& config, double node_value,
                                             double visited_prior) noexcept {
  switch (config.fpu) {
    case FirstPlay::value:
      return config.fpu_value;
    case FirstPlay::parent:
      return node_value;
    case FirstPlay::reduction:
      return node_value - config.fpu_value * std::sqrt(visited_prior);
  }
  return config.fpu_value;
}

/// Mean of the back-ups of a node for the player to move there.
[[nodiscard]] inline double mean_for_mover(const Node& node) noexcept {
  const double mean = node.mean_for_chooser();
  return node.chooser == node.mover ? mean : -mean;
}

[[nodiscard]] inline bool is_lost_for(Proof proof, int player) noexcept {
  return proof == (player == 0 ? Proof::loss : Proof::win);
}

/// What was chosen: a child, or nullptr for the next edge without one.
struct Selection {
  Node* child = nullptr;
  bool none = false;  ///< there is nothing to choose: no child, and none may be created
};

/// Chooses at the nodes of one walk. One per worker: it owns the memory that it computes in.
class Selector {
 public:
  /// `wide` scans several children at a time; nullptr: the portable scan alone.
  explicit Selector(ScanChildren wide = wide_scan_children())
      : scan_(wide != nullptr ? wide : &scan_children) {}
  void configure(const SearchConfig& config);
  [[nodiscard]] const SearchConfig& config() const noexcept { return config_; }
  /// `sorted`: false where the children may be out of the order of their priors (noise at the
  /// root).
  Selection choose(const Tree& tree, Node& node, bool sorted, bool may_create) noexcept;

 private:
  double rate(double n) noexcept;
  double compute_rate(double n);

  ScanChildren scan_;
  SearchConfig config_;
  std::vector<double> rates_;         ///< c(n) by n; 0 = not computed yet
  std::vector<Unvisited> unvisited_;  ///< of one scan
};

}  // namespace pyengine
