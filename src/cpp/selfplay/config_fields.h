/// The settings of self-play, each declared once: see base/fields.h.
#pragma once

#include <tuple>

#include "base/fields.h"
#include "search/config_fields.h"
#include "selfplay/config.h"

namespace pyengine {

template <>
struct Table<SelfPlayConfig> {
  using S = SelfPlayConfig;
  static constexpr const char* name = "SelfPlayConfig";
  static constexpr std::tuple fields{
      field("search", &S::search,
            "settings of full searches. Fields with a search's default get the default of "
            "self-play: 800 simulations, ``dirichlet_fraction`` 0.25, ``temperature`` 1. With "
            "``algorithm=\"gumbel\"`` these two stay 0, since Gumbel noise explores and samples "
            "the move, and the policy target is ``improved_policy``. The budget must be in "
            "simulations, ``deterministic`` is refused (see ``seed`` below), and the ``seed`` of "
            "the search is ignored."),
      field("noise", &S::noise,
            "root noise in full searches; False sets the search's ``dirichlet_fraction`` to 0 and "
            "its ``gumbel_noise`` to False."),
      field("concurrent_games", &S::concurrent_games, between(1, kMostGamesAtOnce),
            "number of concurrent games, whose searches share batches. None = 64; if the "
            "evaluator has a device, one game per row of its batches, and a ``search.batch_size`` "
            "of 8 is then adjusted too (128 rows and 768 games if neither is set)."),
      field("temperature_moves", &S::temperature_moves, kNotNegative,
            "plies of a game that use the search's ``temperature``; later moves are the most "
            "visited ones [AlphaGo Zero]. With ``algorithm=\"gumbel\"``, plies whose moves are "
            "sampled with the noise; later noise only explores."),
      field("resign_threshold", &S::resign_threshold, between(-1, 1),
            "a side resigns if the values of the root and of its best child are both below it; "
            "None = no resignation."),
      field("resign_off_fraction", &S::resign_off_fraction, kShare,
            "share of games that are played to the end, to measure false resignations [AlphaGo "
            "Zero]."),
      field("resign_false_positives", &S::resign_false_positives, kShare,
            "the threshold falls until at most this share of the games played to the end would "
            "have been resigned by a side that did not lose. Counts the newest 1,000 games, "
            "including earlier calls with the same directory, and starts with 20 games."),
      field("soft_resign_weight", &S::soft_resign_weight, kShare,
            "None = a resigned game ends. Otherwise it goes on to its end: until the side that "
            "would have resigned recovers, all searches are fast ones, and each of their positions "
            "is recorded with this probability, which is its weight in training [KataGo, "
            "reduceVisits: 0.1]. ``fast_simulations`` must not exceed the search's."),
      field("full_search_fraction", &S::full_search_fraction, Range{0, 1, true},
            "probability of a full search for a move; positions of fast searches have no policy "
            "target [KataGo, playout cap]."),
      field("fast_simulations", &S::fast_simulations, at_least(1),
            "budget of fast searches, which have no noise and a ``root_policy_temperature`` of 1."),
      field("clear_before_full", &S::clear_before_full,
            "whether a full search starts from a cleared tree, so that all visits of a policy "
            "target were made under its noise [KataGo]; otherwise it continues in the subtree of "
            "the move played."),
      field("forced_playouts", &S::forced_playouts, between(0, 1e6),
            "k: a root move of a full search gets at least sqrt(k * prior * visits) visits. "
            "Policy targets leave them out, move sampling does too; 0 = off [KataGo: 2]. Only "
            "with ``algorithm=\"puct\"``."),
      field("record_surprise", &S::record_surprise,
            "whether records contain the surprise of their policy target, so that a ``Dataset`` "
            "can sample by it [KataGo, policy surprise weighting]. These data have format 4."),
      field("minimum_target_visits", &S::minimum_target_visits, kNotNegative,
            "a full search with fewer visits that proved a draw has a policy target uniform over "
            "the drawing moves. A full search without a proof that gave most of its visits to "
            "moves known to lose, and fewer than this to the others, has no policy target. "
            "Limited to the search's simulations; not used with ``algorithm=\"gumbel\"``."),
      field("max_plies", &S::max_plies, between(1, kMostPlies),
            "a game that reaches this ply without an end is cut short: it is recorded without a "
            "result, its positions teach only the policy, and the report counts it in "
            "``cut_short``. None = 65,535, the limit of the records. A game that ends at its "
            "``max_game_length`` has a result by its rules. For a user's game ``max_plies`` must "
            "be lower than its ``max_game_length`` by the depth of a search, because longer games "
            "are an error."),
      field("opening_fraction", &S::opening_fraction, kShare,
            "share of games that start from one of the ``openings`` that self-play was given; the "
            "others start from the game's initial position."),
      field("opening_random_moves", &S::opening_random_moves, between(0, kMostPlies - 1),
            "a game begins with 0 to this many random moves, after its opening if it has one; less "
            "than ``max_plies``."),
      field("seed", &S::seed, kAnyNumber,
            "the only source of randomness. Equal seeds give equal games only with "
            "``search.threads=1`` and evaluation on the CPU, in a new directory. With several "
            "threads or a device, games depend on the timing of evaluations; ``deterministic`` "
            "does not help."),
  };
};

}  // namespace pyengine
