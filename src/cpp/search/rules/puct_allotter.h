/// Many visits of a node at once, divided among its moves as PUCT divides them one after the other
/// where each leaves a leaf in flight: the children are read once, and a visit changes the score of
/// one move. What the visits add to n, on which the scores of all moves depend, is left out: n is
/// to be large compared with them. Of equal scores the move that comes first wins, also at a root
/// under noise. The idea is that of Lc0's gathering of several visits.
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
  /// Divides `visits` among them. Ends before a visit of a move that is known to draw, of which the
  /// solver has more to say, and where all moves are lost. Returns whether anything was given.
  bool allot(std::uint32_t visits, std::vector<Allotment>& given);

 private:
  /// The move without a child that comes next; none without leave to create it.
  void add_next_edge();
  void add_visit(std::size_t move);
  [[nodiscard]] std::size_t best_move() const noexcept;

  const Tree* tree_ = nullptr;
  const Node* node_ = nullptr;
  puct::Parent parent_;
  double first_play_ = 0.0;
  bool solver_ = false;
  int edges_ = 0;  ///< that may be created, those with a child included

  // By move, in the order of the edges: those with a child, then those without that came up.
  std::vector<Node*> nodes_;
  std::vector<puct::Child> numbers_;
  std::vector<double> scores_;
  std::vector<std::uint32_t> visits_;
};

}  // namespace pyengine
