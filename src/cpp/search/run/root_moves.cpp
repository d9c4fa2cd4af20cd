#include "search/run/root_moves.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/error.h"

namespace pyengine {
namespace {

/// The actions as legal moves, ascending and without repetitions.
std::vector<ActionId> legal_moves(const char* argument, const State& state, const ActionList& legal,
                                  const std::vector<Action>& actions) {
  std::vector<ActionId> moves;
  for (const Action action : actions) {
    if (!std::binary_search(legal.begin(), legal.end(), action)) {
      throw IllegalActionError(std::string(argument) + ": " + state.why_illegal(action));
    }
    moves.push_back(static_cast<ActionId>(action));
  }
  std::sort(moves.begin(), moves.end());
  moves.erase(std::unique(moves.begin(), moves.end()), moves.end());
  return moves;
}

}  // namespace

std::vector<ActionId> considered_moves(const State& state, const RootMoves& moves) {
  if (!moves.allow && moves.avoid.empty()) return {};
  ActionList legal;
  state.position().legal_actions(legal);
  state.position().rethrow_if_failed();
  std::vector<ActionId> allowed(legal.begin(), legal.end());
  if (moves.allow) allowed = legal_moves("allow", state, legal, *moves.allow);
  const std::vector<ActionId> avoided = legal_moves("avoid", state, legal, moves.avoid);
  std::erase_if(allowed, [&](ActionId action) {
    return std::binary_search(avoided.begin(), avoided.end(), action);
  });
  if (allowed.empty()) throw ConfigError("allow, avoid: expected at least one move to search");
  if (static_cast<int>(allowed.size()) == legal.size()) return {};
  return allowed;
}

EvalLeaf restricted_to(std::span<const ActionId> moves, const EvalLeaf& leaf) {
  EvalLeaf rest;
  rest.to_move = leaf.to_move;
  rest.value = leaf.value;
  rest.equal_priors = leaf.equal_priors;
  for (const ActionId action : moves) rest.legal.push_back(action);
  if (rest.equal_priors) return rest;
  for (int i = 0; i < leaf.legal.size(); ++i) {
    if (!std::binary_search(moves.begin(), moves.end(), leaf.legal[i])) continue;
    rest.priors.push_back(leaf.priors[static_cast<std::size_t>(i)]);
  }
  const float sum = std::accumulate(rest.priors.begin(), rest.priors.end(), 0.0F);
  rest.equal_priors = sum <= 0.0F;
  for (float& prior : rest.priors) prior /= sum;
  return rest;
}

}  // namespace pyengine
