"""Runs a model's file: OpenVINO, ONNX Runtime or Torch behind one small interface.

Shapes: B positions, C H W planes, P = H W points, A actions.
"""

import copy
import importlib.util
import json
import math
import os
import platform
import shutil
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from goishi.core.game import Game
from goishi.errors import BadModel, GoishiError, MissingExtra, UsageError
from goishi.networks import store

if TYPE_CHECKING:
    import onnx

SIZES: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Batches that are compiled, each when first used; others are padded up to the next, or split."""
NAMES = ("openvino", "onnxruntime", "torch")
PRECISIONS = ("auto", "bf16", "f32")
JUDGMENT = ("policy", "value")
"""What a search asks a model for: logits float32[B, A] and values float32[B]."""
OUTLOOK = ("ownership", "score")
"""What some models tell besides: float32[B, P] in [-1, 1] and float32[B] points."""
CHANNELS = 32
"""Widths that a matrix unit takes whole: AMX multiplies 32 bf16 channels at once."""


class Runtime(Protocol):
    """A model ready to run. Its buffers are its own: hold `lock` from filling `buffer` until `run` returns."""

    name: str
    """`openvino`, `onnxruntime` or `torch`."""
    precision: str
    """`bf16` or `f32`: what the products are computed in."""
    sizes: tuple[int, ...]
    """The batches that it runs, ascending."""
    lock: threading.RLock

    def buffer(self, size: int) -> np.ndarray:
        """float32[size, C, H, W] for one of `sizes`: what `run` reads without a copy. Its contents are left over."""

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logits float32[B, A] and values float32[B] of planes float32[B, C, H, W]; B is one of `sizes`. The answers
        are valid until the next call. One that `outlook` gave answers ownership float32[B, P] and score float32[B]."""

    def outlook(self) -> "Runtime | None":
        """The same model, ready to tell ownership and score instead, opened when first asked for; None where it does
        not know them."""

    def beside(self, count: int) -> "Sequence[Runtime]":
        """The same model for so many threads at once, each with its part of the cores; empty where it gains nothing."""


def open_runtime(
    model: str | Path | bytes, game: Game, runtime: str = "auto", precision: str = "auto", threads: int = 0
) -> Runtime:
    """A model, as a file or its bytes, ready to run for a game that it can play.

    `runtime`: `auto` (the fastest here, measured once for each machine), `openvino`, `onnxruntime`, `torch`
    (`torch:cpu`, `torch:cuda:1`). `precision`: `auto` (bf16 where the processor computes in it), `bf16`, `f32`.
    `threads`: of one run; 0 means one a core. Where several callers keep the cores busy, one each is faster.
    Raises BadModel, MissingExtra when the runtime is not installed, UsageError for a name that is unknown, or a
    precision or device that is not there.
    """
    name, _, device = runtime.partition(":")
    if name not in ("auto", *NAMES) or (device and name != "torch"):
        raise UsageError(f"There is no runtime {runtime!r}; there are auto, {', '.join(NAMES)}.")
    if precision not in PRECISIONS:
        raise UsageError(f"There is no precision {precision!r}; there are {', '.join(PRECISIONS)}.")
    proto, description = store.parse(model)
    store.check(description, game)
    proto = fit(proto, description, game)
    if name == "auto":
        return _fastest(proto, description, game, precision, threads)
    return _open(proto, description, game, runtime, precision, threads)


def available() -> list[str]:
    """The runtimes that are installed, by name."""
    return [name for name in NAMES if importlib.util.find_spec(name) is not None]


def _open(
    proto: "onnx.ModelProto", model: store.Model, game: Game, runtime: str, precision: str, threads: int
) -> Runtime:
    name, _, device = runtime.partition(":")
    if name not in available():
        extra = "'goishi[train]'" if name == "torch" else name
        raise MissingExtra(f"The runtime {name} is not installed; install it with: pip install {extra}")
    try:
        if name == "openvino":
            return OpenVino(proto, game, precision, threads)
        if name == "onnxruntime":
            return OnnxRuntime(proto, game, precision, threads)
        return Torch(proto, game, precision, device)
    except GoishiError:
        raise
    except Exception as error:  # what a runtime says of a graph that it cannot build, or of its own installation
        line = (str(error).strip().splitlines() or [type(error).__name__])[-1]
        raise BadModel(f"{model.name} does not run with {name} here; try another runtime. It says: {line}") from error


class OpenVino:
    """OpenVINO on the processor, one graph compiled for each batch size."""

    name = "openvino"
    sizes = SIZES

    def __init__(
        self,
        proto: "onnx.ModelProto",
        game: Game,
        precision: str,
        threads: int = 0,
        outputs: tuple[str, str] = JUDGMENT,
    ):
        self.precision = _precision(precision, processor_has_bf16())
        self.lock = threading.RLock()
        self.outlook = _outlook(proto, lambda: OpenVino(proto, game, precision, threads, OUTLOOK))
        self._game, self._threads, self._streams, self._outputs = game, threads or cores(), 1, outputs
        self._model = openvino_core().read_model(widen(only(proto, outputs), CHANNELS).SerializeToString())
        self._compiled: dict[int, Any] = {}  # by batch size
        self._compiling = threading.Lock()
        self._requests: dict[int, tuple[Any, np.ndarray, np.ndarray, np.ndarray]] = {}
        self.buffer(1)  # what cannot be compiled fails here

    def beside(self, count: int) -> "list[OpenVino]":
        if self._threads < count:
            return []
        first = copy.copy(self)
        first._streams, first._compiled = count, {}
        lanes = [copy.copy(first) for _ in range(count)]
        for lane in lanes:  # they share the compiled graphs
            lane.lock, lane._requests = threading.RLock(), {}
        return lanes

    def _compile(self, size: int) -> Any:
        """The graph for one batch size."""
        with self._compiling:
            if size not in self._compiled:
                model = self._model.clone()
                model.reshape([size, *self._game.planes])
                options = {
                    "INFERENCE_PRECISION_HINT": self.precision,
                    "PERFORMANCE_HINT": "LATENCY",
                    "NUM_STREAMS": self._streams,
                    "INFERENCE_NUM_THREADS": self._threads,
                    "ENABLE_CPU_PINNING": self._threads == cores(),  # else all who ask for few threads get the same
                }
                self._compiled[size] = openvino_core().compile_model(model, "CPU", options)
            return self._compiled[size]

    def _at(self, size: int) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        """Request, planes and both outputs of one batch size; the arrays are the tensors' own memory."""
        if size not in self._requests:
            ov = import_openvino()
            request = self._compile(size).create_infer_request()
            planes = np.zeros((size, *self._game.planes), np.float32)
            each = self._game.actions if self._outputs == JUDGMENT else self._game.planes[1] * self._game.planes[2]
            many, one = np.zeros((size, each), np.float32), np.zeros(size, np.float32)
            for name, array in zip(("planes", *self._outputs), (planes, many, one), strict=True):
                request.set_tensor(name, ov.Tensor(array, shared_memory=True))
            self._requests[size] = request, planes, many, one
        return self._requests[size]

    def buffer(self, size: int) -> np.ndarray:
        with self.lock:
            return self._at(size)[1]

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with self.lock:
            request, buffer, many, one = self._at(len(planes))
            if planes is not buffer:
                buffer[:] = planes
            request.start_async()  # infer() has this thread compute a part, and all wait when the system delays it
            request.wait()
        return many, one


class OnnxRuntime:
    """ONNX Runtime on the processor, in float32."""

    name = "onnxruntime"
    precision = "f32"
    sizes = SIZES

    def __init__(
        self,
        proto: "onnx.ModelProto",
        game: Game,
        precision: str,
        threads: int = 0,
        outputs: tuple[str, str] = JUDGMENT,
    ):
        import onnxruntime

        if precision == "bf16":
            raise UsageError("The runtime onnxruntime computes in f32 only; choose openvino or torch for bf16.")
        self.lock = threading.RLock()
        self.outlook = _outlook(proto, lambda: OnnxRuntime(proto, game, precision, threads, OUTLOOK))
        self._outputs = list(outputs)
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or cores()
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        content = only(proto, outputs).SerializeToString()
        self._session = onnxruntime.InferenceSession(content, options, ["CPUExecutionProvider"])
        self._buffers = {size: np.zeros((size, *game.planes), np.float32) for size in self.sizes}

    def buffer(self, size: int) -> np.ndarray:
        return self._buffers[size]

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with self.lock:
            many, one = self._session.run(self._outputs, {"planes": planes})
        return many, one

    def beside(self, count: int) -> "list[OnnxRuntime]":
        return []


class Torch:
    """Torch on the processor or a GPU."""

    name = "torch"
    sizes = SIZES

    def __init__(
        self, proto: "onnx.ModelProto", game: Game, precision: str, device: str, outputs: tuple[str, str] = JUDGMENT
    ):
        import torch

        from goishi.networks import network

        self.lock = threading.RLock()
        self.outlook = _outlook(proto, lambda: Torch(proto, game, precision, device, OUTLOOK))
        self._outputs, self._scale = outputs, network.SCORE_SCALE
        try:
            self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        except RuntimeError:
            raise UsageError(f"There is no device {device!r}; there are torch:cpu, torch:cuda, torch:cuda:1.") from None
        on_gpu = self.device.type == "cuda"
        if on_gpu and (self.device.index or 0) >= torch.cuda.device_count():
            raise UsageError(f"There is no device {device!r}; torch sees {torch.cuda.device_count()} GPUs here.")
        self.precision = _precision(precision, torch.cuda.is_bf16_supported() if on_gpu else processor_has_bf16())
        self._torch = torch
        module = network.from_onnx(proto.SerializeToString(), game).to(self.device)
        if outputs == JUDGMENT:
            module.owners = None  # what nobody asks for costs nothing
        self._module = module.to(memory_format=torch.channels_last).eval().requires_grad_(False)  # type: ignore[call-overload]
        self._buffers = {size: np.zeros((size, *game.planes), np.float32) for size in self.sizes}

    def buffer(self, size: int) -> np.ndarray:
        return self._buffers[size]

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        torch = self._torch
        bf16 = self.precision == "bf16"
        with self.lock, torch.inference_mode(), torch.autocast(self.device.type, torch.bfloat16, enabled=bf16):
            buffer = self._buffers[len(planes)]
            if planes is not buffer:
                buffer[:] = planes
            tensor = torch.from_numpy(buffer).to(self.device, memory_format=torch.channels_last)
            many, one = self._module(tensor)[-2:]
            if self._outputs == OUTLOOK:
                many, one = torch.tanh(many.float()), one.float() * self._scale
            elif self._module.value_head == "outcome":
                outcome = torch.softmax(one.float(), 1)
                one = outcome[:, 0] - outcome[:, 2]
            return many.float().cpu().numpy(), one.float().cpu().numpy()

    def beside(self, count: int) -> "list[Torch]":
        return []


# Making a graph fit ---------------------------------------------------------------------------------------------


def only(proto: "onnx.ModelProto", outputs: tuple[str, str]) -> "onnx.ModelProto":
    """The graph with these outputs, without what only others need."""
    import onnx

    needed, nodes = set(outputs), []
    for node in reversed(proto.graph.node):
        if needed & set(node.output):
            needed |= set(node.input)
            nodes.append(node)
    part = onnx.ModelProto()
    part.CopyFrom(proto)
    for field, kept in (
        (part.graph.node, nodes[::-1]),
        (part.graph.initializer, [tensor for tensor in proto.graph.initializer if tensor.name in needed]),
        (part.graph.output, [value for value in proto.graph.output if value.name in outputs]),
    ):
        del field[:]
        field.extend(kept)
    return part


def _outlook(proto: "onnx.ModelProto", opened: "Callable[[], Runtime]") -> "Callable[[], Runtime | None]":
    """Runtime.outlook: opens the model once where it has the outputs."""
    known = {value.name for value in proto.graph.output}
    return cache(opened) if known.issuperset(OUTLOOK) else lambda: None


def fit(proto: "onnx.ModelProto", model: store.Model, game: Game) -> "onnx.ModelProto":
    """The graph for a game's board size, which may be another than it was trained on."""
    if model.planes == game.planes:
        return proto
    import onnx
    from onnx import numpy_helper

    rows, columns = game.planes[1:]
    fitted = onnx.ModelProto()
    fitted.CopyFrom(proto)
    for value in fitted.graph.input:
        for axis, length in zip(value.type.tensor_type.shape.dim[1:], game.planes, strict=True):
            axis.dim_value = length
    for value in fitted.graph.output:
        if value.name in ("policy", "ownership"):
            each = game.actions if value.name == "policy" else rows * columns
            value.type.tensor_type.shape.dim[1].dim_value = each
    for tensor in fitted.graph.initializer:
        if tensor.name == store.CONSTANT + "board_scale":
            scale = np.array((np.sqrt(rows * columns) - 9) / 5, np.float32)
            tensor.CopyFrom(numpy_helper.from_array(scale, tensor.name))
    for prop in fitted.metadata_props:
        if prop.key == store.PREFIX + "encoder":
            prop.value = json.dumps(json.loads(prop.value) | {"planes": game.planes})
        elif prop.key == store.PREFIX + "game":
            prop.value = game.spec
    return fitted


def widen(proto: "onnx.ModelProto", multiple: int) -> "onnx.ModelProto":
    """The same function with every wide convolution padded by idle channels to a multiple of `multiple`: matrix units
    like even widths (96 channels run faster than 81). Those of fewer than 32 channels stay."""
    import onnx
    from onnx import numpy_helper

    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in proto.graph.initializer}
    changed: dict[str, np.ndarray] = {}
    width: dict[str, tuple[int, int]] = {}  # of a tensor: channels before and after

    def pad(name: str, axis: int, length: int, value: float = 0.0) -> None:
        array = changed.get(name, arrays[name])
        lengths = [(0, length - n if i == axis else 0) for i, n in enumerate(array.shape)]
        changed[name] = np.pad(array, lengths, constant_values=value)

    def even(channels: int) -> int:
        return channels if channels < 32 else -(-channels // multiple) * multiple

    for node in proto.graph.node:
        x, out = node.input[0], node.output[0]
        before, after = width.get(x, (0, 0))
        if node.op_type == "Conv":
            weight = arrays[node.input[1]]
            if (len(weight) != 1 and before != after) or before != after:
                pad(node.input[1], 1, after)
            width[out] = (len(weight), even(len(weight)))
            if width[out][0] != width[out][1]:
                for name in node.input[1:]:
                    pad(name, 0, width[out][1])
        elif node.op_type == "BatchNormalization":
            if before != after:
                for name, value in zip(node.input[1:], (1.0, 0.0, 0.0, 1.0), strict=True):
                    pad(name, 0, after, value)
            width[out] = (before, after)
        elif node.op_type in ("Relu", "Add", "Identity", "Tanh") or (node.op_type == "Flatten" and before != after):
            width[out] = (before, after)
        elif node.op_type == "Gemm" and before != after:
            weight = arrays[node.input[1]]
            pad(node.input[1], 1, weight.shape[1] // before * after)
        elif before != after:
            return proto  # a layer that this does not follow: leave the graph as it is
    if not changed:
        return proto
    widened = onnx.ModelProto()
    widened.CopyFrom(proto)
    for tensor in widened.graph.initializer:
        if tensor.name in changed:
            tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(changed[tensor.name]), tensor.name))
    return widened


# The machine ----------------------------------------------------------------------------------------------------


def cores() -> int:
    """The processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def import_openvino() -> Any:
    """The module openvino, without the telemetry that it would send at import."""
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # its import fails; OpenVINO does without
    import openvino

    return openvino


@cache
def openvino_core() -> Any:
    """OpenVINO's entrance, one for the process."""
    return import_openvino().Core()


@cache
def processor_has_bf16() -> bool:
    """Does the processor multiply in bf16 (AMX, or AVX-512 with bf16)?"""
    if "openvino" in available():
        return "BF16" in openvino_core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    flags = Path("/proc/cpuinfo")
    words = set(flags.read_text().split()) if flags.is_file() else set()
    return bool(words & {"avx512_bf16", "amx_bf16", "bf16"})


def _precision(asked: str, has_bf16: bool) -> str:
    if asked == "bf16" and not has_bf16:
        raise UsageError("This machine does not compute in bf16; choose the precision f32 or auto.")
    return asked if asked != "auto" else "bf16" if has_bf16 else "f32"


def machine() -> str:
    """The processor, as a person would name it, and how many of its cores this process may use."""
    name = platform.processor() or platform.machine()
    flags = Path("/proc/cpuinfo")
    if flags.is_file():
        lines = flags.read_text().splitlines()
        name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    return f"{name}, {cores()} cores"


def kinds() -> list[tuple[str, str]]:
    """The runtimes, with their devices, and the precisions that are here."""
    found = available()
    fast = ["bf16"] if processor_has_bf16() else []
    pairs = [("openvino", precision) for precision in [*fast, "f32"] if "openvino" in found]
    pairs += [("onnxruntime", "f32")] if "onnxruntime" in found else []
    if "torch" in found:
        import torch

        pairs += [("torch:cpu", precision) for precision in [*fast, "f32"]]
        pairs += [("torch:cuda", "bf16"), ("torch:cuda", "f32")] if torch.cuda.is_available() else []
    return pairs


def matrix_product(side: int, precision: str, device: str) -> Callable[[], object]:
    """A call that multiplies two square matrices: by torch where it is installed, otherwise by OpenVINO."""
    if "torch" in available():
        import torch

        kind = torch.bfloat16 if precision == "bf16" else torch.float32
        left, right = (torch.randn(side, side, device=device).to(kind) for _ in range(2))
        out = torch.empty_like(left)

        def product() -> None:
            torch.mm(left, right, out=out)
            if device != "cpu":
                torch.cuda.synchronize()

        return product
    ov = import_openvino()
    a, b = np.random.default_rng(1).standard_normal((2, side, side), np.float32)
    parameter = ov.opset8.parameter([side, side], np.float32)
    graph = ov.Model([ov.opset8.matmul(parameter, ov.opset8.constant(b), False, False)], [parameter], "product")
    options = {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": cores()}
    request = openvino_core().compile_model(graph, "CPU", options).create_infer_request()
    request.set_input_tensor(ov.Tensor(a, shared_memory=True))
    return lambda: request.infer(share_outputs=True)


def cache_folder() -> Path:
    """The user's folder for what Goishi can find out again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "goishi"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "goishi"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "goishi"


def _candidates() -> list[str]:
    """The runtimes worth measuring. Torch is one only where it may find a GPU: on a processor the others are faster,
    and importing it takes seconds."""
    found = available()
    names = [name for name in found if name != "torch"]
    if "torch" in found and (not names or shutil.which("nvidia-smi") or Path("/proc/driver/nvidia").exists()):
        names.append("torch")
    return names


def _fastest(proto: "onnx.ModelProto", model: store.Model, game: Game, precision: str, threads: int) -> Runtime:
    """The fastest runtime here for networks of this kind: measured once, then remembered in the user's cache folder."""
    candidates = _candidates()
    if not candidates:
        raise MissingExtra("No runtime is installed; install one with: pip install openvino")
    if len(candidates) == 1:
        return _open(proto, model, game, candidates[0], precision, threads)
    versions = " ".join(f"{name} {version(name)}" for name in candidates)
    kind = " ".join(f"{key}={value}" for key, value in sorted(model.architecture.items()))
    key = f"{machine()} | {versions} | {kind} | {'x'.join(map(str, game.planes))} | {precision}"
    remembered = recall()
    if remembered.get(key) in candidates:
        return _open(proto, model, game, remembered[key], precision, threads)
    opened: dict[str, Runtime] = {}
    refusals: list[GoishiError] = []
    for name in candidates:
        try:
            opened[name] = _open(proto, model, game, name, precision, threads)
        except GoishiError as refusal:
            refusals.append(refusal)
    if not opened:
        raise refusals[0]
    # The product of the times at both batches: neither counts more.
    best = min(opened, key=lambda name: seconds_a_run(opened[name], 1) * seconds_a_run(opened[name], 64))
    if not refusals:
        remember(key, best)
    return opened[best]


def seconds_a_run(runtime: Runtime, size: int, seconds: float = 0.15) -> float:
    """The least time that a batch took, of as many as fit into `seconds`, after a first one."""
    with runtime.lock:
        planes = runtime.buffer(size)
        runtime.run(planes)
        best, until = math.inf, time.perf_counter() + seconds
        while True:
            begin = time.perf_counter()
            runtime.run(planes)
            end = time.perf_counter()
            best = min(best, end - begin)
            if end > until:
                return best


def recall() -> dict[str, str]:
    """What `remember` kept: nothing when it cannot be read."""
    try:
        known = json.loads((cache_folder() / "runtimes.json").read_text(encoding="utf-8"))
        return known if isinstance(known, dict) else {}
    except (OSError, ValueError, RuntimeError):
        return {}


def remember(key: str, runtime: str) -> None:
    """Keeps the choice for a key, if the user's cache folder lets us."""
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        known = dict(list(recall().items())[-199:]) | {key: runtime}
        store.save(cache_folder() / "runtimes.json", json.dumps(known, indent=1).encode())
    except (OSError, RuntimeError):
        pass
