/// Builds kernels from the rules of one instruction set. Included like othello_last.h.
#pragma once

#include <cstdint>

#include "exact/alphabeta/othello_few.h"
#include "exact/alphabeta/othello_kernels.h"
#include "exact/alphabeta/othello_probe.h"

namespace pyengine::othello {
namespace {

template <class B>
PYENGINE_WITH_TARGET int solve_few_with(Board board, int alpha, int beta,
                                        std::uint64_t& nodes) noexcept {
  FewEmpties<B> search;
  const int score = search.solve(board, alpha, beta);
  nodes += search.nodes();
  return score;
}

template <class B>
PYENGINE_WITH_TARGET int list_children_with(Board board, int depth, Child* children,
                                            std::uint64_t& nodes) noexcept {
  Probe<B> probe;
  const int size = probe.list(board, depth, children);
  nodes += probe.nodes();
  return size;
}

template <class B>
PYENGINE_WITH_TARGET int estimate_with(Board board) noexcept {
  return Probe<B>::estimate(board);
}

template <class B>
constexpr Kernels kernels_of(const char* name) noexcept {
  return {name, &solve_few_with<B>, &list_children_with<B>, &estimate_with<B>};
}

}  // namespace
}  // namespace pyengine::othello
