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
            "of full searches. What it leaves at a search's default has self-play's: 800 "
            "simulations, ``dirichlet_fraction`` 0.25, ``temperature`` 1. With "
            "``algorithm=\"gumbel\"`` these two stay at 0, as the Gumbel noise explores and draws "
            "the move, and the policy target is ``improved_policy``. Its budget is in simulations, "
            "``deterministic`` is refused (see ``seed`` below), its own ``seed`` is not read."),
      field("noise", &S::noise,
            "at the root of full searches; False sets the search's ``dirichlet_fraction`` to 0 and "
            "its ``gumbel_noise`` to False."),
      field("concurrent_games", &S::concurrent_games, between(1, kMostGamesAtOnce),
            "games at once, whose searches share batches. None = 64; if the evaluator has a "
            "device, a game for each row of its batches, and a ``search.batch_size`` left at 8 is "
            "chosen with it (128 rows and 768 games with neither given)."),
      field("temperature_moves", &S::temperature_moves, kNotNegative,
            "plies of a game at the search's ``temperature``; later moves are the most visited "
            "ones [AlphaGo Zero]. With ``algorithm=\"gumbel\"`` the plies whose moves the noise "
            "draws; later it only explores."),
      field("resign_threshold", &S::resign_threshold, between(-1, 1),
            "a side resigns when the values of the root and of its best child are both below it; "
            "None = nobody resigns."),
      field("resign_off_fraction", &S::resign_off_fraction, kShare,
            "share of games that are played to the end, to measure false resignations [AlphaGo "
            "Zero]."),
      field("resign_false_positives", &S::resign_false_positives, kShare,
            "the threshold falls until no larger share of those games would have been resigned by "
            "a side that did not lose; by the newest 1,000 such games, of earlier calls into the "
            "same directory, too, from 20 on."),
      field("full_search_fraction", &S::full_search_fraction, Range{0, 1, true},
            "probability that a move has a full search; positions of the others are no policy "
            "targets [KataGo, playout cap]."),
      field("fast_simulations", &S::fast_simulations, at_least(1),
            "budget of the other searches, without noise and at a ``root_policy_temperature`` of "
            "1."),
      field("clear_before_full", &S::clear_before_full,
            "whether a full search begins from a cleared tree, so that all visits of a policy "
            "target were made under its noise [KataGo]; otherwise it goes on in what the search "
            "before left below the move that was played."),
      field("forced_playouts", &S::forced_playouts, between(0, 1e6),
            "k: a root move of a full search gets at least sqrt(k * prior * visits) visits, which "
            "policy targets leave out, and which the draw of the move does; 0 = none [KataGo: 2]. "
            "Only with ``algorithm=\"puct\"``."),
      field("record_surprise", &S::record_surprise,
            "whether records say how much their policy target surprised the network, so that a "
            "``Dataset`` can draw by that [KataGo, policy surprise weighting]. Such data are of "
            "format 4."),
      field("minimum_target_visits", &S::minimum_target_visits, kNotNegative,
            "a full search whose policy target has fewer visits, since a draw was proven, teaches "
            "all moves that draw in equal parts. A full search without a proof that gave most of "
            "its visits to moves known to lose, and fewer than this to the others, teaches the "
            "value alone. At most the search's simulations count; not with "
            "``algorithm=\"gumbel\"``."),
      field("max_plies", &S::max_plies, between(1, kMostPlies),
            "a game that has so many plies and no end is cut short: it is recorded without a "
            "result, its positions teach the policy and not the value, and the report's "
            "``cut_short`` counts it. None = 65,535, since records count no further. A game that "
            "ends at its ``max_game_length`` has the result of its rules. For a user's game "
            "``max_plies`` must be below that by what a search looks ahead, which is an error "
            "beyond it."),
      field("opening_random_moves", &S::opening_random_moves, between(0, kMostPlies - 1),
            "a game begins with a number of random moves, drawn from 0 to this; below "
            "``max_plies``."),
      field("seed", &S::seed, kAnyNumber,
            "the only source of random numbers. The same seed gives the same games only with "
            "``search.threads=1`` and evaluation on the CPU, in a new directory. With several "
            "threads, or a device, the order in which leaves are evaluated depends on timing, and "
            "so do the games; ``deterministic`` does not help."),
  };
};

}  // namespace pyengine
