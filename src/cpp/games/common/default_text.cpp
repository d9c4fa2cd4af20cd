#include "games/common/default_text.h"

#include "games/common/grid_text.h"

namespace pyengine {
namespace {

GridNames names_of(const GameShape& shape) {
  return {.rows = shape.rows, .columns = shape.columns};
}

Status status_of(const std::optional<Outcome>& outcome) {
  if (!outcome) return Status::playing;
  return outcome->first == 0.0F ? Status::draw : won_by(outcome->first > 0.0F ? 0 : 1);
}

}  // namespace

std::string default_action_name(const GameShape& shape, Action action) {
  if (action == shape.pass) return "pass";
  if (action < shape.rows * shape.columns) return point_name(names_of(shape), action);
  return "#" + std::to_string(action);
}

Action default_action_named(const GameShape& shape, std::string_view text) {
  if (shape.pass != kNoAction && same_word(text, "pass")) return shape.pass;
  if (text.starts_with('#')) {
    const Action action = small_number(text.substr(1), shape.num_actions - 1);
    return action >= shape.rows * shape.columns ? action : kNoAction;
  }
  const Action point = point_named(names_of(shape), text);
  return point < shape.num_actions ? point : kNoAction;
}

std::string default_text(const GameShape& shape, const BoardBits& first, const BoardBits& second,
                         const std::optional<Outcome>& outcome, int to_move) {
  return board_text(names_of(shape), first, second) + turn_text(status_of(outcome), to_move);
}

}  // namespace pyengine
