"""Models on disk: one ONNX file each, which carries what must be known of it as metadata.

Reading executes nothing: the file is parsed, and every node must be on a short list of plain layers.
"""

import difflib
import inspect
import json
import os
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goishi.core.game import Game
from goishi.errors import BadModel

if TYPE_CHECKING:
    import onnx

PREFIX = "goishi."
"""Before every key of the metadata."""
CONSTANT = "constant."
"""Before the names of arrays in the file that are no weights."""
SIZES = frozenset({"size", "rows", "columns"})
"""Parameters of a game that only say how large its board is."""
LAYERS = {
    *("Add", "BatchNormalization", "Concat", "Conv", "Flatten", "Gemm", "GlobalAveragePool", "GlobalMaxPool"),
    *("Identity", "MatMul", "Mul", "ReduceMax", "ReduceMean", "Relu", "Reshape", "Softmax", "Tanh"),
}
"""The only layers that a model may be made of."""
LARGEST_BYTES = 1 << 30


@dataclass(frozen=True)
class Model:
    """What a model's file says about itself."""

    path: Path | None
    """None for one that never was a file."""
    game: str
    """The spec of the game that it was trained for."""
    planes: tuple[int, int, int]
    """C, H, W of the positions that it was trained on."""
    architecture: dict[str, Any]
    """As `network.build` takes it."""
    steps: int
    """Training steps."""
    rating: Any
    """What was measured of its strength, or None."""
    version: str
    """Goishi's version that wrote it."""
    fixed_size: bool
    """Does it play on one board size only?"""
    heads: tuple[str, ...]
    """What it tells: `policy`, `value`, and it may be `outcome`, `ownership` and `score`."""
    metadata: dict[str, str]
    """Everything the file says, by key."""

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem if self.path else "The model"

    @cached_property
    def card(self) -> str:
        """How it was made and how strong it measured: the text of NAME.md beside it, or nothing."""
        card = self.path.with_suffix(".md") if self.path else None
        return card.read_text(encoding="utf-8") if card and card.is_file() else ""


def models_folder() -> Path:
    """Where the models lie that come with Goishi."""
    return Path(__file__).parent.parent / "models"


def shipped() -> list[Model]:
    """The models that come with Goishi, by name."""
    return [read(path) for path in sorted(models_folder().glob("*.onnx"))]


def find(name_or_path: str | Path) -> Path:
    """The file of a shipped model's name, or of a path. Raises BadModel when there is none."""
    text = str(name_or_path)
    names = {path.stem: path for path in models_folder().glob("*.onnx")}
    if text in names:
        return names[text]
    path = Path(text).expanduser()
    if path.is_file():
        return path
    if path.is_dir():
        raise BadModel(f"{text} is a folder; give the path of a model, a file that ends in .onnx.")
    near = difflib.get_close_matches(text, names, 1)
    hint = f"did you mean {near[0]}?" if near else "`goishi models` lists those that come with Goishi."
    raise BadModel(f"There is no model {text!r}; {hint}")


def read(path: str | Path) -> Model:
    """What a model's file says. Raises BadModel when it is missing, broken, foreign or unsafe."""
    return parse(path)[1]


def save(path: str | Path, content: bytes) -> None:
    """Writes a file so that it is there whole or not at all, even when the machine stops."""
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def parse(source: str | Path | bytes) -> tuple["onnx.ModelProto", Model]:
    """A checked model: its graph and what it says. Raises BadModel."""
    import onnx
    from google.protobuf.message import DecodeError

    path = None if isinstance(source, bytes) else Path(source)
    label = path.name if path else "The model"
    try:
        if path is not None:
            if path.stat().st_size > LARGEST_BYTES:
                raise BadModel(f"{label} is larger than {LARGEST_BYTES >> 20} MiB; no model of Goishi is.")
            content = path.read_bytes()
        else:
            assert isinstance(source, bytes)
            content = source
        proto = onnx.ModelProto.FromString(content)
    except OSError as error:
        raise BadModel(f"{path} cannot be read: {error.strerror or error}.") from None
    except DecodeError:
        raise BadModel(
            f"{label} is no ONNX file, or only a part of one; train a model or name a shipped one."
        ) from None
    try:
        check_graph(proto)
        model = describe(proto, path)
    except BadModel as error:
        raise BadModel(f"{label} {error}") from None
    return proto, model


def describe(proto: "onnx.ModelProto", path: Path | None) -> Model:
    """The metadata as a Model. Raises BadModel."""
    metadata = {p.key.removeprefix(PREFIX): p.value for p in proto.metadata_props if p.key.startswith(PREFIX)}
    try:
        encoder = json.loads(metadata["encoder"])
        channels, rows, columns = (int(n) for n in encoder["planes"])
        architecture = json.loads(metadata["architecture"])
        if not isinstance(architecture, dict):
            raise ValueError
        return Model(
            path,
            game=metadata["game"],
            planes=(channels, rows, columns),
            architecture=architecture,
            steps=int(metadata["steps"]),
            rating=json.loads(metadata["rating"]) if metadata["rating"] else None,
            version=metadata["version"],
            fixed_size=metadata["sizes"] == "one",
            heads=tuple(str(head) for head in json.loads(metadata.get("heads", '["policy", "value"]'))),
            metadata=metadata,
        )
    except (KeyError, ValueError, TypeError):
        raise BadModel("is an ONNX file, but not one that Goishi wrote; it lacks Goishi's metadata.") from None


def check_graph(proto: "onnx.ModelProto") -> None:
    """Raises BadModel unless the graph is made of plain layers, holds its own finite weights, and maps planes to policy
    and value."""
    import onnx
    from onnx import numpy_helper

    graph = proto.graph
    if proto.functions or proto.training_info or graph.sparse_initializer:
        raise BadModel("holds more than a plain network and is not loaded.")
    for node in graph.node:
        if node.domain not in ("", "ai.onnx") or node.op_type not in LAYERS:
            raise BadModel(f"uses the layer {node.domain or 'ai.onnx'}.{node.op_type}, which Goishi does not load.")
    initializers = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in initializers]
    outputs = {value.name for value in graph.output}
    if [value.name for value in inputs] != ["planes"] or not {"policy", "value"} <= outputs:
        raise BadModel("does not map `planes` to `policy` and `value`, so it is no model of Goishi.")
    for tensor in graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
            raise BadModel("keeps weights in another file, which Goishi does not open.")
        try:
            array = numpy_helper.to_array(tensor)
        except Exception:
            raise BadModel(f"is damaged: the weights {tensor.name} do not fit their shape.") from None
        if not np.isfinite(array).all():
            raise BadModel(f"is damaged: the weights {tensor.name} hold numbers that are not finite.")


def check(model: Model, game: Game) -> None:
    """Raises BadModel when the model cannot play the game: another game, another encoder, other rules, or another board
    size than its network is bound to."""
    label = model.name
    (name, parameters), (played, played_parameters) = _split(model.game), _split(game.spec)
    if Path(name).stem.lower() != Path(played).stem.lower():
        raise BadModel(f"{label} was trained for {model.game} and cannot play {game.spec}; name a model for that game.")
    if model.planes[0] != game.planes[0]:
        raise BadModel(
            f"{label} reads {model.planes[0]} planes, but {game.spec} has {game.planes[0]}; it was made for another "
            "version of the game: train a new one."
        )
    if model.fixed_size and model.planes != game.planes:
        _, rows, columns = model.planes
        raise BadModel(
            f"{label} plays on {columns}x{rows} only and cannot play {game.spec}; name a model of the small, medium or "
            "large network, which run on every size."
        )
    mine, its = rules(game, played_parameters), rules(game, parameters)
    different = [key for key in mine if mine[key] != its.get(key, mine[key])]
    if different:
        old, new = (", ".join(f"{key}={side[key]}" for key in different) for side in (its, mine))
        raise BadModel(f"{label} was trained with {old} and cannot play {new}; name a model for these rules.")


def _split(spec: str) -> tuple[str, str]:
    """The name and the parameters of a spec; a path may hold a colon of its own."""
    name, colon, parameters = spec.rpartition(":")
    return (name, parameters) if colon and ("=" in parameters or not parameters) else (spec, "")


def rules(game: Game, parameters: str) -> dict[str, str]:
    """What `row=5,rule=exact` says about the rules that a network does not see, with the game's defaults filled in."""
    setup = getattr(game.module, "setup", None)
    known = {key: str(p.default) for key, p in inspect.signature(setup).parameters.items()} if setup else {}
    given = dict(part.split("=", 1) for part in parameters.split(",") if "=" in part)
    seen = SIZES.union(getattr(game.module, "shown", ()))
    return {key: given.get(key, default) for key, default in known.items() if key not in seen}
