/// The settings of a search, each declared once: see base/fields.h.
#pragma once

#include <array>
#include <tuple>

#include "base/fields.h"
#include "base/types.h"
#include "search/config.h"

namespace pyengine {

template <>
struct Names<Algorithm> {
  static constexpr std::array values{"puct", "gumbel", "uct", "flat_ucb"};
};
template <>
struct Names<MoveChoice> {
  static constexpr std::array values{"visits", "mean", "lcb"};
};
template <>
struct Names<Exploration> {
  static constexpr std::array values{"standard", "alphago", "log"};
};
template <>
struct Names<FirstPlay> {
  static constexpr std::array values{"value", "parent", "reduction"};
};
template <>
struct Names<CollisionRule> {
  static constexpr std::array values{"virtual_visit", "virtual_loss"};
};
template <>
struct Names<SymmetryMode> {
  static constexpr std::array values{"none", "random", "average", "root_average", "fill"};
};

template <>
struct Table<SearchConfig> {
  using S = SearchConfig;
  static constexpr const char* name = "SearchConfig";
  static constexpr std::tuple fields{
      field("simulations", &S::simulations, between(1, 0xFFFFFFFF),
            "budget: visits added to the tree. Without any budget 800."),
      field("seconds", &S::seconds, kPositive,
            "budget: wall time. With both budgets the search ends at the first one reached."),
      field("algorithm", &S::algorithm,
            "selection rule: PUCT [AlphaZero]; Gumbel AlphaZero with sequential halving at the "
            "root; UCB1 at every node, without priors; UCB1 over the root moves, without a tree."),
      field("c_puct", &S::c_puct, kPositive,
            "weight of exploration, c(n) = c_puct + c_puct_factor * ln((1 + n + c_puct_base) / "
            "c_puct_base) [AlphaZero, pb_c_init]."),
      field("c_puct_base", &S::c_puct_base, kPositive,
            "see ``c_puct``; None makes c(n) the constant ``c_puct`` [AlphaZero, pb_c_base; "
            "AlphaGo Zero: None]."),
      field("c_puct_factor", &S::c_puct_factor, kNotNegative, "see ``c_puct`` [KataGo, lc0]."),
      field("c_puct_stdev", &S::c_puct_stdev, kShare,
            "share by which exploration scales with the standard deviation s of a node's values: "
            "times 1 + c_puct_stdev * (s / 0.4 - 1), where s is shrunk towards 0.4 [KataGo, "
            "cpuctUtilityStdevScale]. 0 = off. Only with ``algorithm=\"puct\"``; takes 8 bytes per "
            "evaluated position, and one thread if the evaluator answers immediately.")
          .added_later(),
      field("fpu", &S::fpu,
            "value of a child without visits: the constant ``fpu_value``, the value of its "
            "parent, or the value of its parent minus ``fpu_value`` * sqrt(sum of the priors of "
            "visited children) [KataGo, lc0]."),
      field("fpu_value", &S::fpu_value, between(-2, 2),
            "see ``fpu``; AlphaGo Zero: ``fpu=\"value\"``, ``fpu_value=0``."),
      field("root_c_puct", &S::root_c_puct, kPositive,
            "``c_puct`` at the root; None = as elsewhere [lc0, CPuctAtRoot]. Only with "
            "``algorithm=\"puct\"``.")
          .added_later(),
      field("root_fpu_value", &S::root_fpu_value, between(-2, 2),
            "``fpu_value`` at the root; None = as elsewhere [lc0, FpuValueAtRoot; KataGo, "
            "rootFpuReductionMax]. Only with ``algorithm=\"puct\"``.")
          .added_later(),
      field("choose", &S::choose,
            "move played at temperature 0: the most visited one (with ``algorithm=\"gumbel\"`` "
            "the winner of sequential halving), the one with the best mean value, or the one with "
            "the best lower confidence bound of its mean [KataGo, Leela Zero]. \"lcb\" keeps a "
            "search on one thread if the evaluator answers immediately."),
      field("lcb_stdevs", &S::lcb_stdevs, kNotNegative,
            "for ``choose=\"lcb\"``: the bound is q - lcb_stdevs * s / sqrt(visits), where s is "
            "the standard deviation of the values of the move's visits [KataGo, lcbStdevs].")
          .added_later(),
      field("lcb_visits", &S::lcb_visits, kShare,
            "for ``choose=\"lcb\"``: least visits of a move that may be chosen, as a share of the "
            "most visits of a move [KataGo, minVisitPropForLCB].")
          .added_later(),
      field("exploration", &S::exploration,
            "exploration term. \"alphago\" is ``c_puct`` * P / (1 + N), for "
            "``algorithm=\"puct\"`` [AlphaGo, 2016]; \"log\" is ``uct_c`` * ln(n / (1 + N)), for "
            "\"uct\" and \"flat_ucb\"."),
      field("uct_c", &S::uct_c, kNotNegative,
            "weight of exploration in UCB1, W / N + uct_c * sqrt(2 * ln(n) / N), where a win "
            "counts 1, a draw 1/2 and a loss 0 [Kocsis and Szepesvári, 2006: 1 / sqrt(2)]."),
      field("expand_probability", &S::expand_probability, Range{0, 1, true},
            "for \"uct\": probability of trying an untried move at a node that has one; otherwise "
            "the walk descends."),
      field("threads", &S::threads, between(0, 1024),
            "worker threads, including the calling thread; 0 = all cores that the process may "
            "use. With an evaluator on a device at most one per core."),
      field("batch_size", &S::batch_size, between(1, 4096),
            "rows per evaluator call [AlphaGo Zero]."),
      field("in_flight", &S::in_flight, between(1, 0xFFFF),
            "maximum number of leaves of a tree that wait for the evaluator, regardless of the "
            "number of threads; None = 2 * ``batch_size``."),
      field("collision", &S::collision,
            "effect of a leaf in flight on its path: additional visits in the exploration term, "
            "or also ``virtual_loss`` losses in Q."),
      field("virtual_loss", &S::virtual_loss, kNotNegative,
            "losses per leaf in flight, with ``collision=\"virtual_loss\"``."),
      field("symmetry", &S::symmetry,
            "board symmetries under which a leaf is evaluated: the identity; a random one; the "
            "mean over all; the mean over all at the root and a random one elsewhere; a random "
            "one, and more if a batch has free rows. Evaluators without planes ignore it."),
      field("dirichlet_alpha", &S::dirichlet_alpha, kPositive,
            "concentration of the noise in the root priors; None = 10 / legal actions "
            "[AlphaZero's scaling]."),
      field("dirichlet_fraction", &S::dirichlet_fraction, kShare,
            "share of that noise; 0 = no noise, 0.25 in self-play [AlphaGo Zero]."),
      field("dirichlet_shaped", &S::dirichlet_shaped,
            "whether half of the noise's concentration goes to moves whose log prior is above the "
            "mean, in proportion to the excess [KataGo, shaped Dirichlet noise]; otherwise it is "
            "the same for all moves. Only with ``algorithm=\"puct\"``.")
          .added_later(),
      field("root_policy_temperature", &S::root_policy_temperature, kPositive,
            "the root priors are prior ** (1 / this), normalised, before noise is added [SAI; "
            "KataGo: 1.25 falling to 1.1]; values above 1 flatten them. Only with "
            "``algorithm=\"puct\"``: ``\"gumbel\"`` derives its ``improved_policy`` from the "
            "priors, UCB1 has none.")
          .added_later(),
      field("temperature", &S::temperature, kNotNegative,
            "move selection: probabilities are visits ** (1 / temperature), normalised, or "
            "improved_policy ** (1 / temperature) with ``algorithm=\"gumbel\"``; proven losses "
            "have probability 0, a proven win is played. 0 = the move that ``choose`` selects, "
            "with \"gumbel\" the winner of sequential halving."),
      field("draw_value", &S::draw_value, between(-1, 1),
            "value of a draw for the player to move at the root; the opponent gets the negative "
            "[contempt]. Applies to games that end in a draw, to proven draws, to playouts, and to "
            "the probability of a draw of a network with a 3-way value. Proofs are unaffected. Not "
            "for self-play.")
          .added_later(),
      field("stop_when_decided", &S::stop_when_decided,
            "whether the search ends early when no other root move can get as many visits within "
            "the budget, or only one move is legal; time left is converted by the rate so far. "
            "With \"gumbel\", ``choose`` other than visits or a temperature, only a single legal "
            "move ends it. Not for self-play.")
          .added_later(),
      field("graph", &S::graph,
            "whether nodes that are the same position share statistics; None = the default of the "
            "game. For ``algorithm=\"puct\"`` and games with a transposition key. ``visits`` and "
            "policy targets then count visits of moves, ``nodes`` counts positions.")
          .added_later(),
      field("graph_history", &S::graph_history, between(0, 7),
            "earlier boards in which positions must agree to be the same in a graph, for networks "
            "that read them. Not for users' games.")
          .added_later(),
      field("reuse_tree", &S::reuse_tree,
            "whether a search continues the tree of the previous one."),
      field("cache_entries", &S::cache_entries, between(0, 4294967296.0),
            "evaluations in the engine's cache; 0 = no cache. As an argument of a search, 0 = the "
            "cache is not read."),
      field("memory_limit", &S::memory_limit, at_least(kLeastMemory),
            "hard limit in bytes on trees, cache and batches. At the limit a search continues "
            "without adding nodes."),
      field("solver", &S::solver, "whether proven wins, losses and draws are backed up as such."),
      field("deterministic", &S::deterministic,
            "identical results for identical calls on a new engine with any number of threads, on "
            "the same machine and provider, with budgets in simulations."),
      field("seed", &S::seed, kAnyNumber,
            "the only source of randomness; the k-th search of an engine uses the stream (seed, "
            "k). With several threads, results still vary between runs unless ``deterministic``."),
      field("endgame_solver_empties", &S::endgame_solver_empties, between(0, 64),
            "leaves with at most this many empty points are solved exactly by alpha-beta instead "
            "of evaluated; 0 = off. Not for Go and user games. Each worker has a table of 1 MiB "
            "outside ``memory_limit``."),
      field("gumbel_actions", &S::gumbel_actions, between(1, kMaxActions),
            "for \"gumbel\": number of root moves that are sampled and compared [mctx, "
            "max_num_considered_actions]."),
      field("gumbel_c_visit", &S::gumbel_c_visit, kNotNegative,
            "for \"gumbel\" and ``improved_policy`` [mctx, maxvisit_init]."),
      field("gumbel_c_scale", &S::gumbel_c_scale, kNotNegative,
            "for \"gumbel\" and ``improved_policy`` [mctx, value_scale]."),
      field("gumbel_noise", &S::gumbel_noise,
            "for \"gumbel\": whether the root moves are sampled, for self-play; otherwise the "
            "moves with the largest priors are compared, which plays better."),
  };
};

}  // namespace pyengine
