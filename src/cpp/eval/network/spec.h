/// ModelSpec: how a network reads a position and what its outputs mean.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pyengine {

/// The content of a plane. `own` are the stones of the player to move, `opp` the opponent's.
enum class PlaneKind : std::uint8_t {
  own,
  opp,
  first,
  second,
  empty,           ///< points without a stone now
  last,            ///< a single 1 at the point of the move; in Connect Four where the stone landed
  first_to_move,   ///< all 1 or all 0
  second_to_move,  ///< all 1 or all 0
  mover_sign,      ///< all +1 for the first player, all -1 for the second
  ones,
  zeros,
  legal,        ///< points where a stone may be placed; in Connect Four where it would land
  liberties,    ///< Go: stones of chains with exactly k liberties, or at least k
  own_area,     ///< Go: the area of the player to move if the game ended now
  opp_area,     ///< Go: the opponent's area
  ko,           ///< Go: the point that the ko rule forbids now
  observation,  ///< all planes of a user-defined game
  gomoku,       ///< a feature of gomoku_features.h
};

/// A plane of the input. "observation" stands for all planes of the game.
struct Plane {
  PlaneKind kind = PlaneKind::zeros;
  int index = 0;         ///< plies ago, number of liberties or GomokuFeature
  bool or_more = false;  ///< liberties[k+]
  friend bool operator==(const Plane&, const Plane&) = default;
};

/// Plies of history that own, opp, first, second and last can show: t = 0..7.
inline constexpr int kMaxPlyPlanes = 8;

/// "scalar", or "win", "draw" and "loss" in the order of the output.
struct ValueParts : std::vector<std::string> {
  using std::vector<std::string>::vector;
};

/// The meaning and the accepted values of each field: spec_fields.h.
struct ModelSpec {
  std::vector<std::string> planes = {"own[0]", "opp[0]", "first_to_move"};
  std::string layout = "NCHW";
  std::string rows = "top_down";
  std::string policy_rows = "top_down";
  std::string policy = "logits";
  std::optional<int> pass_index;
  ValueParts value = {"scalar"};
  std::optional<std::string> value_kind;  ///< see kind_of_value()
  std::string value_for = "mover";
  std::optional<std::string> input;
  std::optional<std::string> policy_output;
  std::optional<std::string> value_output;
  std::optional<std::string> ownership_output;
  std::optional<std::string> score_output;
  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;

  [[nodiscard]] bool scalar_value() const { return value.size() == 1; }
  /// value_kind with its default filled in.
  [[nodiscard]] std::string kind_of_value() const;
  [[nodiscard]] bool has_default_planes() const { return planes == ModelSpec{}.planes; }
};

/// Throws ConfigError naming the first invalid field.
void validate(const ModelSpec& spec);
/// Validates the spec and writes out ranges of planes.
void settle(ModelSpec& spec);

/// Expands ranges. Throws ConfigError naming an unknown plane.
std::vector<Plane> parse_planes(std::span<const std::string> names);
/// The inverse of parse_planes() for a single plane.
std::string to_string(const Plane& plane);

/// AlphaGo Zero (Silver et al., 2017): own[t], opp[t] interleaved for t = 0..7, first_to_move.
ModelSpec alphago_zero_spec();
/// Leela Zero: own[0:8], opp[0:8], first_to_move, second_to_move; the bottom row first.
ModelSpec leela_zero_spec();
/// The 17 features of gomoku_features.h.
ModelSpec gomoku17_spec();

/// The declaration of a tensor in a model file.
struct TensorInfo {
  std::string name;
  int type = 0;                     ///< ONNX element type: 1 float32, 10 float16
  std::vector<std::int64_t> shape;  ///< -1 = any size
};
/// The name of an ONNX element type (TensorProto.DataType): "int64".
std::string type_name(int type);
/// "planes float32[N,3,9,9]"
std::string to_string(const TensorInfo& tensor);
std::string to_string(std::span<const TensorInfo> tensors);
/// Elements per row of the batch; -1 if the size of a dimension is not fixed.
std::int64_t row_size(const TensorInfo& tensor);

/// Infers the spec of a model without one from its shapes: two or three planes (own, opp and
/// first_to_move) and a scalar value. Sets the names of outputs that are not "policy" and "value".
/// Throws ModelError listing the tensors if the shapes are ambiguous.
ModelSpec infer_spec(std::span<const TensorInfo> inputs, std::span<const TensorInfo> outputs);

}  // namespace pyengine
