/// When a side may give up: a threshold that is lowered as far as games played on ask for it.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace pyengine {

/// Thread-safe. A game played on says how low the hopes of a side were that did not lose: had the
/// threshold been above, that side would have given up in vain.
class Resignation {
 public:
  /// `highest`: the threshold to begin with, which it never exceeds; none: nobody resigns.
  /// `false_positives`: the share of games played on that may be given up in vain.
  Resignation(std::optional<double> highest, double false_positives);

  /// None: nobody resigns.
  [[nodiscard]] std::optional<double> threshold() const;
  /// A game played on is over. `lowest`: the smallest of all that a side which did not lose thought
  /// of its best chance (the larger of the values of root and best child).
  void add(double lowest) noexcept;
  /// Games played on, and those of them in which the threshold as it stands is a false positive.
  struct Measured {
    std::size_t games = 0;
    std::size_t in_vain = 0;
  };
  [[nodiscard]] Measured measured() const;

 private:
  void lower() noexcept;

  static constexpr std::size_t kKept = 1000;  ///< newest games that count
  static constexpr std::size_t kEnough = 20;  ///< before, a share says little

  const std::optional<double> highest_;
  const double false_positives_;
  mutable std::mutex mutex_;
  std::vector<double> lowest_;  ///< a ring of the newest; kKept are reserved
  std::vector<double> sorted_;  ///< of lower(); likewise
  std::size_t next_ = 0;
  std::optional<double> threshold_;
};

}  // namespace pyengine
