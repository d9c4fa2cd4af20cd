/// The features of the fast rollout policy of Go, and what their weights amount to.
///
///   P(move) = exp(sum of the weights of its features) / the same, summed over all moves
///
/// A linear softmax, as the rollout policy of AlphaGo [Silver et al. 2016, Extended Data Table 4].
/// A move's features are its 3x3 pattern, tactics, and what it answers to the last move.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pyengine {

/// The eight points around a point, for the player to move: two bits each (0 empty, 1 own stone,
/// 2 the opponent's, 3 off the board), the lowest for the point above on the left, then row by row.
using GoPattern = std::uint16_t;
inline constexpr std::size_t kGoPatterns = 1 << 16;

/// Bits of a set of features.
enum GoRolloutFeature : std::uint16_t {
  kCaptureStone = 1 << 0,    ///< takes one stone
  kCaptureChain = 1 << 1,    ///< takes more
  kAtari = 1 << 2,           ///< leaves a chain of the opponent with one liberty of two
  kEscape = 1 << 3,          ///< the last liberty of an own chain; no self-atari
  kSelfAtariStone = 1 << 4,  ///< a stone without friends that has one liberty; nothing is taken
  kSelfAtariChain = 1 << 5,  ///< the same with own stones beside it
  // With respect to the last move, d = dx + dy + max(dx, dy).
  kDistance2 = 1 << 6,  ///< beside it
  kDistance3 = 1 << 7,  ///< diagonal to it
  kDistance4 = 1 << 8,  ///< two points away on its line
  kDistance5 = 1 << 9,  ///< a knight's move away
  kExtend = 1 << 9,     ///< the last liberty of an own chain beside it
  kRescue = 1 << 10,    ///< takes a chain that touches such a chain
  kRetake = 1 << 11,    ///< takes the chain of the last move
  kResponse = 1 << 12,  ///< d <= 3: the pattern's weight as a response counts; has no weight itself
};
inline constexpr std::array<std::string_view, 12> kGoRolloutNames = {
    "capture_stone",    "capture_chain",    "atari",      "escape",
    "self_atari_stone", "self_atari_chain", "distance_2", "distance_3",
    "distance_4",       "extend",           "rescue",     "retake"};
inline constexpr unsigned kGoNever = ~0U;     ///< in the place of tactics: suicide
inline constexpr unsigned kGoTacticBits = 6;  ///< the first features, which the board alone decides
inline constexpr unsigned kGoLastBits = 6;    ///< those that the last move decides

/// What the player sees whose stones are 2 in the pattern: own and opponent exchanged.
[[nodiscard]] constexpr GoPattern swapped(GoPattern pattern) noexcept {
  return static_cast<GoPattern>((pattern & 0x5555U) << 1 | (pattern >> 1 & 0x5555U));
}

/// Whether the point is an eye of the player: own stones or the edge beside it, at most one stone
/// of the opponent diagonal to it, at the edge none. No playout fills it.
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

/// Weights as they are learnt and stored.
struct GoRolloutWeights {
  std::vector<float> pattern;                            ///< [kGoPatterns]
  std::vector<float> response;                           ///< [kGoPatterns], added at d <= 3
  std::array<float, kGoRolloutNames.size()> features{};  ///< in the order of kGoRolloutNames
};

/// Strengths: exponentials of sums of weights. Fixed point, so that sums over a board are kept by
/// adding and subtracting, and stay exact.
class GoRolloutStrengths {
 public:
  static constexpr float kOne = 1 << 20;  ///< units of a strength of 1

  /// Throws ModelError where a table has another size or a weight is not finite.
  explicit GoRolloutStrengths(const GoRolloutWeights& weights);

  /// Of a move by its pattern and the bits of its tactics: 0 for an eye, else 1 to 2^32 - 1 units.
  [[nodiscard]] std::uint32_t of_point(GoPattern pattern, unsigned tactics) const noexcept {
    return fixed(pattern_[pattern] * tactics_[tactics]);
  }
  /// The same of a move beside chains that have at least three liberties each: then the pattern
  /// decides on all tactics.
  [[nodiscard]] std::uint32_t of_quiet_point(GoPattern pattern) const noexcept {
    return quiet_[pattern];
  }
  /// That of a point with the features that the last move gives it, below 2^54 units.
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
