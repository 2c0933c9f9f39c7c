"""The settings of a training run, and the presets that set many of them at once."""

from dataclasses import dataclass, field, replace
from typing import Literal

from goishi.core.game import Game
from goishi.errors import UsageError
from goishi.search import THESIS, SearchSettings


@dataclass(frozen=True)
class Network:
    """The network that learns."""

    preset: Literal["auto", "thesis", "tiny", "small", "medium", "large"] = "auto"
    """auto: tiny up to 16 points, small up to 120, medium above. thesis is the thesis's, for one board size."""
    runtime: str = "auto"
    """What runs it in self-play: auto, openvino, onnxruntime or torch."""
    precision: str = "auto"
    """auto, bf16 or f32."""


@dataclass(frozen=True)
class LearningSearch(SearchSettings):
    """The search of self-play."""

    mode: str = "gumbel"
    gumbel_noise: bool = True
    leaves: int = 1
    early_stop: bool = False
    visits: int = 32
    """Simulations a move."""
    cheap_visits: int = 8
    """Playout-cap randomization: simulations of a cheap move, whose position is not learned."""
    cheap_share: float = 0.0
    """Share of moves that are cheap; 0 switches the technique off."""
    clear: float = 1.0
    """Once four root values in a row are beyond this for one side, nine of ten moves are cheap; and who is as far below
    zero passes when the opponent has. 1 switches it off."""
    keep_tree: bool = False
    """Keep what is known below the played move."""


@dataclass(frozen=True)
class Games:
    """The games of self-play."""

    at_once: int = 128
    """Games in progress; the network judges a position of each worker's games in one batch."""
    workers: int = 0
    """Threads that play, each with its share of the games and one thread of the network; 0 means one a core."""
    random_share: float = 0.25
    """Share of games that begin with random legal moves."""
    random_plies: int = 8
    """Such a game begins with 1 to so many of them; 0 means as many as the board has points."""
    policy_plies: float = 0.04
    """Other games begin with moves drawn from the policy, their number exponential with this mean, in board areas."""
    varied_share: float = 0.5
    """Share of games with other rules than the game's, where its file knows some: in Go other komi, ko and suicide."""
    first_pass: float = 0.25
    """Before so many moves, in board areas, only a pass that wins at once or is forced is played."""
    temperature: float = 1.0
    """puct: a move is drawn in proportion to visits to the power 1 / this, at the beginning of a game;"""
    final_temperature: float = 0.25
    """and late in it;"""
    temperature_plies: int = 10
    """the difference halves every so many plies."""
    resign: float = 0.0
    """A side whose value stays below minus this for `resign_turns` own turns resigns; 0 plays every game out."""
    resign_turns: int = 3
    """Own turns in a row below the threshold."""
    play_on: float = 0.1
    """Share of games that are played out all the same, to measure how often a resignation would have been wrong."""


@dataclass(frozen=True)
class Learning:
    """How the network learns from the samples."""

    rows: int = 4096
    """New samples before the network learns again: one generation."""
    passes: float = 2.0
    """How often each sample is learned from, on average."""
    batch: int = 512
    """Samples in a step."""
    threads: int = 0
    """Threads of PyTorch, beside those that play; 0 means one for every two cores."""
    optimizer: Literal["adamw", "sgd"] = "adamw"
    """adamw, or sgd with momentum .9 and a true L2 term (the thesis)."""
    rate: float = 0.002
    """Learning rate at the start;"""
    final_rate: float = 0.0002
    """and at the end of the minutes asked for, falling as a cosine over the second half."""
    decay: float = 1e-4
    """Weight decay, or the thesis's factor c of the L2 term."""
    value_weight: float = 1.0
    """Weight of the value's loss; the policy's is 1."""
    ownership_weight: float = 1.5
    """Weight of the loss of ownership, the mean cross-entropy over the points, in games that know owners (KataGo's)."""
    score_weight: float = 0.006
    """Weight of the loss of the score, Huber's with 12 points, in games that know owners (KataGo's)."""
    result_share: float = 0.7
    """Value target: this share of the game's result, the rest of the search's root value."""
    average: float = 0.99
    """Moving average of the weights over steps; the averaged network plays. 0 switches it off."""
    symmetry: bool = True
    """Turn each sample by a random symmetry of the board."""
    window: int = 20_000
    """The window of samples begins with so many rows;"""
    window_exponent: float = 0.65
    """and grows as their number to this power (1 keeps a constant share)."""
    largest_window: int = 500_000
    """and never above this: it bounds memory."""


@dataclass(frozen=True)
class Rating:
    """Rating games inside the run."""

    every: int = 5
    """Generations between ratings; 0 switches them off."""
    share: float = 0.1
    """Share of the run's time for rating games, half for fixed players, half for earlier models; costlier ones wait."""
    games: int = 40
    """Games against each opponent, in pairs from one opening with colors swapped."""
    visits: int = 32
    """Simulations a move of the network."""
    rollouts: int = 25_600
    """Random playouts a move of the strongest fixed player; weaker ones have a quarter, a sixteenth and so on to 25."""
    opening_plies: int = 2
    """Random moves at the start of a pair of games."""
    earlier: int = 2
    """Earlier models that each rated one meets: the best, and others at random of those that are not far below it."""


@dataclass(frozen=True)
class Run:
    """One training run."""

    game: str = ""
    """The game's spec."""
    minutes: float = 0.0
    """How long the run lasts in all, over all its starts; 0 has no end."""
    generations: int = 0
    """The run ends after so many generations, too, so that it can be repeated exactly; 0 has no end."""
    seed: int = 0
    """Of everything that chance decides."""
    network: Network = field(default_factory=Network)
    search: LearningSearch = field(default_factory=LearningSearch)
    games: Games = field(default_factory=Games)
    learning: Learning = field(default_factory=Learning)
    rating: Rating = field(default_factory=Rating)

    def __post_init__(self) -> None:
        checks = (
            (self.minutes >= 0 and self.generations >= 0, "minutes and generations must not be negative"),
            (self.search.visits >= 2, "search.visits must be at least 2"),
            (0 < self.search.clear <= 1, "search.clear lies above 0 and up to 1"),
            (0 <= self.games.varied_share <= 1, "games.varied_share lies between 0 and 1"),
            (self.games.first_pass >= 0, "games.first_pass must not be negative"),
            (
                1 <= self.search.cheap_visits <= self.search.visits,
                "search.cheap_visits lies between 1 and search.visits",
            ),
            (0 <= self.search.cheap_share < 1, "search.cheap_share lies from 0 to below 1"),
            (1 <= self.games.at_once <= 4096, "games.at_once lies between 1 and 4096"),
            (0 <= self.games.workers <= self.games.at_once, "games.workers lies between 0 and games.at_once"),
            (0 <= self.games.random_share <= 1, "games.random_share lies between 0 and 1"),
            (0 <= self.games.resign <= 1, "games.resign lies between 0 and 1"),
            (0 <= self.games.play_on <= 1, "games.play_on lies between 0 and 1"),
            (self.games.temperature > 0 and self.games.final_temperature > 0, "temperatures must be above 0"),
            (self.learning.batch >= 2, "learning.batch must be at least 2"),
            (self.learning.rows >= 1, "learning.rows must be at least 1"),
            (self.learning.passes > 0, "learning.passes must be above 0"),
            (0 <= self.learning.result_share <= 1, "learning.result_share lies between 0 and 1"),
            (
                self.learning.ownership_weight >= 0 and self.learning.score_weight >= 0,
                "learning.ownership_weight and learning.score_weight must not be negative",
            ),
            (0 <= self.learning.average < 1, "learning.average lies from 0 to below 1"),
            (0 < self.learning.window_exponent <= 1, "learning.window_exponent lies above 0 and up to 1"),
            (
                self.learning.window >= self.learning.batch,
                "learning.window must not be smaller than learning.batch: nothing would be learned",
            ),
            (
                self.rating.games % 2 == 0 and self.rating.games >= 2,
                "rating.games must be even: games are played in pairs",
            ),
            (0 < self.rating.share <= 1, "rating.share lies above 0 and up to 1"),
            (self.rating.rollouts >= 0, "rating.rollouts must not be negative; 0 leaves random moves alone"),
        )
        for holds, text in checks:
            if not holds:
                raise UsageError(f"{text}.")


PRESETS = ("auto", "tiny", "small", "medium", "large", "thesis")


def preset_of(name: str, game: Game) -> Run:
    """The settings of a preset for a game. Raises UsageError for an unknown name.

    `auto` suits the game's size; `tiny` to `large` name the network and leave the rest; `thesis` reproduces the thesis:
    its network, PUCT with c = sqrt 2, visit counts as the policy's target, the game's result as the value's, L2.
    """
    if name not in PRESETS:
        raise UsageError(f"There is no preset {name!r}; there are {', '.join(PRESETS)}.")
    _, rows, columns = game.planes
    points = rows * columns
    size = ("tiny" if points <= 16 else "small" if points <= 120 else "medium") if name == "auto" else name
    run = Run(game=game.spec, network=Network(preset=size))  # type: ignore[arg-type]
    if name == "thesis":
        own = {"leaves": 1, "early_stop": False, "dirichlet_share": 0.25, "visits": 200, "keep_tree": True}
        return replace(
            run,
            search=LearningSearch(**(vars(THESIS) | own)),
            games=Games(random_share=0.0, policy_plies=0.0),
            learning=Learning(optimizer="sgd", rate=0.02, final_rate=0.002, result_share=1.0, average=0.0, decay=1e-4),
        )
    if hasattr(game.module, "owners"):  # Go: games are long, and decided long before their end
        run = replace(run, search=LearningSearch(cheap_share=0.5, clear=0.95), rating=Rating(games=20))
    if points <= 16:
        run = replace(
            run,
            games=Games(random_share=0.5, random_plies=0),
            learning=Learning(rows=2048, batch=256, rate=0.004, window=10_000),
        )
    return run
