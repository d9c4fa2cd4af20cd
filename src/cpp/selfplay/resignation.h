/// When a side may resign: a threshold that falls until few enough resignations are in vain.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace pyengine {

/// Thread-safe. Some games are played on without resignation. The smallest value of a side that did
/// not lose tells which thresholds would have made it resign in vain.
class Resignation {
 public:
  /// `highest`: the first threshold and the upper limit; none: nobody resigns.
  /// `false_positives`: the share of the games played on that may be resigned in vain.
  Resignation(std::optional<double> highest, double false_positives);

  /// None: nobody resigns.
  [[nodiscard]] std::optional<double> threshold() const;
  /// A game played on is over. `lowest`: the smallest value of a side that did not lose, over its
  /// moves; the value of a move is the larger one of root and most visited child.
  void add(double lowest) noexcept;
  /// Games played on, and those among them that the present threshold resigns in vain.
  struct Measured {
    std::size_t games = 0;
    std::size_t in_vain = 0;
  };
  [[nodiscard]] Measured measured() const;

 private:
  void lower() noexcept;

  static constexpr std::size_t kKept = 1000;  ///< newest games that count
  static constexpr std::size_t kEnough = 20;  ///< games from which the threshold moves

  const std::optional<double> highest_;
  const double false_positives_;
  mutable std::mutex mutex_;
  std::vector<double> lowest_;  ///< ring of the newest; room for kKept
  std::vector<double> sorted_;  ///< for lower(); room for kKept
  std::size_t next_ = 0;
  std::optional<double> threshold_;
};

}  // namespace pyengine
