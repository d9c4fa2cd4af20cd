#include "eval/network/spec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "base/error.h"
#include "base/text.h"
#include "eval/network/gomoku_features.h"
#include "eval/network/spec_fields.h"

namespace pyengine {
namespace {

/// The index in brackets after a plane's name.
enum class Suffix : std::uint8_t { none, plies, liberties };

struct PlaneName {
  std::string_view name;
  PlaneKind kind;
  Suffix suffix;
};

constexpr std::array<PlaneName, 17> kPlaneNames = {{
    {"own", PlaneKind::own, Suffix::plies},
    {"opp", PlaneKind::opp, Suffix::plies},
    {"first", PlaneKind::first, Suffix::plies},
    {"second", PlaneKind::second, Suffix::plies},
    {"last", PlaneKind::last, Suffix::plies},
    {"liberties", PlaneKind::liberties, Suffix::liberties},
    {"empty", PlaneKind::empty, Suffix::none},
    {"first_to_move", PlaneKind::first_to_move, Suffix::none},
    {"second_to_move", PlaneKind::second_to_move, Suffix::none},
    {"mover_sign", PlaneKind::mover_sign, Suffix::none},
    {"ones", PlaneKind::ones, Suffix::none},
    {"zeros", PlaneKind::zeros, Suffix::none},
    {"legal", PlaneKind::legal, Suffix::none},
    {"own_area", PlaneKind::own_area, Suffix::none},
    {"opp_area", PlaneKind::opp_area, Suffix::none},
    {"ko", PlaneKind::ko, Suffix::none},
    {"observation", PlaneKind::observation, Suffix::none},
}};

template <class Names>
std::string joined(const Names& names) {
  std::string text;
  for (const auto& name : names)
    text.append(text.empty() ? "" : ", ").append(in_quotes(name, '\''));
  return text;
}

/// Shorter than elsewhere, since the message also lists all planes.
constexpr std::size_t kMostOfName = 60;
constexpr int kMaxLiberties = 19 * 19;

[[noreturn]] void refuse_plane(std::string_view name, const std::string& why) {
  throw ConfigError("planes: '" + both_ends(name, kMostOfName) + "' " + why);
}

/// Reads a non-negative integer from the front of `text`; returns -1 if there is none.
int take_number(std::string_view& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

struct Bracket {
  int low = 0;
  int high = 0;  ///< one past the last
  bool or_more = false;
};

/// Parses "[3]", "[0:8]" or "[4+]".
Bracket parse_bracket(std::string_view name, std::string_view text, Suffix suffix) {
  const int lowest = suffix == Suffix::liberties ? 1 : 0;
  const int highest = suffix == Suffix::liberties ? kMaxLiberties : kMaxPlyPlanes - 1;
  const std::string expected =
      "must end in [i] or a range [from:to], i = " + std::to_string(lowest) + " to " +
      std::to_string(highest);
  Bracket bracket;
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') refuse_plane(name, expected);
  text.remove_prefix(1);
  text.remove_suffix(1);
  bracket.low = take_number(text);
  bracket.high = bracket.low + 1;
  if (text == "+" && suffix == Suffix::liberties) {
    bracket.or_more = true;
    text.remove_prefix(1);
  } else if (text.starts_with(":")) {
    text.remove_prefix(1);
    bracket.high = take_number(text);
  }
  if (!text.empty() || bracket.low < lowest || bracket.high <= bracket.low ||
      bracket.high > highest + 1) {
    refuse_plane(name, expected);
  }
  return bracket;
}

std::string listed_planes() {
  std::string text;
  for (const PlaneName& plane : kPlaneNames) {
    text += plane.name;
    if (plane.suffix == Suffix::liberties) text.append("[k], ").append(plane.name).append("[k+]");
    if (plane.suffix == Suffix::plies) text += "[t]";
    text += ", ";
  }
  return text + "gomoku_*";
}

void parse_plane(const std::string& name, std::vector<Plane>& planes) {
  const auto gomoku = std::find(kGomokuFeatureNames.begin(), kGomokuFeatureNames.end(), name);
  if (gomoku != kGomokuFeatureNames.end()) {
    planes.push_back(
        {PlaneKind::gomoku, static_cast<int>(gomoku - kGomokuFeatureNames.begin()), false});
    return;
  }
  const std::string_view stem = std::string_view(name).substr(0, name.find('['));
  const auto known = std::find_if(kPlaneNames.begin(), kPlaneNames.end(),
                                  [&](const PlaneName& plane) { return plane.name == stem; });
  if (known == kPlaneNames.end()) {
    refuse_plane(name, "is not a plane; the planes are " + listed_planes());
  }
  const std::string_view rest = std::string_view(name).substr(stem.size());
  if (known->suffix == Suffix::none) {
    if (!rest.empty()) refuse_plane(name, "takes no index");
    planes.push_back({known->kind, 0, false});
    return;
  }
  const Bracket bracket = parse_bracket(name, rest, known->suffix);
  for (int i = bracket.low; i < bracket.high; ++i) {
    planes.push_back({known->kind, i, bracket.or_more});
  }
}

void check_value(const ModelSpec& spec) {
  std::vector<std::string> sorted = spec.value;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != std::vector<std::string>{"scalar"} &&
      sorted != std::vector<std::string>{"draw", "loss", "win"}) {
    throw ConfigError(refusal("value", "'scalar', or 'win', 'draw' and 'loss' in any order",
                              both_ends(joined(spec.value), kMostQuoted)));
  }
  if (spec.value_kind == (spec.scalar_value() ? "log_probs" : "tanh")) {
    throw ConfigError(refusal("value_kind",
                              spec.scalar_value()
                                  ? "'tanh', 'probs' or 'logits' for a scalar value"
                                  : "'logits', 'log_probs' or 'probs' for a 3-way value",
                              in_quotes(*spec.value_kind, '\'')));
  }
}

std::string history(std::string_view name, int t) {
  return std::string(name) + "[" + std::to_string(t) + "]";
}

[[noreturn]] void ambiguous(const std::string& what, std::span<const TensorInfo> inputs,
                            std::span<const TensorInfo> outputs) {
  throw ModelError("the model has no spec, and its shapes leave " + what + ": inputs " +
                   to_string(inputs) + "; outputs " + to_string(outputs) +
                   ". Give spec=ModelSpec(...), a metadata entry 'pyengine.spec', or a file "
                   "MODEL.spec.json beside it");
}

/// Whether an output may be the policy of a board: one number per point, with or without a pass, or
/// one per column. A negative size is not fixed.
bool may_be_policy(const TensorInfo& output, std::int64_t rows, std::int64_t columns) {
  const std::int64_t size = row_size(output);
  if (rows < 0 || columns < 0 || size < 0) return true;
  return size == rows * columns || size == rows * columns + 1 || size == columns;
}

/// Whether infer_spec() supports these planes: two or three of them, and a policy of this board.
bool readable(std::int64_t planes, std::int64_t rows, std::int64_t columns,
              std::span<const TensorInfo> outputs) {
  if (planes != 2 && planes != 3) return false;
  return std::any_of(outputs.begin(), outputs.end(), [&](const TensorInfo& output) {
    return may_be_policy(output, rows, columns);
  });
}

/// The only output that `fits`; nullopt if an output has the `usual` name or several fit.
template <class Fits>
std::optional<std::string> only_output(std::span<const TensorInfo> outputs, std::string_view usual,
                                       Fits fits) {
  const TensorInfo* only = nullptr;
  for (const TensorInfo& output : outputs) {
    if (output.name == usual) return std::nullopt;
    if (!fits(output)) continue;
    if (only != nullptr) return std::nullopt;
    only = &output;
  }
  return only == nullptr ? std::nullopt : std::optional(only->name);
}

}  // namespace

std::string ModelSpec::kind_of_value() const {
  return value_kind.value_or(scalar_value() ? "tanh" : "logits");
}

void validate(const ModelSpec& spec) {
  if (parse_planes(spec.planes).empty()) {
    throw ConfigError(refusal("planes", "at least one plane", "none"));
  }
  check_fields(spec);
  check_value(spec);
  if (spec.score_output && spec.score_output == spec.ownership_output) {
    throw ConfigError(refusal("score_output", "another tensor than ownership_output",
                              in_quotes(*spec.score_output, '\'')));
  }
}

void settle(ModelSpec& spec) {
  validate(spec);
  std::vector<std::string> names;
  for (const Plane& plane : parse_planes(spec.planes)) names.push_back(to_string(plane));
  spec.planes = std::move(names);
}

std::vector<Plane> parse_planes(std::span<const std::string> names) {
  std::vector<Plane> planes;
  for (const std::string& name : names) parse_plane(name, planes);
  return planes;
}

std::string to_string(const Plane& plane) {
  if (plane.kind == PlaneKind::gomoku) {
    return std::string(kGomokuFeatureNames[static_cast<std::size_t>(plane.index)]);
  }
  const auto known = std::find_if(kPlaneNames.begin(), kPlaneNames.end(),
                                  [&](const PlaneName& name) { return name.kind == plane.kind; });
  std::string text(known->name);
  if (known->suffix != Suffix::none) {
    text.append("[").append(std::to_string(plane.index)).append(plane.or_more ? "+]" : "]");
  }
  return text;
}

ModelSpec alphago_zero_spec() {
  ModelSpec spec;
  spec.planes.clear();
  for (int t = 0; t < kMaxPlyPlanes; ++t) {
    spec.planes.push_back(history("own", t));
    spec.planes.push_back(history("opp", t));
  }
  spec.planes.emplace_back("first_to_move");
  return spec;
}

ModelSpec leela_zero_spec() {
  ModelSpec spec;
  spec.planes = {"own[0:8]", "opp[0:8]", "first_to_move", "second_to_move"};
  spec.rows = "bottom_up";
  spec.policy_rows = "bottom_up";
  return spec;
}

ModelSpec gomoku17_spec() {
  ModelSpec spec;
  spec.planes.assign(kGomokuFeatureNames.begin(), kGomokuFeatureNames.end());
  return spec;
}

std::string type_name(int type) {
  static constexpr std::string_view kNames[] = {
      "no tensor", "float32", "uint8",     "int8",       "uint16",  "int16",
      "int32",     "int64",   "string",    "bool",       "float16", "float64",
      "uint32",    "uint64",  "complex64", "complex128", "bfloat16"};
  if (type < 0 || type >= static_cast<int>(std::size(kNames)))
    return "type " + std::to_string(type);
  return std::string(kNames[type]);
}

std::string to_string(const TensorInfo& tensor) {
  std::string text = tensor.name;
  text.append(" ").append(type_name(tensor.type)).append("[");
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    if (i > 0) text.append(",");
    text.append(tensor.shape[i] < 0 ? "N" : std::to_string(tensor.shape[i]));
  }
  return text.append("]");
}

std::string to_string(std::span<const TensorInfo> tensors) {
  if (tensors.empty()) return "none";
  std::string text;
  for (const TensorInfo& tensor : tensors) {
    if (!text.empty()) text.append(", ");
    text.append(to_string(tensor));
  }
  return text;
}

std::int64_t row_size(const TensorInfo& tensor) {
  std::int64_t size = 1;
  for (std::size_t i = 1; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] < 0) return -1;
    size *= tensor.shape[i];
  }
  return size;
}

ModelSpec infer_spec(std::span<const TensorInfo> inputs, std::span<const TensorInfo> outputs) {
  if (inputs.size() != 1) ambiguous("open which input takes the planes", inputs, outputs);
  const std::vector<std::int64_t>& shape = inputs[0].shape;
  if (shape.size() != 4)
    ambiguous("open what the input is (four dimensions are read)", inputs, outputs);
  const bool first = readable(shape[1], shape[2], shape[3], outputs);
  const bool last = readable(shape[3], shape[1], shape[2], outputs);
  if (first && last) ambiguous("ambiguous: planes may come first or last", inputs, outputs);
  if (!first && !last) ambiguous("open what the planes show", inputs, outputs);
  const auto named = std::find_if(outputs.begin(), outputs.end(),
                                  [](const TensorInfo& t) { return t.name == "value"; });
  const auto scalars =
      std::count_if(outputs.begin(), outputs.end(), [](const auto& t) { return row_size(t) == 1; });
  if (named == outputs.end() ? scalars != 1 : row_size(*named) != 1) {
    ambiguous("open which output is the value, or the order of its parts", inputs, outputs);
  }
  ModelSpec spec;
  spec.layout = first ? "NCHW" : "NHWC";
  if ((first ? shape[1] : shape[3]) == 2) spec.planes.pop_back();
  spec.value_output =
      only_output(outputs, "value", [](const TensorInfo& output) { return row_size(output) == 1; });
  spec.policy_output = only_output(outputs, "policy", [&](const TensorInfo& output) {
    return output.name != "value" && output.name != spec.value_output &&
        may_be_policy(output, first ? shape[2] : shape[1], first ? shape[3] : shape[2]);
  });
  return spec;
}

}  // namespace pyengine
