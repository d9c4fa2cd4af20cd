/// Selection by PUCT (puct.h), with two optional exceptions: forced playouts at the root (forced.h)
/// and the solver's open moves (open_moves.h).
#pragma once

#include <vector>

#include "search/rules/puct_allotter.h"
#include "search/rules/rule.h"
#include "search/rules/scan.h"

namespace pyengine {

class PuctRule final : public Rule {
 public:
  /// `wide` scans several children at a time; nullptr: use only the portable scan.
  explicit PuctRule(ScanChildren wide = wide_scan_children())
      : scan_(wide != nullptr ? wide : &scan_children) {}

  void configure(const SearchConfig& config) override;
  Selection choose_at_root(const Tree& tree, const RootSearch& search,
                           bool may_create) noexcept override;
  Selection choose(const Tree& tree, const Node& node, bool may_create) noexcept override;
  void allot(const Tree& tree, const Node& node, const RootSearch& search, std::uint32_t visits,
             bool may_create, std::vector<Allotment>& given) override;

 private:
  /// PUCT without the exceptions.
  template <bool is_root>
  Selection best(const Tree& tree, const Node& node, bool may_create) noexcept;
  [[nodiscard]] puct::Parent parent_of(const Tree& tree, const Node& node, double n) noexcept;
  void adjust(const Tree& tree, const Node& node, double n, puct::Parent& parent) const noexcept;
  /// n, without the marks of walks that have not left the node yet.
  [[nodiscard]] double visits_of(const Node& node) const noexcept {
    return puct::visits_of(node) - waiting_;
  }
  double rate(double n) noexcept;
  double compute_rate(double n);

  ScanChildren scan_;
  SearchConfig config_;
  SearchConfig root_config_;          ///< see at_root()
  std::vector<double> rates_;         ///< c(n) by n; 0 = not computed yet
  bool adjusts_ = false;              ///< see adjust()
  std::vector<Unvisited> unvisited_;  ///< from the current scan
  PuctAllotter allotter_;
  double waiting_ = 0.0;  ///< walks that have marked the current node and are still at it
};

}  // namespace pyengine
