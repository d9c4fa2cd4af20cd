#include "selfplay/resignation.h"

#include <algorithm>
#include <cmath>

namespace pyengine {

Resignation::Resignation(std::optional<double> highest, double false_positives)
    : highest_(highest), false_positives_(false_positives), threshold_(highest) {
  lowest_.reserve(kKept);
  sorted_.reserve(kKept);
}

std::optional<double> Resignation::threshold() const {
  const std::lock_guard lock(mutex_);
  return threshold_;
}

void Resignation::add(double lowest) noexcept {
  const std::lock_guard lock(mutex_);
  if (lowest_.size() < kKept) {
    lowest_.push_back(lowest);
  } else {
    lowest_[next_] = lowest;
    next_ = (next_ + 1) % kKept;
  }
  if (highest_ && lowest_.size() >= kEnough) lower();
}

/// Sets the highest threshold that does not exceed the accepted rate of false resignations.
void Resignation::lower() noexcept {
  sorted_.assign(lowest_.begin(), lowest_.end());
  const auto may_be =
      static_cast<std::size_t>(false_positives_ * static_cast<double>(sorted_.size()));
  if (may_be >= sorted_.size()) {
    threshold_ = highest_;
    return;
  }
  const auto place = sorted_.begin() + static_cast<std::ptrdiff_t>(may_be);
  std::nth_element(sorted_.begin(), place, sorted_.end());
  threshold_ = std::min(*highest_, *place);  // at most `may_be` games lie below it
}

Resignation::Measured Resignation::measured() const {
  const std::lock_guard lock(mutex_);
  Measured measured{lowest_.size(), 0};
  if (threshold_) {
    measured.in_vain = static_cast<std::size_t>(std::count_if(
        lowest_.begin(), lowest_.end(), [&](double lowest) { return lowest < *threshold_; }));
  }
  return measured;
}

}  // namespace pyengine
