/// The features of Go's fast rollout policy and the meaning of their weights.
///
///   P(move) = exp(sum of the weights of its features) / the same, summed over all moves
///
/// A linear softmax, like AlphaGo's rollout policy [Silver et al. 2016, Extended Data Table 4]. A
/// move's features are its 3x3 pattern, tactics, and how it answers the last move.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pyengine {

/// The eight points around a point, for the player to move: two bits each (0 empty, 1 own stone, 2
/// opponent's stone, 3 off the board), starting with the point above left as the lowest bits, then
/// row by row.
using GoPattern = std::uint16_t;
inline constexpr std::size_t kGoPatterns = 1 << 16;

/// Bits of a set of features.
enum GoRolloutFeature : std::uint16_t {
  kCaptureStone = 1 << 0,    ///< captures one stone
  kCaptureChain = 1 << 1,    ///< captures more than one
  kAtari = 1 << 2,           ///< reduces an opponent's chain from two liberties to one
  kEscape = 1 << 3,          ///< the last liberty of an own chain; not self-atari
  kSelfAtariStone = 1 << 4,  ///< a lone stone with one liberty that captures nothing
  kSelfAtariChain = 1 << 5,  ///< the same with adjacent own stones
  // Relative to the last move, with d = dx + dy + max(dx, dy).
  kDistance2 = 1 << 6,  ///< adjacent to it
  kDistance3 = 1 << 7,  ///< diagonal to it
  kDistance4 = 1 << 8,  ///< two points away on its line
  kDistance5 = 1 << 9,  ///< a knight's move away
  kExtend = 1 << 9,     ///< the last liberty of an adjacent own chain
  kRescue = 1 << 10,    ///< captures a chain that touches such a chain
  kRetake = 1 << 11,    ///< captures the chain of the last move
  kResponse = 1 << 12,  ///< d <= 3: adds the pattern's response weight; has no weight itself
};
inline constexpr std::array<std::string_view, 12> kGoRolloutNames = {
    "capture_stone",    "capture_chain",    "atari",      "escape",
    "self_atari_stone", "self_atari_chain", "distance_2", "distance_3",
    "distance_4",       "extend",           "rescue",     "retake"};
inline constexpr unsigned kGoNever = ~0U;  ///< instead of tactics: suicide
inline constexpr unsigned kGoTacticBits =
    6;                                      ///< the first features, which depend only on the board
inline constexpr unsigned kGoLastBits = 6;  ///< those that depend on the last move

/// The pattern with own and opponent's stones swapped.
[[nodiscard]] constexpr GoPattern swapped(GoPattern pattern) noexcept {
  return static_cast<GoPattern>((pattern & 0x5555U) << 1 | (pattern >> 1 & 0x5555U));
}

/// Whether the point is an eye of the player: all adjacent points are own stones or the edge, with
/// at most one opposing stone diagonal to it, or none at the edge. Playouts never fill it.
[[nodiscard]] constexpr bool is_eye(GoPattern pattern) noexcept {
  int bad = 0;
  bool edge = false;
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned there = pattern >> (2 * i) & 3U;
    const bool beside = i == 1 || i == 3 || i == 4 || i == 6;
    if (beside && there != 1 && there != 3) return false;
    edge = edge || (beside && there == 3);
    bad += !beside && there == 2 ? 1 : 0;
  }
  return bad == 0 || (bad == 1 && !edge);
}

/// Weights as they are learned and stored.
struct GoRolloutWeights {
  std::vector<float> pattern;                            ///< [kGoPatterns]
  std::vector<float> response;                           ///< [kGoPatterns], added at d <= 3
  std::array<float, kGoRolloutNames.size()> features{};  ///< in the order of kGoRolloutNames
};

/// Strengths: exponentials of sums of weights. Fixed point, so sums over a board can be updated
/// incrementally and stay exact.
class GoRolloutStrengths {
 public:
  static constexpr float kOne = 1 << 20;  ///< units of a strength of 1

  /// Throws ModelError if a table has the wrong size or a weight is not finite.
  explicit GoRolloutStrengths(const GoRolloutWeights& weights);

  /// The strength of a move from its pattern and tactics bits: 0 for an eye, else 1 to 2^32 - 1
  /// units.
  [[nodiscard]] std::uint32_t of_point(GoPattern pattern, unsigned tactics) const noexcept {
    return fixed(pattern_[pattern] * tactics_[tactics]);
  }
  /// The same for a move whose adjacent chains all have at least three liberties: the pattern alone
  /// then determines all tactics.
  [[nodiscard]] std::uint32_t of_quiet_point(GoPattern pattern) const noexcept {
    return quiet_[pattern];
  }
  /// The strength of a point including features from the last move, below 2^54 units.
  [[nodiscard]] std::uint64_t near_last(std::uint32_t of_point, GoPattern pattern,
                                        unsigned features) const noexcept {
    if (of_point == 0) return 0;
    float factor = last_[features >> kGoTacticBits & ((1U << kGoLastBits) - 1)];
    if ((features & kResponse) != 0) factor *= response_[pattern];
    factor = factor < kMostFactor ? factor : kMostFactor;
    const float strength = static_cast<float>(of_point) * factor;
    return strength < 1.0F ? 1 : static_cast<std::uint64_t>(strength);
  }

 private:
  static constexpr float kMost = 4294967040.0F;  // the largest float below 2^32
  static constexpr float kMostFactor = 1 << 22;

  static std::uint32_t fixed(float strength) noexcept {
    if (strength <= 0.0F) return 0;
    const float units = strength < 1.0F ? 1.0F : strength;
    return static_cast<std::uint32_t>(units < kMost ? units : kMost);
  }

  std::vector<float> pattern_;        ///< [kGoPatterns], in units
  std::vector<float> response_;       ///< [kGoPatterns]
  std::vector<std::uint32_t> quiet_;  ///< [kGoPatterns], in units
  std::array<float, std::size_t{1} << kGoTacticBits> tactics_{};
  std::array<float, std::size_t{1} << kGoLastBits> last_{};
};

}  // namespace pyengine
