#include "search/rules/scan.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/vectorised.h"

namespace pyengine {
namespace {

constexpr double kLost = -std::numeric_limits<double>::infinity();
constexpr int kColumn = 64;  ///< children at a time: columns stay in the first cache
constexpr int kFew = 8;      ///< measured: vectors wait for what was just written

/// What a child's score is made of.
struct Terms {
  double sum;     ///< for the player to move
  double visits;  ///< that `sum` is divided by; 0: the child has no value of its own
  double prior;
  double total;  ///< visits, completed or in flight
};

/// Children as columns of numbers, which vectors can be made of.
struct Columns {
  int used = 0;
  double sum[kColumn];
  double visits[kColumn];
  double prior[kColumn];
  double total[kColumn];
};

Terms terms_of(const Node& child, const ScoreTask& task, double& visited_prior) noexcept {
  const std::uint64_t completed = child.visits.load(std::memory_order_relaxed);
  const std::uint64_t flying = child.in_flight.load(std::memory_order_relaxed);
  const double prior = unpack_prior(child.prior);
  if (completed != 0) visited_prior += prior;
  const double total = static_cast<double>(completed + flying);
  if (task.lost != Proof::none && child.proof.load(std::memory_order_relaxed) == task.lost) {
    return {kLost, 1.0, prior, total};
  }
  const double losses = task.loss * static_cast<double>(flying);
  const double sum =
      static_cast<double>(child.value_sum.load(std::memory_order_relaxed)) * kValueUnit - losses;
  return {sum, static_cast<double>(completed) + losses, prior, total};
}

inline double bonus_of(const ScoreTask& task, double prior, double total) noexcept {
  return task.rate * prior * task.root / (1.0 + total);
}

PYENGINE_VECTORISED void score_columns(const Columns& c, const ScoreTask& task,
                                       double* scores) noexcept {
  for (int i = 0; i < c.used; ++i) {
    scores[i] = c.sum[i] / c.visits[i] + bonus_of(task, c.prior[i], c.total[i]);
  }
}

/// One scan, child by child in their order.
class Scanner {
 public:
  Scanner(const ScoreTask& task, std::vector<Unvisited>& unvisited) noexcept
      : task_(task), unvisited_(unvisited) {}

  void add_one(const Node& child) noexcept {
    const Terms t = terms_of(child, task_, scan_.visited_prior);
    const double bonus = bonus_of(task_, t.prior, t.total);
    if (t.visits != 0.0) {
      offer(t.sum / t.visits + bonus);
    } else {
      unvisited_.push_back({next_, bonus});
    }
    ++next_;
  }

  void add_to_columns(const Node& child) noexcept {
    const Terms t = terms_of(child, task_, scan_.visited_prior);
    const bool judged = t.visits != 0.0;
    if (!judged) {
      unvisited_.push_back({next_ + columns_.used, bonus_of(task_, t.prior, t.total)});
    }
    const int i = columns_.used++;
    columns_.sum[i] = judged ? t.sum : kLost;
    columns_.visits[i] = judged ? t.visits : 1.0;
    columns_.prior[i] = t.prior;
    columns_.total[i] = t.total;
    if (columns_.used == kColumn) flush();
  }

  void flush() noexcept {
    double scores[kColumn];
    score_columns(columns_, task_, scores);
    for (int i = 0; i < columns_.used; ++i, ++next_) offer(scores[i]);
    columns_.used = 0;
  }

  [[nodiscard]] const Scan& result() const noexcept { return scan_; }

 private:
  void offer(double score) noexcept {
    if (!(score > scan_.score)) return;
    scan_.score = score;
    scan_.place = next_;
  }

  const ScoreTask& task_;
  std::vector<Unvisited>& unvisited_;
  Scan scan_;
  int next_ = 0;  ///< place of the next score
  Columns columns_;
};

}  // namespace

double score_of(const Node& child, const ScoreTask& task, double first_play) noexcept {
  double unused = 0.0;
  const Terms t = terms_of(child, task, unused);
  const double value = t.visits != 0.0 ? t.sum / t.visits : first_play;
  return value + bonus_of(task, t.prior, t.total);
}

Scan scan_children(const Arena& arena, const Node& node, int count, const ScoreTask& task,
                   std::vector<Unvisited>& unvisited) noexcept {
  Scanner scanner(task, unvisited);
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
