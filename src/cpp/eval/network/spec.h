/// ModelSpec: how a network reads a position and what its outputs mean.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pyengine {

/// What a plane shows. Stones are those of the player to move (own), of the other one (opp), of the
/// first and of the second player.
enum class PlaneKind : std::uint8_t {
  own,
  opp,
  first,
  second,
  empty,           ///< points without a stone now
  last,            ///< a single 1 where the move was made; a drop in its column lands on top
  first_to_move,   ///< all 1 or all 0
  second_to_move,  ///< all 1 or all 0
  mover_sign,      ///< all +1 for the first player, all -1 for the second
  ones,
  zeros,
  legal,        ///< points where a stone may be put; a column's is where the stone would land
  liberties,    ///< Go: stones of chains with exactly k liberties, or at least k
  own_area,     ///< Go: points that would be the mover's if the game ended now
  opp_area,     ///< the other player's
  ko,           ///< Go: the point that the ko rule forbids now
  observation,  ///< all planes of a user's game
  gomoku,       ///< a feature of gomoku_features.h
};

/// A plane of the input; one "observation" stands for as many as the game has.
struct Plane {
  PlaneKind kind = PlaneKind::zeros;
  int index = 0;         ///< plies ago; k of liberties; GomokuFeature
  bool or_more = false;  ///< liberties[k+]
  friend bool operator==(const Plane&, const Plane&) = default;
};

/// Plies back that own, opp, first, second and last reach: t = 0..7.
inline constexpr int kMaxPlyPlanes = 8;

/// Text fields hold the words of the Python API; validate() refuses others.
struct ModelSpec {
  /// Names in channel order; "own[0:8]" is a range. See parse_planes().
  std::vector<std::string> planes = {"own[0]", "opp[0]", "first_to_move"};
  std::string layout = "NCHW";           ///< or NHWC
  std::string rows = "top_down";         ///< of the input; or bottom_up
  std::string policy_rows = "top_down";  ///< of the policy; or bottom_up
  std::string policy = "logits";         ///< or log_probs, probs
  std::optional<int> pass_index;         ///< of the policy; nullopt = last when the game has a pass
  std::vector<std::string> value = {"scalar"};  ///< or win, draw, loss in any order
  std::string value_kind;  ///< scalar: tanh, probs, logits; 3-way: logits, log_probs, probs;
                           ///< empty = the first
  std::string value_for = "mover";  ///< or first_player
  std::string input;                ///< tensor names; empty = not told
  std::string policy_output;
  std::string value_output;
  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;

  [[nodiscard]] bool scalar_value() const { return value.size() == 1; }
  /// value_kind with its default filled in.
  [[nodiscard]] std::string kind_of_value() const;
  [[nodiscard]] bool has_default_planes() const { return planes == ModelSpec{}.planes; }
  /// Throws ConfigError naming the field, what was expected and what was found.
  void validate() const;
};

/// The planes with ranges written out; throws ConfigError naming the plane.
std::vector<Plane> parse_planes(std::span<const std::string> names);
/// The name of one plane, read back by parse_planes().
std::string to_string(const Plane& plane);

/// AlphaGo Zero (Silver et al., 2017): own[t], opp[t] interleaved for t = 0..7, first_to_move.
ModelSpec alphago_zero_spec();
/// Leela Zero: own[0:8], opp[0:8], first_to_move, second_to_move; the bottom row first.
ModelSpec leela_zero_spec();
/// The 17 hand-made features of gomoku_features.h.
ModelSpec gomoku17_spec();

/// A tensor of a model file as it is declared.
struct TensorInfo {
  std::string name;
  int type = 0;                     ///< ONNX element type: 1 float32, 10 float16
  std::vector<std::int64_t> shape;  ///< -1 where it is free
};
/// The word for an ONNX element type (TensorProto.DataType): "int64".
std::string type_name(int type);
/// "planes float32[N,3,9,9]"
std::string to_string(const TensorInfo& tensor);
std::string to_string(std::span<const TensorInfo> tensors);
/// Numbers in a row of the tensor; -1 when a dimension beyond the batch is free.
std::int64_t row_size(const TensorInfo& tensor);

/// The spec of a model that says nothing of itself, when the shapes leave one reading: two or three
/// planes (own, opp and first_to_move) and a scalar value. It names the outputs that have other
/// names than usual. Throws ModelError listing what was seen.
ModelSpec infer_spec(std::span<const TensorInfo> inputs, std::span<const TensorInfo> outputs);

}  // namespace pyengine
