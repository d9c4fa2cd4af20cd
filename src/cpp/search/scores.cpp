#include "search/scores.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

// One copy of the loop for each width of vector, chosen when the library is loaded. Without this,
// the portable build divides two numbers at a time.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define PYENGINE_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PYENGINE_WIDE
#endif

namespace pyengine {
namespace {

constexpr double kLost = -std::numeric_limits<double>::infinity();
constexpr int kColumn = 64;  ///< children at a time: columns stay in the first cache

/// Children as columns of numbers, which vectors can be made of.
struct Columns {
  double sum[kColumn];     ///< for the player to move
  double visits[kColumn];  ///< that `sum` is divided by
  double prior[kColumn];
  double total[kColumn];  ///< visits, completed or in flight
};

inline double score(const Columns& c, int i, double rate, double root) noexcept {
  return c.sum[i] / c.visits[i] + rate * c.prior[i] * root / (1.0 + c.total[i]);
}

PYENGINE_WIDE void score_columns(int count, const Columns& columns, double rate, double root,
                                 double* scores) noexcept {
  for (int i = 0; i < count; ++i) scores[i] = score(columns, i, rate, root);
}

/// Fills the columns; returns the sum of the priors of visited children.
double gather(const Node* nodes, int first, int count, const ScoreTask& task, Columns& columns,
              std::vector<int>& unvisited) noexcept {
  double visited_prior = 0.0;
  for (int i = 0; i < count; ++i) {
    const Node& child = nodes[i];
    const std::uint64_t completed = child.visits.load(std::memory_order_relaxed);
    const std::uint64_t flying = child.in_flight.load(std::memory_order_relaxed);
    const double losses = task.loss * static_cast<double>(flying);
    const double prior = unpack_prior(child.prior);
    double sum =
        static_cast<double>(child.value_sum.load(std::memory_order_relaxed)) * kValueUnit - losses;
    double visits = static_cast<double>(completed) + losses;
    if (completed != 0) visited_prior += prior;
    if (task.lost != Proof::none && child.proof.load(std::memory_order_relaxed) == task.lost) {
      sum = kLost;
      visits = 1.0;
    } else if (visits == 0.0) {
      unvisited.push_back(first + i);
      visits = 1.0;  // and the sum is 0
    }
    columns.sum[i] = sum;
    columns.visits[i] = visits;
    columns.prior[i] = prior;
    columns.total[i] = static_cast<double>(completed + flying);
  }
  return visited_prior;
}

}  // namespace

double score_nodes(const Node* nodes, int first, int count, const ScoreTask& task, double* scores,
                   std::vector<int>& unvisited) noexcept {
  Columns columns;
  double visited_prior = 0.0;
  for (int done = 0; done < count; done += kColumn) {
    const int here = std::min(kColumn, count - done);
    visited_prior += gather(nodes + done, first + done, here, task, columns, unvisited);
    if (here < kWideNodes) {  // vectors would wait for what was just written
      for (int i = 0; i < here; ++i) scores[done + i] = score(columns, i, task.rate, task.root);
    } else {
      score_columns(here, columns, task.rate, task.root, scores + done);
    }
  }
  return visited_prior;
}

}  // namespace pyengine
