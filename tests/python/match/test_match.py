"""Matches: scores, statistics, openings and resumption."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import (
    ConfigError,
    DataError,
    GameRecord,
    IllegalActionError,
    MatchResult,
    Openings,
    Sprt,
)
from pyengine.match import SprtState
from pyengine.match.interval import score_interval
from pyengine.match.statistics import (
    PAIR_SCORES,
    default_games,
    elo_of_score,
    score_of_elo,
)

Z = 1.959963984540054  # 97.5 % of the normal distribution


def lowest(state: Any) -> int:
    """Play the first legal action."""
    return int(state.legal_actions()[0])


def highest(state: Any) -> int:
    """Play the last legal action."""
    return int(state.legal_actions()[-1])


def play(a: Any, b: Any, **arguments: Any) -> MatchResult:
    """Play a match of Connect Four."""
    return pyengine.match(a, b, game="connect_four", **arguments)


class Many:
    """Plays the middle legal action and records the number of states per call."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def search_many(self, states: Sequence[Any]) -> list[Any]:
        """Choose an action for each state."""
        self.asked.append(len(states))
        legal = [state.legal_actions() for state in states]
        return [SimpleNamespace(action=actions[len(actions) // 2]) for actions in legal]


@pytest.mark.parametrize(("score", "elo"), [(0.5, 0.0), (0.75, 190.8485), (10 / 11, 400.0)])
def test_elo_is_the_logarithm_of_the_odds(score: float, elo: float) -> None:
    assert elo_of_score(score) == pytest.approx(elo, abs=1e-3)
    assert elo_of_score(1 - score) == pytest.approx(-elo, abs=1e-3)
    assert score_of_elo(elo) == pytest.approx(score, abs=1e-6)


def test_elo_is_infinite_without_losses_and_nan_without_games() -> None:
    assert elo_of_score(1.0) == math.inf
    assert elo_of_score(0.0) == -math.inf
    assert math.isnan(elo_of_score(math.nan))


def test_fully_won_or_lost_groups_give_the_clopper_pearson_interval() -> None:
    low, high = score_interval([2.0] * 10, [2] * 10)
    assert low == pytest.approx(0.025**0.1)  # ten wins of ten have a probability of 2.5 % there
    assert high == pytest.approx(1.0)
    assert score_interval([0.0] * 10, [2] * 10) == pytest.approx((1 - high, 1 - low))
    assert score_interval([1.0] * 7 + [0.0] * 3, [1] * 10) == pytest.approx((0.347547, 0.933260))
    for groups in (1, 50, 500, 20_000):
        low, _ = score_interval([2.0] * groups, [2] * groups)
        assert low == pytest.approx(0.025 ** (1 / groups), abs=1e-7)


def test_draws_alone_do_not_prove_equality() -> None:
    end = 0.025**0.1 / 2  # decisive pairs may still be possible
    assert score_interval([1.0] * 10, [2] * 10) == pytest.approx((end, 1 - end))


def test_the_interval_has_the_quantiles_of_randomly_weighted_groups() -> None:
    points = [0.0] * 3 + [0.5] * 2 + [1.0] * 9 + [1.5] * 4 + [2.0] * 2 + [1.0]
    games = [2] * 20 + [1]
    rng = np.random.default_rng(3)
    weights = rng.exponential(size=(200_000, 22)) * [*games, 2]
    means = [
        (weights @ [*np.divide(points, games), extra]) / weights.sum(axis=1) for extra in (0, 1)
    ]
    expected = np.quantile(means[0], 0.025), np.quantile(means[1], 0.975)
    assert score_interval(points, games) == pytest.approx(expected, abs=1e-3)


def test_pairs_that_agree_prove_less_than_pairs_that_differ() -> None:
    agree = score_interval([0.0, 2.0] * 50, [2] * 100)
    differ = score_interval([1.0] * 100, [2] * 100)
    assert agree[1] - agree[0] > 5 * (differ[1] - differ[0])


def test_the_interval_is_0_to_1_without_games() -> None:
    assert score_interval([], []) == (0.0, 1.0)


def true_scores() -> Iterator[tuple[float, ...]]:
    """Yield distributions of the five pair scores: one-sided, drawish and polarised."""
    for low, high in itertools.combinations(range(5), 2):
        for share in (0.005, 0.02, 0.07, 0.15, 0.3, 0.5):
            shares = [0.0] * 5
            shares[low], shares[high] = share, 1 - share
            yield tuple(shares)
    for win, draw in ((0.9, 0.1), (0.95, 0.0), (0.99, 0.01), (0.5, 0.45), (0.05, 0.9)):
        game = (1 - win - draw, draw, win)
        yield tuple(np.convolve(game, game))


@pytest.mark.parametrize("pairs", [1, 2, 3, 5, 6])
def test_the_interval_holds_for_few_pairs_whatever_their_scores(pairs: int) -> None:
    """The coverage is computed exactly, by summing over all results."""
    results = [c for c in itertools.product(range(pairs + 1), repeat=5) if sum(c) == pairs]
    ends = {}
    for counts in results:
        points = [2 * s for s, n in zip(PAIR_SCORES, counts, strict=True) for _ in range(n)]
        ends[counts] = score_interval(points, [2] * pairs)
    for shares in true_scores():
        score = float(np.dot(shares, PAIR_SCORES))
        held = sum(
            math.factorial(pairs)
            * math.prod(p**n / math.factorial(n) for p, n in zip(shares, counts, strict=True))
            for counts, (low, high) in ends.items()
            if low - 1e-9 <= score <= high + 1e-9
        )
        assert held >= 0.95, shares


def test_many_pairs_give_nearly_a_normal_interval() -> None:
    points = [0.0] * 100 + [1.0] * 300 + [2.0] * 100
    low, high = score_interval(points, [2] * 500)
    assert high - low < 1.06 * 2 * Z * math.sqrt(0.1 / 500)


def test_95_of_100_intervals_hold_the_true_score() -> None:
    rng = random.Random(1)
    shares = (0.05, 0.15, 0.3, 0.3, 0.2)  # of 0, 1/2 .. 2 points: a mean of 0.6125
    held = 0
    for _ in range(300):
        points = rng.choices((0.0, 0.5, 1.0, 1.5, 2.0), shares, k=60)
        low, high = score_interval(points, [2] * 60)
        held += low <= 0.6125 <= high
    assert 280 <= held <= 296


def test_the_bounds_of_the_sequential_test_are_walds() -> None:
    test = Sprt(alpha=0.05, beta=0.1)
    assert test.lower == pytest.approx(math.log(0.1 / 0.95))
    assert test.upper == pytest.approx(math.log(0.9 / 0.05))


def test_the_ratio_of_decisive_pairs_is_bernoullis() -> None:
    test = Sprt(elo0=0, elo1=elo_of_score(0.6))
    expected = 70 * math.log(0.6 / 0.5) + 30 * math.log(0.4 / 0.5)
    assert test.llr([30, 0, 0, 0, 70]) == pytest.approx(expected, rel=0.01)


def test_the_ratio_of_small_differences_is_the_normal_distributions() -> None:
    counts = [100, 900, 2000, 1000, 150]
    scores = (0.0, 0.25, 0.5, 0.75, 1.0)
    n = sum(counts)
    mean = sum(c * s for c, s in zip(counts, scores, strict=True)) / n
    variance = sum(c * (s - mean) ** 2 for c, s in zip(counts, scores, strict=True)) / n
    low, high = score_of_elo(0), score_of_elo(5)
    expected = n * (high - low) * (2 * mean - low - high) / (2 * variance)
    assert Sprt(elo0=0, elo1=5).llr(counts) == pytest.approx(expected, rel=0.02)


def test_the_ratio_is_zero_between_symmetric_hypotheses() -> None:
    test = Sprt(elo0=-20, elo1=20)
    assert test.llr([5, 10, 40, 10, 5]) == pytest.approx(0, abs=1e-9)
    assert test.llr([9, 10, 40, 10, 2]) == pytest.approx(-test.llr([2, 10, 40, 10, 9]))
    assert test.llr([0] * 5) == 0


def test_the_sequential_test_keeps_its_error_rate() -> None:
    rng = random.Random(2)
    test = Sprt(elo0=0, elo1=80, alpha=0.1, beta=0.1)
    wrong = 0
    for _ in range(200):
        counts = [0] * 5
        while (state := test.state(counts)).accepted is None:
            counts[rng.choices(range(5), (1, 2, 4, 2, 1))[0]] += 1  # equal players
        wrong += state.accepted == "elo1"
    assert wrong <= 30  # 20 expected at most


@pytest.mark.parametrize(
    ("fields", "word"),
    [({"elo0": 5, "elo1": 5}, "elo0 < elo1"), ({"alpha": 0}, "alpha"), ({"beta": 0.5}, "beta")],
)
def test_an_invalid_test_is_refused(fields: dict[str, float], word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        Sprt(**fields)


def test_every_opening_is_played_twice_with_colours_swapped() -> None:
    result = play(lowest, highest, games=40)
    assert result.games == 40
    for pair in range(20):
        both = [record for record in result.records if record.pair == pair]
        assert sorted(record.a_plays for record in both) == [0, 1]
        assert both[0].opening == both[1].opening


def test_results_are_those_of_the_games_and_seen_from_a() -> None:
    result = play(lowest, highest, games=40)
    game = pyengine.load_game("connect_four")
    for record in result.records:
        state = game.new_initial_state(record.opening)
        for move in record.moves:
            chooser = lowest if state.current_player() == record.a_plays else highest
            assert move == chooser(state)
            state.apply_action(move)
        assert state.is_terminal()
        assert state.returns()[record.a_plays] == record.result
    assert result.wins + result.draws + result.losses == 40
    assert result.score == (result.wins + result.draws / 2) / 40
    turned = play(highest, lowest, games=40)
    assert (turned.wins, turned.losses) == (result.losses, result.wins)
    assert turned.score_interval == pytest.approx([1 - x for x in result.score_interval[::-1]])


def test_a_search_beats_random_moves() -> None:
    rng = random.Random(3)
    with pyengine.Engine("connect_four", "rollout", simulations=50, threads=1) as engine:
        result = pyengine.match(engine, lambda s: rng.choice(s.legal_actions()), games=20)
    assert result.score > 0.8
    assert result.elo_interval[0] > 0


def test_games_are_searched_together() -> None:
    player = Many()
    play(player, lowest, games=30, concurrent_games=10)
    assert max(player.asked) == 10


def test_an_engine_with_a_clock_plays_one_game_at_a_time() -> None:
    player = Many()
    with pyengine.Engine("tic_tac_toe", "uniform", seconds=0.001) as engine:
        pyengine.match(player, engine, games=4, openings=Openings(plies=2))
    assert max(player.asked) == 1


def test_an_odd_number_of_games_plays_the_last_opening_once() -> None:
    result = play(lowest, highest, games=5)
    assert result.games == 5
    assert sum(result.pairs) == 2


def test_functions_see_the_users_own_states() -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed")
    seen: set[type] = set()

    def player(state: Any) -> int:
        seen.add(type(state))
        return lowest(state)

    game = pyspiel.load_game("breakthrough(rows=4,columns=3)")
    result = pyengine.match(player, highest, game=game, games=4)
    assert result.games == 4
    assert seen == {type(game.new_initial_state())}


def test_an_illegal_action_names_the_player() -> None:
    with pytest.raises(IllegalActionError, match="player b"):
        play(lowest, lambda _: 99, games=2)


def test_the_result_has_text_and_json() -> None:
    result = play(lowest, highest, games=6, names=("low", "high"), sprt=Sprt())
    assert str(result).startswith("low - high: 6 games: +")
    assert "SPRT" in str(result)
    assert all(len(line) <= 80 for line in str(result).splitlines())
    fields = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert fields["wins"] == result.wins
    assert fields["sprt"]["accepted"] is None


def test_progress_is_reported_and_may_end_the_match() -> None:
    told: list[int] = []

    def stop_soon(result: MatchResult) -> bool:
        told.append(result.games)
        return result.games < 5

    result = play(lowest, highest, games=1000, concurrent_games=4, on_progress=stop_soon)
    assert result.stop_reason == "stopped"
    assert 5 <= result.games < 20
    assert told == sorted(told)


def test_the_interval_note_depends_on_the_end_of_the_match() -> None:
    whole = play(lowest, highest, games=6)
    assert whole.interval_note is None
    stopped = play(lowest, highest, games=60, on_progress=lambda result: result.games < 3)
    assert stopped.to_dict()["interval_note"] == stopped.interval_note
    assert "a fixed number of games" in str(stopped)
    tested = play(lowest, highest, games=6, sprt=Sprt())
    assert "widened" in str(tested)
    assert tested.score_interval[0] < whole.score_interval[0]
    assert tested.score_interval[1] > whole.score_interval[1]


def test_the_interval_holds_after_a_test_has_ended_the_match() -> None:
    rng = random.Random(5)
    test = Sprt(elo0=0, elo1=200, alpha=0.1, beta=0.1)
    held, known = 0, {}
    for _ in range(300):
        counts = [0] * 5
        while test.state(counts).accepted is None:
            counts[rng.choices((0, 2, 4), (0.16, 0.48, 0.36))[0]] += 1  # a score of 0.6
        ended = tuple(counts)
        if ended not in known:
            known[ended] = result_of(counts, test).score_interval
        held += known[ended][0] <= 0.6 <= known[ended][1]
    assert held >= 285


def result_of(counts: Sequence[int], test: Sprt) -> MatchResult:
    """Return the result of a match ended by the test, from the number of pairs by score."""
    pairs = [p for p, n in zip(((-1, -1), (-1, 0), (0, 0), (0, 1), (1, 1)), counts, strict=True)
             for _ in range(n)]  # fmt: skip
    records = [
        GameRecord(pair=pair, a_plays=a_plays, opening=(), moves=(), result=result)
        for pair, results in enumerate(pairs)
        for a_plays, result in enumerate(results)
    ]
    return MatchResult(
        names=("a", "b"), records=tuple(records), sprt=test.state(counts), stop_reason="sprt"
    )


TESTS = [
    Sprt(elo0=0, elo1=35),
    Sprt(elo0=0, elo1=100),
    Sprt(elo0=-50, elo1=0, alpha=0.1, beta=0.05),
    Sprt(elo0=300, elo1=500),
]


@pytest.mark.parametrize("test", TESTS, ids=repr)
@pytest.mark.parametrize("draws", [0.0, 0.5])
def test_nine_of_ten_tests_are_decided_in_time(test: Sprt, draws: float) -> None:
    for elo, accepted in ((test.elo0, "elo0"), (test.elo1, "elo1")):
        found = [simulated(test, elo, draws, seed) for seed in range(40)]
        decided = [state for state in found if state.accepted is not None]
        assert len(decided) >= 33  # 36 expected; 1.6 standard deviations less
        assert sum(state.accepted == accepted for state in decided) >= 0.85 * len(decided)
        mean = 2 * sum(state.pairs for state in found) / len(found)
        assert mean < 1.25 * test.expected_games


def simulated(test: Sprt, elo: float, draws: float, seed: int) -> SprtState:
    """Return the end of a test within its number of games, checked at intervals."""
    score = score_of_elo(elo)
    draws = min(draws, 2 * min(score, 1 - score))
    shares = (1 - score - draws / 2, draws, score - draws / 2)
    pairs = np.random.default_rng(seed).choice(3, p=shares, size=(test.games_for() // 2, 2)).sum(1)
    counts = np.cumsum(np.eye(5, dtype=int)[pairs], axis=0)

    def ended(pair: int) -> bool:
        return test.state(counts[pair].tolist()).accepted is not None

    every = max(1, len(pairs) // 40)  # checking every pair would be slower
    watched = range(every - 1, len(pairs), every)
    return test.state(counts[next(filter(ended, watched), -1)].tolist())


def test_a_test_of_200_games_would_leave_most_candidates_undecided() -> None:
    """A gate of that size decided only 12 % of candidates with +35 Elo."""
    test = Sprt(elo0=0, elo1=35)
    assert test.games_for(0.12) == pytest.approx(200, rel=0.05)
    assert test.games_for(0.5) < test.expected_games < test.games_for() < test.games_for(0.99)
    drift = (score_of_elo(35) - 0.5) ** 2 / (1 / 8) / 2  # of a pair without draws, at elo0
    assert test.expected_games == pytest.approx(2 * 0.9 * math.log(19) / drift, rel=0.01)


def test_the_default_number_of_games_comes_from_the_test() -> None:
    test = Sprt(elo0=0, elo1=400)
    assert play(lowest, highest, games=None, sprt=test, concurrent_games=1).sprt is not None
    assert default_games(test) == test.games_for()
    assert default_games(None) == 100


def test_ctrl_c_keeps_the_finished_games() -> None:
    calls = iter(range(1000))

    def tired(state: Any) -> int:
        if next(calls) == 200:
            raise KeyboardInterrupt
        return lowest(state)

    with pytest.raises(KeyboardInterrupt) as caught:
        play(tired, highest, games=1000, concurrent_games=4)
    result = caught.value.result  # type: ignore[attr-defined]
    assert result.stop_reason == "interrupted"
    assert 0 < result.games < 200


def test_a_test_decides_at_the_same_pair_for_any_concurrency() -> None:
    test = Sprt(elo0=0, elo1=100)
    found = []
    for concurrent in (1, 7, 64):
        rng = random.Random(4)
        result = play(
            Many(), lambda s, r=rng: lowest(s), games=2000, sprt=test, concurrent_games=concurrent
        )
        found.append(result.sprt)
        assert result.stop_reason == "sprt"
        assert result.games < 2000
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"games": 0}, "games"),
        ({"seed": -1}, "seed"),
        ({"confidence": 1.0}, "confidence"),
        ({"concurrent_games": 0}, "concurrent_games"),
        ({"names": ("a",)}, "names"),
        ({"openings": [[3]], "games": 4}, "openings"),
        ({"openings": [[0, 1, 0, 1, 0, 1, 0]], "games": 2}, "ends the game"),
    ],
)
def test_invalid_arguments_are_refused(arguments: dict[str, Any], word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        play(lowest, highest, **arguments)


def test_a_missing_game_and_two_different_games_are_refused() -> None:
    with pytest.raises(ConfigError, match="a: expected an Engine"):
        play(3, lowest)
    with pytest.raises(ConfigError, match="neither a nor b is an Engine"):
        pyengine.match(lowest, lowest)
    with pytest.raises(ConfigError, match="expected one game"):
        play(pyengine.Engine("othello", "uniform"), lowest)


def openings_of(result: MatchResult) -> list[tuple[int, ...]]:
    """Return the openings in order."""
    return [opening for _, opening in sorted({(r.pair, r.opening) for r in result.records})]


def test_openings_are_distinct_and_leave_the_game_open() -> None:
    found = openings_of(play(lowest, highest, games=200, openings=Openings(plies=6)))
    game = pyengine.load_game("connect_four")
    states = [game.new_initial_state(moves) for moves in found]
    assert len({"".join(state.board_rows()) for state in states}) == 100
    for state in states:
        assert len(state.history()) == 6
        for action in state.legal_actions():
            following = state.clone()
            following.apply_action(action)
            assert not following.is_terminal()


def test_openings_depend_on_the_seed() -> None:
    first, same, other = (openings_of(play(lowest, highest, games=20, seed=s)) for s in (1, 1, 2))
    assert first == same
    assert first != other


def test_positions_repeat_if_there_are_too_few() -> None:
    result = pyengine.match(
        lowest, highest, game="tic_tac_toe", games=40, openings=Openings(plies=1)
    )
    assert set(openings_of(result)) == {(a,) for a in range(9)}


def test_without_opening_moves_games_begin_at_the_start() -> None:
    assert openings_of(play(lowest, highest, games=2, openings=Openings(plies=0))) == [()]


def test_fixed_openings_are_played_in_order() -> None:
    given = [[3, 3], [2, 4], [0]]
    assert openings_of(play(lowest, highest, games=6, openings=given)) == [(3, 3), (2, 4), (0,)]


def test_openings_follow_the_evaluators_policy() -> None:
    def likes_three(states: list[Any]) -> tuple[list[list[float]], list[float]]:
        return [[0, 0.01, 0, 0.99, 0, 0, 0]] * len(states), [0.0] * len(states)

    rules = Openings(plies=3, moves="policy", evaluator=pyengine.StateEvaluator(likes_three))
    moves = [m for opening in openings_of(play(lowest, lowest, games=8, openings=rules))
             for m in opening]  # fmt: skip
    assert set(moves) <= {1, 3}
    assert moves.count(3) > moves.count(1)


@pytest.mark.parametrize("simulations", [0, 8])
def test_openings_are_balanced_by_the_evaluator(simulations: int) -> None:
    def hates_the_middle(states: list[Any]) -> tuple[list[list[float]], list[float]]:
        return [[1.0] * 7] * len(states), [float(3 in s.history()[:2]) for s in states]

    balanced = pyengine.StateEvaluator(hates_the_middle)
    rules = Openings(plies=2, max_value=0.5, evaluator=balanced, simulations=simulations)
    found = openings_of(play(lowest, lowest, games=20, openings=rules))
    assert all(3 not in opening for opening in found)


def test_invalid_openings_are_refused() -> None:
    for fields in ({"plies": -1}, {"moves": "policy"}, {"max_value": 0.1}, {"temperature": 0}):
        with pytest.raises(ConfigError, match="openings: "):
            Openings(**fields)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="none of 500"):
        pyengine.match(lowest, lowest, game="mnk(rows=2,columns=2,k=2)", openings=Openings(plies=3))


def test_a_match_resumes_from_its_record(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    whole = play(lowest, highest, games=30, seed=5)
    part = play(
        lowest, highest, games=30, seed=5, record=record, concurrent_games=5,
        on_progress=lambda result: result.games < 7,
    )  # fmt: skip
    assert 7 <= part.games < 30
    before = record.read_text()
    rest = play(lowest, highest, games=30, seed=5, record=record)
    assert record.read_text().startswith(before)
    assert len(record.read_text().splitlines()) == 31
    assert sorted(rest.records, key=repr) == sorted(whole.records, key=repr)
    again = play(lowest, highest, games=30, seed=5, record=record)
    assert again.records == rest.records
    assert again.to_dict() | {"seconds": 0} == rest.to_dict() | {"seconds": 0}


def test_a_match_may_grow_longer(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    few = play(lowest, highest, games=10, record=record)
    more = play(lowest, highest, games=20, record=record)
    assert more.records[:10] == few.records
    assert play(lowest, highest, games=10, record=record).games == 10


def test_a_record_of_other_arguments_is_refused(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    play(lowest, highest, games=2, record=record)
    before = record.read_bytes()
    for a, b, arguments, word in (
        (lowest, highest, {"seed": 1}, "seed: expected 1, got 0"),
        (highest, lowest, {}, "a: expected .*highest.* got .*lowest"),
        (lowest, highest, {"openings": Openings(plies=2)}, "openings"),
        (lowest, pyengine.Engine("connect_four", "uniform", simulations=2), {}, "b: expected"),
    ):
        with pytest.raises(ConfigError, match=word):
            play(a, b, games=2, record=record, **arguments)
    assert record.read_bytes() == before


def test_a_game_cut_short_is_drawn_and_recorded(tmp_path: Path) -> None:
    """Shorter games keep their result; the record belongs to this limit."""
    record = tmp_path / "games.jsonl"
    whole = play(lowest, highest, games=20)
    cut = play(lowest, highest, games=20, max_plies=10, record=record)
    before = {(one.pair, one.a_plays): one for one in whole.records}
    short = [one for one in cut.records if len(one.opening + one.moves) < 10]
    assert 0 < len(short) < 20
    for one in cut.records:
        same = before[one.pair, one.a_plays]
        assert one.moves == same.moves[: 10 - len(one.opening)]
        assert one.cut_short == (one.moves != same.moves)
        assert one.result == (0 if one.cut_short else same.result)
    assert whole.cut_short == 0 < cut.cut_short
    assert f"({cut.cut_short} cut short)" in str(cut)
    again = play(lowest, highest, games=20, max_plies=10, record=record)
    assert again.records == cut.records
    with pytest.raises(ConfigError, match="max_plies: expected None, got 10"):
        play(lowest, highest, games=20, record=record)


def test_two_matches_do_not_write_one_record(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    met: list[str] = []

    def another(result: pyengine.MatchResult) -> bool:
        try:
            play(lowest, highest, games=2, record=record)
        except ConfigError as error:
            met.append(str(error))
        return False

    play(lowest, highest, games=20, record=record, concurrent_games=2, on_progress=another)
    assert met
    assert "another match is writing" in met[0]
    assert play(lowest, highest, games=20, record=record).games == 20


def test_an_incomplete_line_is_replayed_and_a_damaged_one_is_reported(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    play(lowest, highest, games=6, record=record)
    lines = record.read_text().splitlines()
    record.write_text("\n".join(lines[:-1]) + "\n" + lines[-1][:20])
    assert play(lowest, highest, games=6, record=record).games == 6
    fields = json.loads(lines[3])
    fields["result"] = -fields["result"] or 1
    for damaged in (lines[3][:-5], json.dumps(fields), "[]", "{}"):
        record.write_text("\n".join([*lines[:3], damaged, *lines[4:]]) + "\n")
        with pytest.raises(DataError, match="line 4"):
            play(lowest, highest, games=6, record=record)


def test_another_file_is_refused_as_a_record(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"a": 1}\n')
    with pytest.raises(DataError, match="expected the record of a match"):
        play(lowest, highest, games=2, record=file)
    assert file.read_text() == '{"a": 1}\n'
