"""The networks themselves, in torch, and their way to ONNX and back.

Two kinds. `thesis`: a small residual network with dense heads, bound to one board size (Goishi's baseline).
`residual`: size-independent, its weights run on every board of the game: a plane of ones marks the edges, pooled
features carry what is far away, the policy comes from convolutions.

Shapes: B positions, C planes, H W the board, P = H W points, A actions. Both kinds map planes float32[B, C, H, W] to
    logits float32[B, A] and value: float32[B] after tanh (`value_head == "tanh"`), or
                                    float32[B, 3] logits of win, draw, loss for the player to move ("outcome").
For a game that knows whose each point is, a residual network tells two things more (`owners`), in training and when
asked for them alone: ownership float32[B, P], before tanh, and score float32[B], in SCORE_SCALE points.

Training on a CPU is fastest in channels_last under bf16 autocast: `module.to(memory_format=torch.channels_last)`, and
planes likewise. For `small` on 9x9 that ran 1.3 times as fast as the default format and 1.4 times as fast as float32
(`thesis`: 1.05 and 1.7); half of the time goes into the gradients of the convolutions' weights.
"""

import json
import math
import operator
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
import torch.fx
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

import goishi
from goishi.core.game import Game
from goishi.errors import BadModel, UsageError
from goishi.networks import store

PRESETS: dict[str, dict[str, Any]] = {
    "thesis": {"network": "thesis", "blocks": 3, "width": 81, "biases": False},
    "tiny": {"network": "residual", "blocks": 2, "width": 32, "pooled": 16, "pool_every": 2},
    "small": {"network": "residual", "blocks": 3, "width": 64, "pooled": 32, "pool_every": 2},
    "medium": {"network": "residual", "blocks": 6, "width": 96, "pooled": 32, "pool_every": 3},
    "large": {"network": "residual", "blocks": 10, "width": 128, "pooled": 32, "pool_every": 3},
}
SCORE_SCALE = 20.0
"""Points that the score's head has as 1."""
OPSET = 18
IR_VERSION = 9


def build(architecture: Mapping[str, Any], game: Game, owners: bool | None = None) -> "ThesisNetwork | ResidualNetwork":
    """A network with fresh weights for a game. `architecture` is a preset's dict, or one like it.

    `owners`: with the heads of ownership and score, which a residual network has by itself where the game knows owners.
    Raises UsageError when a key or a value of the architecture is wrong.
    """
    knows = hasattr(game.module, "owners")
    owners = knows if owners is None else owners and knows
    options = dict(architecture)
    kind = options.pop("network", None)
    if kind not in ("thesis", "residual"):
        raise UsageError(f"architecture: network must be thesis or residual, not {kind!r}.")
    defaults = dict(PRESETS["thesis" if kind == "thesis" else "small"])
    del defaults["network"]
    for key, value in options.items():
        if key not in defaults:
            raise UsageError(f"architecture: {kind} has no key {key!r}; it has {', '.join(defaults)}.")
        if type(value) is not type(defaults[key]) or (type(value) is int and not 1 <= value <= 4096):
            raise UsageError(f"architecture: {key}={value!r} cannot be used; a good value is {defaults[key]}.")
    options = defaults | options
    if kind == "residual" and (options["width"] % 16 or options["pooled"] % 16):
        raise UsageError("architecture: width and pooled must be multiples of 16.")
    module = ThesisNetwork(game, **options) if kind == "thesis" else ResidualNetwork(game, **options, owners=owners)
    module.architecture = {"network": kind, **options}
    return module


class Convolution(nn.Module):
    """A convolution that keeps the board's size, then batch normalization."""

    def __init__(self, inputs: int, outputs: int, size: int, bias: bool = False):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=bias)
        self.norm = nn.BatchNorm2d(outputs)
        nn.init.kaiming_normal_(self.conv.weight, nonlinearity="relu")
        if self.conv.bias is not None:
            nn.init.zeros_(self.conv.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.conv(x))


class Ones(nn.Module):
    """One more plane, all ones: with zero padding around it, a convolution sees the edges."""

    def forward(self, planes: Tensor) -> Tensor:
        return torch.cat([planes, torch.ones_like(planes[:, :1])], 1)


class GlobalPool(nn.Module):
    """float[B, C, H, W] -> float[B, 3C, 1, 1]: each channel's mean, its mean times (sqrt(H W) - 9) / 5, its maximum.

    The second lets a network know how large a board its mean was taken over.
    """

    def forward(self, x: Tensor) -> Tensor:
        mean = x.mean((2, 3), keepdim=True)
        return torch.cat([mean, mean * board_scale(*x.shape[2:]), x.amax((2, 3), keepdim=True)], 1)


class ColumnPool(nn.Module):
    """float[B, C, H, W] -> float[B, 2C, 1, W]: each column's mean and maximum."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x.mean(2, keepdim=True), x.amax(2, keepdim=True)], 1)


def board_scale(rows: int, columns: int) -> float:
    """The board's size as GlobalPool shows it: 0 for 9x9, 1.2 for 15x15, 2 for 19x19."""
    return (math.sqrt(rows * columns) - 9) / 5


class ThesisBlock(nn.Module):
    """conv 3x3 - BN - ReLU - conv 3x3 - BN - add the input - ReLU."""

    def __init__(self, width: int, bias: bool):
        super().__init__()
        self.first = Convolution(width, width, 3, bias)
        self.second = Convolution(width, width, 3, bias)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.relu(self.second(self.relu(self.first(x))) + x)


class ThesisNetwork(nn.Module):
    """The network of the thesis that Goishi takes as its baseline, for one board size.

    Its convolutions have no biases unless `biases`: batch normalization follows each and has its own.
    """

    value_head = "tanh"
    fixed_size = True
    owners = None
    architecture: dict[str, Any]

    def __init__(self, game: Game, blocks: int, width: int, biases: bool):
        super().__init__()
        planes, rows, columns = game.planes
        self.stem = Convolution(planes, width, 3, biases)
        self.blocks = nn.Sequential(*(ThesisBlock(width, biases) for _ in range(blocks)))
        self.policy = Convolution(width, width, 3, biases)
        self.policy_out = nn.Linear(width * rows * columns, game.actions)
        self.value = Convolution(width, 2, 1, biases)
        self.value_hidden = nn.Linear(2 * rows * columns, 81)
        self.value_out = nn.Linear(81, 1)
        self.relu, self.tanh = nn.ReLU(), nn.Tanh()
        self.flat, self.scalar = nn.Flatten(), nn.Flatten(0)
        for layer in (self.policy_out, self.value_out):
            start_small(layer)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        x = self.blocks(self.relu(self.stem(planes)))
        policy = self.policy_out(self.flat(self.relu(self.policy(x))))
        hidden = self.relu(self.value_hidden(self.flat(self.relu(self.value(x)))))
        return policy, self.scalar(self.tanh(self.value_out(hidden)))


class PooledBias(nn.Module):
    """What the whole board has in common, as one number per channel: float[B, C, H, W] -> float[B, C', 1, 1]."""

    def __init__(self, inputs: int, pooled: int, outputs: int):
        super().__init__()
        self.squeeze = Convolution(inputs, pooled, 1)
        self.relu = nn.ReLU()
        self.pool = GlobalPool()
        self.out = nn.Conv2d(3 * pooled, outputs, 1)
        start_small(self.out)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.pool(self.relu(self.squeeze(x))))


class ResidualBlock(nn.Module):
    """As ThesisBlock, but starts as the identity, and a block that pools adds a PooledBias before the last ReLU."""

    def __init__(self, width: int, pooled: int):
        super().__init__()
        self.first = Convolution(width, width, 3)
        self.second = Convolution(width, width, 3)
        self.bias = PooledBias(width, pooled, width) if pooled else None
        self.relu = nn.ReLU()
        nn.init.zeros_(self.second.norm.weight)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.relu(self.first(x))
        y = self.second(hidden) + x
        if self.bias is not None:
            y = y + self.bias(hidden)
        return self.relu(y)


class ResidualNetwork(nn.Module):
    """The size-independent network: no weight depends on the board's size, except in the head of a game whose actions
    are no points of its board. Every `pool_every`-th block pools `pooled` channels over the board.
    """

    value_head = "outcome"
    architecture: dict[str, Any]

    def __init__(self, game: Game, blocks: int, width: int, pooled: int, pool_every: int, owners: bool):
        super().__init__()
        self.ones = Ones()
        self.stem = Convolution(game.planes[0] + 1, width, 3)
        self.blocks = nn.Sequential(
            *(ResidualBlock(width, 0 if (i + 1) % pool_every else pooled) for i in range(blocks))
        )
        self.policy = PolicyHead(game, width, pooled)
        self.fixed_size = self.policy.dense
        self.value = ValueHead(width, pooled)
        self.owners = OwnersHead(width, pooled) if owners else None
        self.relu = nn.ReLU()

    def forward(self, planes: Tensor) -> tuple[Tensor, ...]:
        """Logits and value; with the heads for them, ownership and score too."""
        x = self.trunk(planes)
        judged = self.policy(x), self.value(x)
        return judged if self.owners is None else judged + self.owners(x)

    def trunk(self, planes: Tensor) -> Tensor:
        """float[B, width, H, W]: what the heads read."""
        return self.blocks(self.relu(self.stem(self.ones(planes))))


class PolicyHead(nn.Module):
    """One logit a point; on a `drop` board one a column; one more for a pass, from pooled features.

    A game whose actions are no points of its board gets a dense layer, for its one size.
    """

    def __init__(self, game: Game, width: int, pooled: int):
        super().__init__()
        board = game.board
        fits = board is not None and (board.rows, board.columns) == game.planes[1:] and board.actions == game.actions
        self.hidden = Convolution(width, pooled, 1)
        self.bias = PooledBias(width, pooled, pooled)
        self.relu, self.flat = nn.ReLU(), nn.Flatten()
        self.columns = ColumnPool() if fits and board is not None and board.style == "drop" else None
        self.pass_hidden = self.pass_out = None
        if fits and board is not None:
            self.out: nn.Module = nn.Conv2d(2 * pooled if self.columns else pooled, 1, 1)
            if board.passes:
                self.pass_hidden = PooledBias(width, pooled, pooled)
                self.pass_out = nn.Conv2d(pooled, 1, 1)
                start_small(self.pass_out)
            self.dense = False
        else:
            self.out = nn.Linear(pooled * game.planes[1] * game.planes[2], game.actions)
            self.dense = True
        start_small(self.out)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.relu(self.hidden(x) + self.bias(x))
        if self.dense:
            return self.out(self.flat(hidden))
        if self.columns is not None:
            hidden = self.columns(hidden)
        logits = self.flat(self.out(hidden))
        if self.pass_hidden is not None and self.pass_out is not None:
            logits = torch.cat([logits, self.flat(self.pass_out(self.relu(self.pass_hidden(x))))], 1)
        return logits


class ValueHead(nn.Module):
    """Logits of win, draw and loss for the player to move, from pooled features."""

    def __init__(self, width: int, pooled: int):
        super().__init__()
        self.hidden = PooledBias(width, pooled, 2 * pooled)
        self.relu, self.flat = nn.ReLU(), nn.Flatten()
        self.out = nn.Conv2d(2 * pooled, 3, 1)
        nn.init.kaiming_normal_(self.hidden.out.weight, nonlinearity="relu")
        start_small(self.out)

    def forward(self, x: Tensor) -> Tensor:
        return self.flat(self.out(self.relu(self.hidden(x))))


class OwnersHead(nn.Module):
    """Whose each point will be, before tanh, and by how many SCORE_SCALE points the player to move will be ahead."""

    def __init__(self, width: int, pooled: int):
        super().__init__()
        self.hidden = Convolution(width, pooled, 1)
        self.bias = PooledBias(width, pooled, pooled)
        self.out = nn.Conv2d(pooled, 1, 1)
        self.score_hidden = PooledBias(width, pooled, pooled)
        self.score_out = nn.Conv2d(pooled, 1, 1)
        self.relu, self.flat, self.scalar = nn.ReLU(), nn.Flatten(), nn.Flatten(0)
        nn.init.kaiming_normal_(self.score_hidden.out.weight, nonlinearity="relu")
        start_small(self.out)
        start_small(self.score_out)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        ownership = self.flat(self.out(self.relu(self.hidden(x) + self.bias(x))))
        return ownership, self.scalar(self.score_out(self.relu(self.score_hidden(x))))


def start_small(layer: nn.Module) -> None:
    """Makes a layer's first answers nearly zero: an untrained network has no opinion."""
    weight, bias = layer.weight, layer.bias
    assert isinstance(weight, Tensor)
    nn.init.normal_(weight, std=0.1 / math.sqrt(weight[0].numel()))
    if isinstance(bias, Tensor):
        nn.init.zeros_(bias)


# To ONNX and back -------------------------------------------------------------------------------------------------


def to_onnx(module: "ThesisNetwork | ResidualNetwork", game: Game, metadata: Mapping[str, Any]) -> bytes:
    """The network as an ONNX file: one input `planes` [B, C, H, W], outputs `policy` [B, A] logits, `value` [B], and
    where the network has them `outcome` [B, 3] probabilities, `ownership` [B, P] in [-1, 1] and `score` [B] in points.
    Weights are named as in `state_dict`.

    `metadata`: `steps` (int), `rating` (anything JSON can hold) and what else is to be remembered, by name.
    """
    writer = _Writer(module, game)
    policy, value, *rest = writer.trace()
    outputs = [helper.make_tensor_value_info("policy", TensorProto.FLOAT, ["B", game.actions])]
    writer.node("Identity", [policy], "policy")
    if module.value_head == "outcome":
        writer.node("Softmax", [value], "outcome", axis=1)
        writer.node("MatMul", ["outcome", writer.constant("win_minus_loss", np.array([1, 0, -1], np.float32))], "value")
        outputs.append(helper.make_tensor_value_info("outcome", TensorProto.FLOAT, ["B", 3]))
    else:
        writer.node("Identity", [value], "value")
    outputs.insert(1, helper.make_tensor_value_info("value", TensorProto.FLOAT, ["B"]))
    if rest:
        points = game.planes[1] * game.planes[2]
        writer.node("Tanh", [rest[0]], "ownership")
        writer.node("Mul", [rest[1], writer.constant("score_scale", np.array(SCORE_SCALE, np.float32))], "score")
        outputs.append(helper.make_tensor_value_info("ownership", TensorProto.FLOAT, ["B", points]))
        outputs.append(helper.make_tensor_value_info("score", TensorProto.FLOAT, ["B"]))
    planes = helper.make_tensor_value_info("planes", TensorProto.FLOAT, ["B", *game.planes])
    graph = helper.make_graph(writer.nodes, "goishi", [planes], outputs, writer.initializers)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name="goishi"
    )
    known = {
        "game": game.spec,
        "encoder": json.dumps({"name": getattr(game.module, "encoder", "planes"), "planes": game.planes}),
        "architecture": json.dumps(module.architecture),
        "steps": str(int(metadata.get("steps", 0))),
        "rating": json.dumps(metadata["rating"]) if metadata.get("rating") is not None else "",
        "version": goishi.__version__,
        "heads": json.dumps([output.name for output in outputs]),
        "sizes": "one" if module.fixed_size else "any",
    }
    others = {key: value if isinstance(value, str) else json.dumps(value) for key, value in metadata.items()}
    helper.set_model_props(model, {store.PREFIX + key: text for key, text in (others | known).items()})
    onnx.checker.check_model(model)
    return model.SerializeToString()


def from_onnx(path: Path | bytes, game: Game) -> "ThesisNetwork | ResidualNetwork":
    """The network of a file that `to_onnx` made, for a game it can play: the weights are the same to the last bit.

    Raises BadModel when the file is broken, foreign, or made for another game.
    """
    proto, model = store.parse(path)
    store.check(model, game)
    try:
        module = build(model.architecture, game, owners="ownership" in model.heads)
    except UsageError as error:
        raise BadModel(f"{model.name} holds a network that this version does not know: {error}") from None
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in proto.graph.initializer}
    state = module.state_dict()
    for name, tensor in state.items():
        if name.endswith("num_batches_tracked"):
            continue
        if name not in arrays or arrays[name].shape != tuple(tensor.shape):
            raise BadModel(f"{model.name} lacks the weights {name} in the shape its architecture asks for.")
        tensor.copy_(torch.from_numpy(np.array(arrays[name])))
    return module


LEAVES = (Ones, GlobalPool, ColumnPool)


class _Tracer(torch.fx.Tracer):
    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return isinstance(m, LEAVES) or super().is_leaf_module(m, module_qualified_name)


class _Writer:
    """Walks a module's layers in the order its `forward` calls them, and writes each as ONNX nodes."""

    def __init__(self, module: nn.Module, game: Game):
        self.module, self.game = module, game
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.layers: dict[type, Callable[[str, Any, str], str]] = {
            nn.Conv2d: self.conv,
            nn.BatchNorm2d: self.norm,
            nn.Linear: self.linear,
            nn.Flatten: self.flatten,
            nn.ReLU: lambda name, layer, x: self.node("Relu", [x], name),
            nn.Tanh: lambda name, layer, x: self.node("Tanh", [x], name),
            Ones: self.ones,
            GlobalPool: self.global_pool,
            ColumnPool: self.column_pool,
        }

    def trace(self) -> tuple[str, ...]:
        """Writes all nodes; returns the names of the tensors that `forward` returns."""
        names: dict[torch.fx.Node, str] = {}
        for node in _Tracer().trace(self.module).nodes:
            inputs = [names[n] for n in node.all_input_nodes]
            if node.op == "placeholder":
                names[node] = "planes"
            elif node.op == "call_module":
                layer = self.module.get_submodule(str(node.target))
                names[node] = self.layers[type(layer)](str(node.target), layer, inputs[0])
            elif node.op == "call_function" and node.target is operator.add:
                names[node] = self.node("Add", inputs, "add")
            elif node.op == "call_function" and node.target is torch.cat:
                names[node] = self.node("Concat", inputs, "concat", axis=1)
            elif node.op == "output":
                outputs: Any = node.args[0]
                return tuple(names[output] for output in outputs)
            else:
                raise NotImplementedError(f"to_onnx does not know {node.op} {node.target}")
        raise AssertionError("a graph without an output")

    def node(self, kind: str, inputs: list[str], name: str, **attributes: Any) -> str:
        used = {out for node in self.nodes for out in node.output}
        output, count = name, 1
        while output in used:
            count += 1
            output = f"{name}:{count}"
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def weights(self, name: str, tensor: Tensor) -> str:
        self.initializers.append(numpy_helper.from_array(tensor.detach().float().cpu().contiguous().numpy(), name))
        return name

    def constant(self, name: str, array: np.ndarray) -> str:
        name = store.CONSTANT + name
        if all(tensor.name != name for tensor in self.initializers):
            self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def conv(self, name: str, layer: nn.Conv2d, x: str) -> str:
        inputs = [x, self.weights(f"{name}.weight", layer.weight)]
        if layer.bias is not None:
            inputs.append(self.weights(f"{name}.bias", layer.bias))
        size = layer.kernel_size[0]
        return self.node("Conv", inputs, name, kernel_shape=[size, size], pads=[size // 2] * 4)

    def norm(self, name: str, layer: nn.BatchNorm2d, x: str) -> str:
        state = layer.state_dict()
        keys = ("weight", "bias", "running_mean", "running_var")
        inputs = [x, *(self.weights(f"{name}.{key}", state[key]) for key in keys)]
        return self.node("BatchNormalization", inputs, name, epsilon=layer.eps)

    def linear(self, name: str, layer: nn.Linear, x: str) -> str:
        inputs = [x, self.weights(f"{name}.weight", layer.weight), self.weights(f"{name}.bias", layer.bias)]
        return self.node("Gemm", inputs, name, transB=1)

    def flatten(self, name: str, layer: nn.Flatten, x: str) -> str:
        if layer.start_dim == 1:
            return self.node("Flatten", [x], name, axis=1)
        return self.node("Reshape", [x, self.constant("scalar", np.array([-1], np.int64))], name)

    def ones(self, name: str, layer: Ones, x: str) -> str:
        """A 1x1 convolution: the identity on the planes, and a bias of one for the new one."""
        channels = self.game.planes[0]
        weight = self.constant("ones.weight", np.eye(channels + 1, channels, dtype=np.float32)[:, :, None, None])
        bias = self.constant("ones.bias", np.eye(channels + 1, dtype=np.float32)[channels])
        return self.node("Conv", [x, weight, bias], name, kernel_shape=[1, 1])

    def global_pool(self, name: str, layer: GlobalPool, x: str) -> str:
        scale = self.constant("board_scale", np.array(board_scale(*self.game.planes[1:]), np.float32))
        mean = self.node("GlobalAveragePool", [x], f"{name}.mean")
        scaled = self.node("Mul", [mean, scale], f"{name}.scaled")
        peak = self.node("GlobalMaxPool", [x], f"{name}.max")
        return self.node("Concat", [mean, scaled, peak], name, axis=1)

    def column_pool(self, name: str, layer: ColumnPool, x: str) -> str:
        rows = self.constant("rows", np.array([2], np.int64))
        mean = self.node("ReduceMean", [x, rows], f"{name}.mean", keepdims=1)
        peak = self.node("ReduceMax", [x, rows], f"{name}.max", keepdims=1)
        return self.node("Concat", [mean, peak], name, axis=1)
