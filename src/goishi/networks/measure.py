"""How fast networks run here, against this machine's matrix products at the same precision, measured in one run."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goishi.core import registry
from goishi.core.game import Game
from goishi.errors import MissingExtra, UsageError
from goishi.networks import runtime as runtimes
from goishi.networks import store

if TYPE_CHECKING:
    import onnx

BATCHES = (1, 8, 16, 64, 128)
SQUARES = (1024, 2048)
"""Sides of the matrices whose product is the yardstick; the faster one counts."""


def network(
    game_spec: str = "gomoku:size=9,row=5",
    network: str = "thesis",
    batches: Sequence[int] = BATCHES,
    seconds: float = 20.0,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Positions a second of a network in every runtime and precision that is here, as `goishi bench network` prints it.

    `network`: a preset (with fresh weights), a shipped model or a path. Every row and every yardstick gets its turn in
    every round, and its best round counts, so that what else the machine does hits all alike. `seconds` is about the
    whole; `progress` hears the share that is done. `gflops` counts the network's own products, two operations each.
    Raises UnknownGame, BadModel, or MissingExtra where a preset needs torch.
    """
    game = registry.find(game_spec)
    content = model_bytes(network, game)
    proto, model = store.parse(content)
    gflop = 2e-9 * products(runtimes.only(proto, runtimes.JUDGMENT), game, model)
    rows: list[dict[str, Any]] = []
    works: list[Callable[[], object]] = []
    yardsticks: dict[tuple[str, str], list[int]] = {}  # device and precision: which of `works`
    sizes: list[float] = []  # GFLOP a call
    kinds = runtimes.kinds()
    for name, precision in kinds:
        opened = runtimes.open_runtime(content, game, name, precision)
        for batch in batches:
            if batch not in opened.sizes:
                raise UsageError(f"A batch of {batch} is not measured; there are {', '.join(map(str, opened.sizes))}.")
            rows.append({"runtime": name, "precision": precision, "batch": batch})
            works.append(run_of(opened, batch, game))
            sizes.append(gflop * batch)
    for name, precision in kinds:
        where = "cuda" if name == "torch:cuda" else "cpu"
        if (where, precision) not in yardsticks:
            yardsticks[where, precision] = list(range(len(works), len(works) + len(SQUARES)))
            works += [runtimes.matrix_product(side, precision, where) for side in SQUARES]
            sizes += [2e-9 * side**3 for side in SQUARES]
    best = fastest(works, seconds, progress)
    for row, least, amount in zip(rows, best, sizes, strict=False):
        where = "cuda" if row["runtime"] == "torch:cuda" else "cpu"
        matmul = max(sizes[i] / best[i] for i in yardsticks[where, row["precision"]])
        row["positions_per_second"] = round(row["batch"] / least, 1)
        row["gflops"] = round(amount / least, 1)
        row["matmul_gflops"] = round(matmul, 1)
        row["fraction"] = round(amount / least / matmul, 4)
    return {"game": game.spec, "network": network, "gflop_per_position": round(gflop, 6), "rows": rows}


def model_bytes(name: str, game: Game) -> bytes:
    """A preset with fresh weights, or a model's file."""
    if (store.models_folder() / f"{name}.onnx").is_file() or Path(name).suffix == ".onnx":
        return store.find(name).read_bytes()
    if "torch" not in runtimes.available():
        raise MissingExtra(
            f"A fresh {name} network needs torch, and there is no model of that name; give the path of a model, or "
            "install it with: pip install 'goishi[train]'"
        )
    from goishi.networks.network import PRESETS, build, to_onnx

    if name not in PRESETS:
        return store.find(name).read_bytes()
    return to_onnx(build(PRESETS[name], game), game, {})


def products(proto: "onnx.ModelProto", game: Game, model: store.Model) -> int:
    """Multiply-adds of one position: those of convolutions and dense layers."""
    shapes = {tensor.name: tuple(tensor.dims) for tensor in proto.graph.initializer}
    area: dict[str, int] = {"planes": game.planes[1] * game.planes[2]}  # points of a tensor
    total = 0
    for node in proto.graph.node:
        points = max((area.get(name, 1) for name in node.input), default=1)
        if node.op_type == "Conv" and not node.input[1].startswith(store.CONSTANT):
            total += points * int(np.prod(shapes[node.input[1]]))
        elif node.op_type == "Gemm":
            total += int(np.prod(shapes[node.input[1]]))
        if node.op_type.startswith("Global") or node.op_type in ("Flatten", "Gemm"):
            points = 1
        elif node.op_type.startswith("Reduce"):
            points = game.planes[2]
        area[node.output[0]] = points
    return total


def run_of(opened: runtimes.Runtime, batch: int, game: Game) -> Callable[[], object]:
    """A call that runs one batch of planes, a third of them ones."""
    planes = opened.buffer(batch)
    planes[:] = np.random.default_rng(1).random(planes.shape) < 1 / 3
    return lambda: opened.run(planes)


def fastest(
    works: Sequence[Callable[[], object]],
    seconds: float,
    progress: Callable[[float], None] | None = None,
    rounds: int = 8,
) -> list[float]:
    """The least seconds a call of each took: every round gives each its turn, of many calls where a call is short."""
    best = [float("inf")] * len(works)
    calls = []
    for work in works:
        work()
        begin = time.perf_counter()
        work()
        calls.append(max(1, int(seconds / rounds / len(works) / (time.perf_counter() - begin))))
    for turn in range(rounds):
        for i, work in enumerate(works):
            work()  # wakes this runtime's threads, and gives those of the last one time to rest
            begin = time.perf_counter()
            for _ in range(calls[i]):
                work()
            best[i] = min(best[i], (time.perf_counter() - begin) / calls[i])
        if progress:
            progress((turn + 1) / rounds)
    return best
