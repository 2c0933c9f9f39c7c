"""The network learns: steps of gradient descent on samples, an average of the weights, all of it saved and restored.

Shapes: B samples, C H W planes, A actions, P = H W points.
"""

import io
import json
import math
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from goishi.core.game import Game
from goishi.errors import BadRun
from goishi.networks import network, runtime, store
from goishi.training.replay import Replay
from goishi.training.settings import Learning, Run, preset_of

Module = network.ThesisNetwork | network.ResidualNetwork


class Batch(NamedTuple):
    """What a step learns from."""

    planes: torch.Tensor
    """float32[B, C, H, W]"""
    policy: torch.Tensor
    """float32[B, A]"""
    outcome: torch.Tensor
    """float32[B, 3] a distribution over win, draw and loss."""
    owners: torch.Tensor
    """float32[B, P] whose each point was at the end, +1 the row's player's; P is 0 in a game that does not know it."""
    leads: torch.Tensor
    """float32[B] points ahead at the end, as the row's player sees it; nan where the game did not end by its rules."""


class Losses(NamedTuple):
    """Means over the steps of one generation."""

    policy: float
    """Cross-entropy to the target, less the target's own entropy: 0 is perfect."""
    value: float
    """Cross-entropy over win, draw and loss; squared error with a tanh head."""
    ownership: float
    """Mean cross-entropy over the points, less the target's own: 0 is perfect, or there is no such head."""
    score: float
    """Mean absolute error in points, 0 too where there is no such head."""
    entropy: float
    """Of the network's policy, in nats."""
    gradient: float
    """Norm before clipping."""


class Trainer:
    """A network in training."""

    def __init__(self, game: Game, module: Module, settings: Learning, seed: int):
        torch.set_num_threads(settings.threads or max(1, runtime.cores() // 2))
        self.game, self.settings = game, settings
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.module = module.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.average = {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}
        self.steps = 0
        self.rng = np.random.default_rng((seed, 1))
        if settings.optimizer == "sgd":
            # The L2 term c ||theta||^2 has the gradient 2 c theta.
            self.optimizer: torch.optim.Optimizer = torch.optim.SGD(
                module.parameters(), lr=settings.rate, momentum=0.9, weight_decay=2 * settings.decay
            )
        else:
            weights = [p for p in module.parameters() if p.ndim > 1]
            others = [p for p in module.parameters() if p.ndim <= 1]
            groups = [{"params": weights, "weight_decay": settings.decay}, {"params": others, "weight_decay": 0.0}]
            self.optimizer = torch.optim.AdamW(groups, lr=settings.rate, fused=True)
        self._points = torch.from_numpy(game.point_symmetries.astype(np.int64))
        self._actions = torch.from_numpy(game.symmetries.astype(np.int64))

    def learn(self, replay: Replay, steps: int, window: int, rate: float) -> Losses:
        """So many steps on samples drawn from the window."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.module.train()
        sums = np.zeros(len(Losses._fields))
        torch.set_flush_denormal(True)  # of this thread: tiny gradients would cost a processor dear
        try:
            for _ in range(steps):
                sums += self._step(replay, replay.draw(self.settings.batch, window, self.rng))
                self.steps += 1
                self._follow()
        finally:
            torch.set_flush_denormal(False)
        return Losses(*(sums / max(1, steps)).tolist())

    def _step(self, replay: Replay, rows: np.ndarray) -> list[float]:
        batch = self.batch(replay, rows)
        policy, value = batch.policy, batch.outcome
        with torch.autocast(self.device.type, torch.bfloat16):
            logits, judged, *outlook = (output.float() for output in self.module(batch.planes))
        log_policy = functional.log_softmax(logits, 1)
        # Illegal actions have no share in the target, and the softmax learns to leave them out.
        entropy_of_target = -(policy * torch.log(policy.clamp_min(1e-9))).sum(1).mean()
        policy_loss = -(policy * log_policy).sum(1).mean()
        if self.module.value_head == "outcome":
            value_loss = -(value * functional.log_softmax(judged, 1)).sum(1).mean()
        else:
            value_loss = functional.mse_loss(judged, value[:, 0] - value[:, 2])
        loss = policy_loss + self.settings.value_weight * value_loss
        ownership_loss = score_error = torch.zeros((), device=self.device)
        if outlook:
            known = ~torch.isnan(batch.leads)
            ownership, score = outlook
            # tanh x is the mean of +1 with the probability sigmoid 2x and of -1.
            each = functional.binary_cross_entropy_with_logits(2 * ownership, (1 + batch.owners) / 2, reduction="none")
            ownership_loss = (each.mean(1) * known).mean()
            error = torch.where(known, network.SCORE_SCALE * score - batch.leads, 0.0)
            loss = loss + self.settings.ownership_weight * ownership_loss
            loss = loss + self.settings.score_weight * functional.huber_loss(error, torch.zeros_like(error), delta=12.0)
            share = known.float().mean().clamp_min(1e-6)
            certain = each.detach().mean(1) - math.log(2) * (batch.owners == 0).float().mean(1)
            ownership_loss, score_error = (certain * known).mean() / share, error.detach().abs().mean() / share
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.module.parameters(), 4.0)
        self.optimizer.step()
        with torch.no_grad():
            entropy = -(log_policy.exp() * log_policy).sum(1).mean()
            terms = [policy_loss - entropy_of_target, value_loss, ownership_loss, score_error, entropy, norm]
        return torch.stack(terms).tolist()

    def batch(self, replay: Replay, rows: np.ndarray) -> Batch:
        """These rows.

        Each is turned by a symmetry of its own when the settings say so. The outcome is a distribution over win, draw
        and loss: the game's result mixed with the root value q, which counts as (1 + q) / 2 wins.
        """
        count = len(rows)
        planes = np.zeros((count, *self.game.planes), np.float32)
        self.game.kernels().encode(replay.states[rows], planes)
        x = torch.from_numpy(planes)
        policy = torch.from_numpy(replay.policies[rows].astype(np.float32))
        policy /= policy.sum(1, keepdim=True).clamp_min(1e-6)
        owners = torch.from_numpy(replay.owners[rows].astype(np.float32))
        if self.settings.symmetry and len(self._actions) > 1:
            turns = torch.from_numpy(self.rng.integers(0, len(self._actions), count))
            channels = self.game.planes[0]
            moved = self._points[turns][:, None, :].expand(-1, channels, -1)
            x = x.reshape(count, channels, -1).gather(2, moved).reshape(x.shape)
            policy = policy.gather(1, self._actions[turns])
            owners = owners.gather(1, self._points[turns]) if owners.shape[1] else owners
        result, root = replay.results[rows], np.clip(replay.values[rows], -1, 1)
        share = self.settings.result_share
        outcome = np.stack(
            [
                share * (result > 0) + (1 - share) * (1 + root) / 2,
                share * (result == 0),
                share * (result < 0) + (1 - share) * (1 - root) / 2,
            ],
            1,
        ).astype(np.float32)
        x = x.to(self.device, memory_format=torch.channels_last)
        rest = (policy, torch.from_numpy(outcome), owners, torch.from_numpy(replay.leads[rows]))
        return Batch(x, *(tensor.to(self.device) for tensor in rest))

    @torch.no_grad()
    def _follow(self) -> None:
        """The average moves towards the weights; early on faster, so that it does not remember the beginning."""
        keep = min(self.settings.average, self.steps / (self.steps + 10))
        averages, news = [], []
        for name, tensor in self.module.state_dict().items():
            if tensor.is_floating_point():
                averages.append(self.average[name])
                news.append(tensor)
            else:
                self.average[name].copy_(tensor)
        torch._foreach_lerp_(averages, news, 1 - keep)

    def export(self, metadata: dict[str, Any]) -> bytes:
        """The averaged network as ONNX."""
        current = {name: tensor.clone() for name, tensor in self.module.state_dict().items()}
        self.module.load_state_dict(self.average)
        self.module.eval()
        try:
            return network.to_onnx(self.module, self.game, metadata | {"steps": self.steps})
        finally:
            self.module.load_state_dict(current)

    def save(self, facts: dict[str, Any]) -> bytes:
        """Everything needed to go on: weights, average, optimizer, random state, and what the run wants remembered.

        A NumPy archive without objects.
        """
        arrays: dict[str, np.ndarray] = {}
        for name, tensor in self.module.state_dict().items():
            arrays[f"weights/{name}"] = tensor.cpu().numpy()
            arrays[f"average/{name}"] = self.average[name].cpu().numpy()
        for index, entry in self.optimizer.state_dict()["state"].items():
            for key, value in entry.items():
                if value is not None:
                    arrays[f"optimizer/{index}/{key}"] = torch.as_tensor(value).cpu().numpy()
        own = {"steps": self.steps, "rng": self.rng.bit_generator.state}
        arrays["facts"] = np.array(json.dumps({"trainer": own, "run": facts}))
        file = io.BytesIO()
        np.savez(file, **arrays)  # type: ignore[arg-type]
        return file.getvalue()

    def restore(self, content: bytes) -> dict[str, Any]:
        """Goes on from what `save` gave; answers the run's facts. Raises BadRun when it does not fit this network."""
        try:
            archive = np.load(io.BytesIO(content), allow_pickle=False)
            arrays = {name: torch.from_numpy(np.array(archive[name])) for name in archive.files if name != "facts"}
            facts = json.loads(str(archive["facts"]))
            self.module.load_state_dict({k[8:]: v for k, v in arrays.items() if k.startswith("weights/")})
            for name in self.average:
                self.average[name].copy_(arrays[f"average/{name}"])
            state: dict[int, dict[str, torch.Tensor]] = {}
            for name, array in arrays.items():
                if name.startswith("optimizer/"):
                    _, index, key = name.split("/")
                    state.setdefault(int(index), {})[key] = array
            whole = self.optimizer.state_dict()
            self.optimizer.load_state_dict(whole | {"state": state})
            for parameter, entry in self.optimizer.state.items():
                for key, value in entry.items():
                    if value.shape == parameter.shape:  # in the parameter's memory order, which a fused step goes by
                        entry[key] = torch.empty_like(parameter).copy_(value)
            self.steps = int(facts["trainer"]["steps"])
            self.rng.bit_generator.state = facts["trainer"]["rng"]
            return facts["run"]
        except (ValueError, KeyError, RuntimeError, OSError, EOFError, zipfile.BadZipFile) as error:
            raise BadRun(
                f"The run's checkpoint.npz is broken or of another network ({type(error).__name__}); "
                "move it away to learn anew from the samples, which are kept."
            ) from None


def first_module(game: Game, settings: Run, start_from: str | Path | None = None) -> Module:
    """The network that a run begins with: a model's, or fresh weights of the settings' preset."""
    if start_from is not None:
        path = store.find(start_from)
        store.check(store.read(path), game)
        return network.from_onnx(path, game)
    size = settings.network.preset
    torch.manual_seed(settings.seed)
    return network.build(network.PRESETS[preset_of("auto", game).network.preset if size == "auto" else size], game)


def tensorboard(folder: Path) -> Any:
    """A TensorBoard writer, or False where it is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return False
    return SummaryWriter(str(folder))


def learning_rate(settings: Learning, progress: float) -> float:
    """Constant for the first half of the run, then falling as a cosine to the final rate."""
    late = min(1.0, max(0.0, 2 * progress - 1))
    return settings.final_rate + (settings.rate - settings.final_rate) * (1 + math.cos(math.pi * late)) / 2
