#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "eval/network/spec.h"

using namespace pyengine;

namespace {

/// The message of validate(), or "".
std::string complaint(const ModelSpec& spec) {
  try {
    validate(spec);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

ModelSpec spec_of(std::vector<std::string> planes) {
  ModelSpec spec;
  spec.planes = std::move(planes);
  return spec;
}

bool names(const std::string& message, const std::string& word) {
  return message.find(word) != std::string::npos;
}

}  // namespace

TEST_CASE("a range of planes is expanded in order") {
  const std::vector<std::string> names = {"own[0:3]", "opp[2]", "liberties[4+]", "own_area", "ko"};
  std::string written;
  for (const Plane& plane : parse_planes(names)) written += to_string(plane) + " ";
  CHECK(written == "own[0] own[1] own[2] opp[2] liberties[4+] own_area ko ");
}

TEST_CASE("the presets have 17, 18 and 17 planes, and their names can be parsed") {
  const auto count = [](const ModelSpec& spec) {
    const auto planes = parse_planes(spec.planes);
    for (const Plane& plane : planes) {
      const std::vector<std::string> name = {to_string(plane)};
      CHECK(parse_planes(name) == std::vector<Plane>{plane});
    }
    return planes.size();
  };
  CHECK(count(alphago_zero_spec()) == 17);
  CHECK(count(leela_zero_spec()) == 18);
  CHECK(count(gomoku17_spec()) == 17);
}

TEST_CASE("the default value kind is tanh, or logits for a 3-way head") {
  CHECK(complaint({}).empty());
  CHECK(ModelSpec{}.kind_of_value() == "tanh");
  ModelSpec spec;
  spec.value = {"draw", "loss", "win"};
  CHECK(complaint(spec).empty());
  CHECK(spec.kind_of_value() == "logits");
}

TEST_CASE("an unknown plane or ply is refused by name") {
  for (const char* bad : {"mine", "own", "own[8]", "own[-1]", "own[0:9]", "own[3:3]", "own[1",
                          "own[a]", "own[0+]", "ones[0]", "liberties[0]", "liberties[1:2+]", ""}) {
    CAPTURE(bad);
    CHECK(names(complaint(spec_of({"own[0]", bad})), std::string("'") + bad + "'"));
  }
  CHECK(names(complaint(spec_of({})), "planes"));
}

TEST_CASE("the error of an unknown plane lists all planes") {
  const std::string message = complaint(spec_of({"mine"}));
  CHECK(names(message, "own[t], "));
  CHECK(names(message, "liberties[k], liberties[k+], empty, "));
  CHECK(names(message, "gomoku_*"));
  CHECK_FALSE(names(message, "liberties[t]"));
}

TEST_CASE("an error names the invalid field") {
  const auto refused = [](const std::string& field, auto change) {
    ModelSpec spec;
    change(spec);
    return names(complaint(spec), field);
  };
  CHECK(refused("layout", [](ModelSpec& s) { s.layout = "CHW"; }));
  CHECK(refused("rows", [](ModelSpec& s) { s.rows = "up"; }));
  CHECK(refused("policy_rows", [](ModelSpec& s) { s.policy_rows = "up"; }));
  CHECK(refused("policy", [](ModelSpec& s) { s.policy = "softmax"; }));
  CHECK(refused("pass_index", [](ModelSpec& s) { s.pass_index = -1; }));
  CHECK(refused("value", [](ModelSpec& s) { s.value = {"win", "loss"}; }));
  CHECK(refused("value_kind", [](ModelSpec& s) { s.value_kind = "log_probs"; }));
  CHECK(refused("value_for", [](ModelSpec& s) { s.value_for = "second_player"; }));
}

TEST_CASE("a spec is inferred from unambiguous shapes") {
  const std::vector<TensorInfo> outputs = {{"policy", 1, {-1, 82}}, {"value", 1, {-1, 1}}};
  const std::vector<TensorInfo> three = {{"x", 1, {-1, 3, 9, 9}}};
  CHECK(infer_spec(three, outputs) == ModelSpec{});
  const std::vector<TensorInfo> two = {{"x", 1, {-1, 9, 9, 2}}};
  ModelSpec expected = spec_of({"own[0]", "opp[0]"});
  expected.layout = "NHWC";
  CHECK(infer_spec(two, outputs) == expected);
}

TEST_CASE("output names are inferred if only one output fits") {
  const std::vector<TensorInfo> planes = {{"x", 1, {-1, 3, 9, 9}}};
  std::vector<TensorInfo> outputs = {{"v", 1, {-1, 1}}, {"p", 1, {-1, 82}}};
  ModelSpec expected;
  expected.value_output = "v";
  expected.policy_output = "p";
  CHECK(infer_spec(planes, outputs) == expected);
  outputs.push_back({"other", 1, {-1, 81}});
  expected.policy_output.reset();
  CHECK(infer_spec(planes, outputs) == expected);
}

TEST_CASE("ambiguous shapes are refused with a list of tensors") {
  const std::vector<TensorInfo> outputs = {{"policy", 1, {-1, 9}}, {"value", 1, {-1, 1}}};
  const std::vector<TensorInfo> three_way = {{"policy", 1, {-1, 9}}, {"value", 1, {-1, 3}}};
  const auto refused = [](const std::vector<TensorInfo>& inputs, const auto& outs) {
    try {
      static_cast<void>(infer_spec(inputs, outs));
    } catch (const ModelError& error) {
      return names(error.what(), to_string(inputs)) && names(error.what(), to_string(outs));
    }
    return false;
  };
  using Inputs = std::vector<TensorInfo>;
  CHECK(refused(Inputs{{"x", 1, {-1, 3, 3, 3}}}, outputs));   // planes first or last?
  CHECK(refused(Inputs{{"x", 1, {-1, 17, 3, 3}}}, outputs));  // what are 17 planes?
  CHECK(refused(Inputs{{"x", 1, {-1, 7, 3, 3}}}, outputs));   // a 7x3 board does not have 9 actions
  CHECK(refused(Inputs{{"x", 1, {-1, 27}}}, outputs));
  CHECK(refused(Inputs{{"x", 1, {-1, 2, 3, 3}}, {"y", 1, {-1, 1}}}, outputs));
  CHECK(refused(Inputs{{"x", 1, {-1, 2, 3, 3}}}, three_way));  // in which order?
}
