#include "search/rules/scan.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/vectorised.h"

namespace pyengine {
namespace {

constexpr int kColumn = 64;  ///< children per pass: the columns fit into the L1 cache
constexpr int kFew = 8;      ///< up to here a loop over single children is faster (measured)

/// The inputs of many children in columns, as vector instructions need them.
struct Columns {
  int used = 0;
  double sum[kColumn];
  double divisor[kColumn];
  double prior[kColumn];
  double visits[kColumn];
};

PYENGINE_VECTORISED void score_columns(const Columns& c, const puct::Parent& parent,
                                       double* scores) noexcept {
  for (int i = 0; i < c.used; ++i) {
    scores[i] = puct::score(parent, {c.sum[i], c.divisor[i], c.prior[i], c.visits[i]});
  }
}

/// One scan over the children in order.
class Scanner {
 public:
  Scanner(const puct::Parent& parent, std::vector<Unvisited>& unvisited) noexcept
      : parent_(parent), unvisited_(unvisited) {}

  void add_one(const Node& node) noexcept {
    const puct::Child child = read(node);
    if (child.divisor != 0.0) {
      offer(puct::score(parent_, child));
    } else {
      unvisited_.push_back({next_, puct::bonus(parent_, child.prior, child.visits)});
    }
    ++next_;
  }

  void add_to_columns(const Node& node) noexcept {
    const puct::Child child = read(node);
    const bool valued = child.divisor != 0.0;
    if (!valued) {
      unvisited_.push_back(
          {next_ + columns_.used, puct::bonus(parent_, child.prior, child.visits)});
    }
    const int i = columns_.used++;
    columns_.sum[i] = valued ? child.sum : -std::numeric_limits<double>::infinity();
    columns_.divisor[i] = valued ? child.divisor : 1.0;
    columns_.prior[i] = child.prior;
    columns_.visits[i] = child.visits;
    if (columns_.used == kColumn) flush();
  }

  void flush() noexcept {
    double scores[kColumn];
    score_columns(columns_, parent_, scores);
    for (int i = 0; i < columns_.used; ++i, ++next_) offer(scores[i]);
    columns_.used = 0;
  }

  [[nodiscard]] const Scan& result() const noexcept { return scan_; }

 private:
  puct::Child read(const Node& node) noexcept {
    const puct::Child child = puct::read_child(node, parent_);
    if (child.visited) scan_.visited_prior += child.prior;
    return child;
  }

  void offer(double score) noexcept {
    if (!(score > scan_.score)) return;
    scan_.score = score;
    scan_.place = next_;
  }

  const puct::Parent& parent_;
  std::vector<Unvisited>& unvisited_;
  Scan scan_;
  int next_ = 0;  ///< index of the next score
  Columns columns_;
};

}  // namespace

Scan scan_children(const Arena& arena, const Node& node, int count, const puct::Parent& parent,
                   std::vector<Unvisited>& unvisited) noexcept {
  Scanner scanner(parent, unvisited);
  if (count <= kFew) {
    for_each_child(arena, node, count, [&](const Node& child) { scanner.add_one(child); });
  } else {
    for_each_child(arena, node, count, [&](const Node& child) { scanner.add_to_columns(child); });
    scanner.flush();
  }
  Scan scan = scanner.result();
  scan.child = child_at(arena, node, scan.place);
  return scan;
}

ScanChildren wide_scan_children() noexcept {
  const ScanChildren eights = avx512_scan_children();
  return eights != nullptr ? eights : avx2_scan_children();
}

}  // namespace pyengine
