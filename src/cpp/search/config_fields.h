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
  static constexpr std::array values{"visits", "mean"};
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
            "budget: visits added to the tree. With neither budget 800."),
      field("seconds", &S::seconds, kPositive,
            "budget: wall time; alone it is the only limit. With both budgets the search ends at "
            "whichever is reached first."),
      field("algorithm", &S::algorithm,
            "the rule that selects a child: PUCT [AlphaZero]; Gumbel AlphaZero with sequential "
            "halving at the root; UCB1 at every node, without priors; UCB1 among the moves of the "
            "root, without a tree."),
      field("c_puct", &S::c_puct, kPositive,
            "weight of exploration, c(n) = c_puct + c_puct_factor * ln((1 + n + c_puct_base) / "
            "c_puct_base) [AlphaZero, pb_c_init]."),
      field("c_puct_base", &S::c_puct_base, kPositive,
            "see ``c_puct``; None makes c(n) the constant ``c_puct`` [AlphaZero, pb_c_base; "
            "AlphaGo Zero: None]."),
      field("c_puct_factor", &S::c_puct_factor, kNotNegative, "see ``c_puct`` [KataGo, lc0]."),
      field("fpu", &S::fpu,
            "value of a child without visits: the constant ``fpu_value``, the value of its parent, "
            "or the value of its parent minus ``fpu_value`` * sqrt(sum of the priors of visited "
            "children) [KataGo, lc0]."),
      field("fpu_value", &S::fpu_value, between(-2, 2),
            "see ``fpu``; AlphaGo Zero: ``fpu=\"value\"``, ``fpu_value=0``."),
      field("choose", &S::choose,
            "the move played at temperature 0: the one with most visits (with "
            "``algorithm=\"gumbel\"`` the winner of sequential halving), or the one with the best "
            "mean value."),
      field("exploration", &S::exploration,
            "the exploration term. \"alphago\" is ``c_puct`` * P / (1 + N), for "
            "``algorithm=\"puct\"`` [AlphaGo, 2016]; \"log\" is ``uct_c`` * ln(n / (1 + N)), for "
            "\"uct\" and \"flat_ucb\"."),
      field("uct_c", &S::uct_c, kNotNegative,
            "weight of exploration in UCB1, W / N + uct_c * sqrt(2 * ln(n) / N), where a win "
            "counts 1, a draw 1/2 and a loss 0 [Kocsis and Szepesvári, 2006: 1 / sqrt(2)]."),
      field("expand_probability", &S::expand_probability, Range{0, 1, true},
            "for \"uct\": at a node with moves not yet tried, the probability of trying one of "
            "them; otherwise the walk descends."),
      field("threads", &S::threads, between(0, 1024),
            "worker threads, the calling one included; 0 = all cores that the process may use. "
            "With an evaluator on a device never more than cores."),
      field("batch_size", &S::batch_size, between(1, 4096),
            "rows of one evaluator call [AlphaGo Zero]."),
      field("in_flight", &S::in_flight, between(1, 0xFFFF),
            "most leaves of one tree that wait for the evaluator at once, whatever the number of "
            "threads; None = 2 * ``batch_size``."),
      field("collision", &S::collision,
            "what a leaf in flight changes on its path: visits in the exploration term alone, or "
            "also ``virtual_loss`` losses in Q."),
      field("virtual_loss", &S::virtual_loss, kNotNegative,
            "losses that a leaf in flight counts for, with ``collision=\"virtual_loss\"``."),
      field("symmetry", &S::symmetry,
            "board symmetries under which a leaf is evaluated: the identity; one at random; the "
            "mean over all; the mean over all at the root and one at random elsewhere; one at "
            "random, and more where a batch has rows left over. Evaluators without planes ignore "
            "it."),
      field("dirichlet_alpha", &S::dirichlet_alpha, kPositive,
            "of the noise in the priors of the root; None = 10 / legal actions [AlphaZero's "
            "scaling]."),
      field("dirichlet_fraction", &S::dirichlet_fraction, kShare,
            "share of that noise; 0 = none, 0.25 in self-play [AlphaGo Zero]."),
      field("dirichlet_shaped", &S::dirichlet_shaped,
            "whether half of the noise's concentration goes to the moves whose logarithm of the "
            "prior is above the mean, in proportion to how far [KataGo, shaped Dirichlet noise]; "
            "otherwise every move has the same. Only with ``algorithm=\"puct\"``.")
          .added_later(),
      field("root_policy_temperature", &S::root_policy_temperature, kPositive,
            "the priors of the root are prior ** (1 / this), normalised, before the noise [SAI; "
            "KataGo: 1.25 falling to 1.1]; above 1 they are flatter. Only with "
            "``algorithm=\"puct\"``: ``\"gumbel\"`` makes its ``improved_policy`` of the priors, "
            "UCB1 reads none.")
          .added_later(),
      field("temperature", &S::temperature, kNotNegative,
            "of the move choice: probabilities are visits ** (1 / temperature), normalised, with "
            "``algorithm=\"gumbel\"`` improved_policy ** (1 / temperature); moves proven to lose "
            "have 0, a proven win is played. 0 = the move that ``choose`` names, with \"gumbel\" "
            "the winner of sequential halving."),
      field("reuse_tree", &S::reuse_tree, "whether a search continues the tree of the one before."),
      field("cache_entries", &S::cache_entries, between(0, 4294967296.0),
            "evaluations that the engine's cache holds; 0 = no cache, or given to one call: the "
            "cache is not read."),
      field("memory_limit", &S::memory_limit, at_least(kLeastMemory),
            "bytes of trees, cache and batches, a hard cap: a search that reaches it goes on "
            "without adding nodes."),
      field("solver", &S::solver, "whether proven wins, losses and draws are backed up as such."),
      field("deterministic", &S::deterministic,
            "the same results for the same calls on a new engine at any number of threads, on the "
            "same machine and provider, with budgets in simulations."),
      field("seed", &S::seed, kAnyNumber,
            "the only source of randomness; the k-th search of an engine uses the stream (seed, "
            "k). Several threads give other results from run to run, unless ``deterministic``."),
      field("endgame_solver_empties", &S::endgame_solver_empties, between(0, 64),
            "leaves with at most so many empty points are solved exactly by alpha-beta, in place "
            "of an evaluation; 0 = none. Not for Go and users' games. Each worker has a table of "
            "1 MiB for it beside ``memory_limit``."),
      field("gumbel_actions", &S::gumbel_actions, between(1, kMaxActions),
            "for \"gumbel\": moves of the root that are drawn and compared [mctx, "
            "max_num_considered_actions]."),
      field("gumbel_c_visit", &S::gumbel_c_visit, kNotNegative,
            "for \"gumbel\" and ``improved_policy`` [mctx, maxvisit_init]."),
      field("gumbel_c_scale", &S::gumbel_c_scale, kNotNegative,
            "for \"gumbel\" and ``improved_policy`` [mctx, value_scale]."),
      field("gumbel_noise", &S::gumbel_noise,
            "for \"gumbel\": whether the moves of the root are drawn at random, for self-play; "
            "otherwise the ones with the largest priors are taken, which plays better."),
  };
};

}  // namespace pyengine
