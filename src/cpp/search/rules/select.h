/// Selects the rule for a worker.
#pragma once

#include <memory>
#include <optional>

#include "search/rules/rule.h"

namespace pyengine {

/// Keeps the rule, with its tables, from run to run.
class Selector {
 public:
  void configure(const SearchConfig& config) {
    if (algorithm_ != config.algorithm) rule_ = make_rule(config.algorithm);
    algorithm_ = config.algorithm;
    rule_->configure(config);
  }
  /// Call after configure().
  [[nodiscard]] Rule& rule() noexcept { return *rule_; }

 private:
  std::optional<Algorithm> algorithm_;
  std::unique_ptr<Rule> rule_;
};

}  // namespace pyengine
