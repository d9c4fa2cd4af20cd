/// Distributes many visits of a node among its moves as sequential PUCT would if each visit left a
/// leaf in flight. The children are read once, and a visit changes the score of only one move. The
/// effect on n, which enters all scores, is ignored, so n must be large compared with the number of
/// visits. Ties go to the earlier move, even at a root with noise. The idea comes from Lc0's multi-
/// visit gathering.
#pragma once

#include <cstdint>
#include <vector>

#include "search/rules/puct.h"
#include "search/rules/rule.h"
#include "search/tree/tree.h"

namespace pyengine {

class PuctAllotter {
 public:
  /// Reads the moves of an expanded node.
  void read(const Tree& tree, const Node& node, const SearchConfig& config,
            const puct::Parent& parent, bool may_create);
  /// Distributes `visits` among the moves. Stops before visiting a known draw, which the solver
  /// handles, and if all moves are lost. Returns whether any visit was distributed.
  bool allot(std::uint32_t visits, std::vector<Allotment>& given);

 private:
  /// The next move without a child; none if it must not be created.
  void add_next_edge();
  void add_visit(std::size_t move);
  [[nodiscard]] std::size_t best_move() const noexcept;

  const Tree* tree_ = nullptr;
  const Node* node_ = nullptr;
  puct::Parent parent_;
  double first_play_ = 0.0;
  bool solver_ = false;
  int edges_ = 0;  ///< number of edges with a child or allowed to get one

  // By move, in edge order: first those with a child, then those reached without one.
  std::vector<Node*> nodes_;
  std::vector<puct::Child> numbers_;
  std::vector<double> scores_;
  std::vector<std::uint32_t> visits_;
};

}  // namespace pyengine
