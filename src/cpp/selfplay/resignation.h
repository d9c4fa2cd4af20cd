/// Resignation with a threshold that limits the rate of false resignations.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace pyengine {

/// Thread-safe. Some games are played to the end with resignation disabled. The smallest value of a
/// side that did not lose shows which thresholds would have caused a false resignation.
class Resignation {
 public:
  /// `highest`: the initial threshold and its upper limit; nullopt disables resignation.
  /// `false_positives`: the accepted share of false resignations among games played to the end.
  Resignation(std::optional<double> highest, double false_positives);

  /// nullopt if resignation is disabled.
  [[nodiscard]] std::optional<double> threshold() const;
  /// Adds a game that was played to the end. `lowest`: the smallest value of a side that did not
  /// lose, over its moves; the value of a move is the larger one of the root and its most visited
  /// child.
  void add(double lowest) noexcept;
  /// Games played to the end, and false resignations among them at the current threshold.
  struct Measured {
    std::size_t games = 0;
    std::size_t in_vain = 0;
  };
  [[nodiscard]] Measured measured() const;

 private:
  void lower() noexcept;

  static constexpr std::size_t kKept = 1000;  ///< number of newest games that count
  static constexpr std::size_t kEnough = 20;  ///< games required before the threshold moves

  const std::optional<double> highest_;
  const double false_positives_;
  mutable std::mutex mutex_;
  std::vector<double> lowest_;  ///< ring buffer of kKept games
  std::vector<double> sorted_;  ///< scratch space of lower()
  std::size_t next_ = 0;
  std::optional<double> threshold_;
};

}  // namespace pyengine
