/// The fields of ModelSpec, each declared once: see base/fields.h.
#pragma once

#include <array>
#include <tuple>

#include "base/fields.h"
#include "eval/network/spec.h"

namespace pyengine {

template <>
struct Table<ModelSpec> {
  using S = ModelSpec;
  static constexpr const char* name = "ModelSpec";
  static constexpr std::array kLayouts{"NCHW", "NHWC"};
  static constexpr std::array kRows{"top_down", "bottom_up"};
  static constexpr std::array kPolicies{"logits", "log_probs", "probs"};
  static constexpr std::array kValueKinds{"tanh", "logits", "log_probs", "probs"};
  static constexpr std::array kPlayers{"mover", "first_player"};
  static constexpr std::array kScalar{"scalar"};
  static constexpr std::tuple fields{
      field("planes", &S::planes,
            "names of the input planes in channel order, see *Planes*. ``own[0:8]`` is short for "
            "eight planes; the spec stores ranges written out. For a user's game the default means "
            "``(\"observation\",)``."),
      field("layout", &S::layout, kLayouts,
            "order of the input's axes. If the input of a network has two dimensions, the planes "
            "are flattened in this order."),
      field("rows", &S::rows, kRows, "which board row comes first in the input."),
      field("policy_rows", &S::policy_rows, kRows, "which board row comes first in the policy."),
      field("policy", &S::policy, kPolicies, "kind of the policy output."),
      field("pass_index", &S::pass_index, kNotNegative,
            "index of the pass in the policy; None = last if the game has a pass. The other "
            "actions keep their order."),
      field("value", &S::value, kScalar,
            "one number, or the order of a 3-way head: ``(\"win\", \"draw\", \"loss\")`` in any "
            "order."),
      field("value_kind", &S::value_kind, kValueKinds,
            "kind of the value output. Scalar: ``\"tanh\"`` (already in [-1, 1]), ``\"probs\"`` "
            "(probability of a win) or ``\"logits\"`` (before tanh); 3-way: ``\"logits\"``, "
            "``\"log_probs\"`` or ``\"probs\"``. None = the first of these."),
      field("value_for", &S::value_for, kPlayers,
            "perspective of the value: the player to move, or the first player."),
      field("input", &S::input, "name of the input tensor; None = the only one."),
      field("policy_output", &S::policy_output,
            "name of the policy tensor; None = ``policy``, or else the only output of its size."),
      field("value_output", &S::value_output,
            "name of the value tensor; None = ``value``, or else the only output of its size."),
      field("ownership_output", &S::ownership_output,
            "name of the tensor [N,H,W] with the owner of each point at the end of the game: 1 = "
            "the player to move, -1 = the opponent; rows as in the input."),
      field("score_output", &S::score_output,
            "name of the tensor [N] or [N,1] with the lead of the player to move in points at the "
            "end of the game."),
  };
};

}  // namespace pyengine
