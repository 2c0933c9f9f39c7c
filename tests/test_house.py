"""The house's own rules: which module may import which, and where each outside package may be used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import goishi

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "goishi"
FILES = sorted(path for path in SOURCE.rglob("*.py") if "static" not in path.parts)
SCRIPTS = [*FILES, *sorted((ROOT / "tools").glob("*.py"))]

# Each may import itself and those after it; `search` and `networks` stand side by side.
LAYERS = [
    {"__main__"},
    {"cli"},
    {"web", "protocols", "terminal"},
    {"training"},
    {"arena"},
    {"players"},
    {"search", "networks"},
    {"core"},
    {"games"},
    {"config"},
    {"errors", "__init__"},
]
EXCEPTIONS = {
    ("games", "core.board"),  # rules say how their board looks; nothing of core that compiles
    ("search", "networks.evaluator"),  # the role that a search asks, and the wrappers around it
    ("search.measure", "networks"),  # compares the search with the networks that it asks
}

FENCES = {
    "numba": {"core/*", "search/*", "games/*", "arena/connect4_solver.py", "networks/evaluator.py"},
    "torch": {"networks/network.py", "networks/runtime.py", "training/trainer.py"},
    "openvino": {"networks/runtime.py"},
    "onnxruntime": {"networks/runtime.py"},
    "onnx": {"networks/*"},
    "starlette": {"web/app.py"},
    "uvicorn": {"web/app.py"},
    "websockets": {"web/app.py"},
    "fastapi": set(),
    "ray": {"training/cluster.py"},
    "socket": {"ogs/connection.py", "web/app.py"},
    "typer": {"cli.py"},
    "matplotlib": {"training/*"},
    "tensorboard": {"training/*"},
    "rich": {"cli.py", "terminal.py", "training/*", "arena/*"},
    "pickle": set(),
    "dill": set(),
    "marshal": set(),
    "shelve": set(),
    "requests": set(),
    "urllib.request": set(),
}


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def imports_of(path: Path) -> list[str]:
    """Every module that a file imports, wherever in it, except for types alone; `from a import b` gives `a.b`."""
    found = []
    todo: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            todo.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name their module in full"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        todo.extend(ast.iter_child_nodes(node))
    return found


def layer_of(module: str) -> int:
    first = module.split(".")[0]
    return next((level for level, names in enumerate(LAYERS) if first in names), len(LAYERS) - 1)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_go_only_downwards(path):
    own = name_of(path).removesuffix(".py").split("/")[0]
    for module in imports_of(path):
        if module.split(".")[0] != "goishi" or own == "__init__":
            continue
        inner = module.removeprefix("goishi.")
        itself = name_of(path).removesuffix(".py").replace("/", ".")
        if any(who in (own, itself) and inner.startswith(what) for who, what in EXCEPTIONS):
            continue
        other = inner.split(".")[0]
        assert layer_of(other) > layer_of(own) or other == own, f"{name_of(path)} may not import {module}"


@pytest.mark.parametrize("package", FENCES)
def test_each_outside_package_stays_behind_its_fence(package):
    for path in FILES:
        used = [module for module in imports_of(path) if module == package or module.startswith(package + ".")]
        if used:
            allowed = any(path.relative_to(SOURCE).match(pattern) for pattern in FENCES[package])
            assert allowed, f"{name_of(path)} may not import {package}"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_nothing_evaluates_text_or_unpickles(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        assert called not in {"eval", "exec", "compile", "__import__"}, f"{path.name}:{node.lineno}"
        assert called.split(".")[-1] not in {"allow_pickle", "unpickle"}, f"{path.name}:{node.lineno}"
        if called in {"torch.load", "np.load", "numpy.load"}:
            words = {word.arg: ast.unparse(word.value) for word in node.keywords}
            safe = (
                words.get("weights_only") == "True"
                if called == "torch.load"
                else words.get("allow_pickle", "False") == "False"
            )
            assert safe, f"{path.name}:{node.lineno}: {called} would run what is in the file"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_every_module_begins_by_saying_what_it_is(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if tree.body:
        assert ast.get_docstring(tree), f"{name_of(path)} has no docstring"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_what_is_public_says_what_it_promises(path):
    if path.parent.name == "games" or path.name in ("__init__.py", "__main__.py"):
        return  # the six rules are described once, in core/game.py
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            short = isinstance(node, ast.FunctionDef) and len(node.body) <= 4
            assert ast.get_docstring(node) or short, f"{name_of(path)}: {node.name} has no docstring"


def test_importing_goishi_is_quick():
    heavy = ["numba", "numpy", "torch", "openvino", "onnxruntime", "onnx", "starlette", "typer", "matplotlib"]
    words = (
        f"import sys, goishi, goishi.errors, goishi.config; sys.exit(' '.join(set({heavy}) & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", goishi.__all__)
def test_every_public_name_is_there(name):
    assert getattr(goishi, name) is not None
    assert name in dir(goishi)


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        goishi.nothing  # noqa: B018


def test_the_command_line_loads_no_numbers_before_a_command_needs_them():
    heavy = ["numba", "numpy", "torch", "openvino", "onnxruntime", "onnx", "starlette"]
    words = f"import sys, goishi.cli; sys.exit(' '.join(set({heavy}) & set(sys.modules)) or None)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_playing_needs_no_torch():
    """The base install holds none: what plays must not import it, at whatever depth."""
    words = (
        "import sys; sys.modules['torch'] = None\n"
        "import goishi.players, goishi.players.searcher, goishi.networks.evaluator, goishi.networks.runtime\n"
        "import goishi.networks.store, goishi.web.app, goishi.arena.tournament, goishi.terminal"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
