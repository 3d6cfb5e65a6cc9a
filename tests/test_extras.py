"""A plain installation: what works without the extras, and what says which one it needs.

The extras are blocked in a process of their own, as if they were not installed.
"""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.util import resolve_name
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "giro"

BLOCKED = """
import sys
extras = "matplotlib sklearn distributed dask ray joblib pandas pyarrow httpx"
for extra in extras.split():
    sys.modules[extra] = None
"""
CLI = "from giro.cli.main import main; main()"


def run_plain(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run code where no extra is installed."""
    return subprocess.run(
        [sys.executable, "-c", BLOCKED + code, *words], capture_output=True, text=True, check=False
    )


def test_bandits_and_simulations_need_no_extra() -> None:
    code = """
import giro
from giro.policies.randomized import Randomized
bandit = giro.Bandit(["red", "green"], "lin-ucb", seed=7)
decision = bandit.decide({"hour": 14, "country": "de"})
bandit.reward(decision.id, 1.0)
trace = giro.simulate("giro", "bernoulli", rounds=20, runs=3)
sent = giro.simulate(Randomized(lambda h, rng: rng.random()), "beta", rounds=5, runs=2, jobs=2)
print(trace.runs.size, sent.runs.size)
"""
    done = run_plain(code)
    assert done.stdout == "3 2\n", done.stderr


def test_the_command_line_needs_no_extra(tmp_path: Path) -> None:
    words = ["simulate", "ucb1", "giro", "--rounds", "20", "--runs", "2", "--out", str(tmp_path)]
    done = run_plain(CLI, *words)
    assert done.returncode == 0, done.stderr
    assert run_plain(CLI, "policies").returncode == 0


LOG = {"arm": ["a", "b"], "reward": [1.0, 0.0], "probability": [0.5, 0.5]}
FIGURE = "a figure needs matplotlib: pip install 'giro-bandits[plots]'"
SIMULATE = ("simulate", "ucb1", "--rounds", "10", "--runs", "2")


NEEDY = {  # commands, and what they need
    ("plot", "{folder}", "-o", "{folder}/a.png"): FIGURE,
    (*SIMULATE, "--plot", "{folder}/a.png"): FIGURE,
    ("reproduce", "mab", "--out", "{folder}"): FIGURE,
    ("reproduce", "linear-regret", "--out", "{folder}"): FIGURE,
    ("reproduce", "contextual", "--out", "{folder}"): FIGURE,
    ("theory", "bound", "--plot", "{folder}/a.png"): FIGURE,
    (*SIMULATE, "contextual-giro:model=boosting", "--problem", "linear", "--jobs", "1"): (
        "the model boosting needs scikit-learn: pip install 'giro-bandits[models]'"
    ),
    (*SIMULATE, "--engine", "dask"): (
        "the engine dask needs distributed: pip install 'giro-bandits[dask]'"
    ),
    (*SIMULATE, "--engine", "ray"): "the engine ray needs ray: pip install 'giro-bandits[ray]'",
}


def test_a_command_names_the_extra_it_needs(tmp_path: Path) -> None:
    commands = [[word.format(folder=tmp_path) for word in words] for words in NEEDY]
    code = f"""
from giro.cli.main import status_of
print([status_of(words) for words in {commands}])
"""
    done = run_plain(code)
    assert done.stderr.splitlines() == [f"giro: {complaint}" for complaint in NEEDY.values()]
    assert done.stdout == f"{[2] * len(NEEDY)}\n"
    assert not list(tmp_path.iterdir())  # it is said before anything is played


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("import giro.plots", FIGURE),
        (
            "from giro import Client",
            "giro.Client needs httpx: pip install 'giro-bandits[client]'",
        ),
        ("import giro.plots.evaluation", FIGURE),
        ("import giro; b = giro.Bandit(['a'], 'uniform'); b.decide(); b.plot()", FIGURE),
        ("import giro; giro.simulate('uniform', 'bernoulli', rounds=2, runs=1).plot()", FIGURE),
        (f"import giro; giro.evaluate({LOG}, 'always:a').plot()", FIGURE),
        (
            """
from types import SimpleNamespace
from giro.policies.contextual_giro import ContextualGiro
ContextualGiro(1.0, SimpleNamespace(fit=len, predict=len))
""",
            "an estimator needs scikit-learn: pip install 'giro-bandits[models]'",
        ),
    ],
)
def test_python_names_the_extra_it_needs(code: str, complaint: str) -> None:
    done = run_plain(code)
    assert done.stderr.splitlines()[-1] == f"giro.errors.MissingExtra: {complaint}"


# -- private parts of other packages -----------------------------------------------------------

PRIVATE = {
    "numba.core.caching",
    "numba.core.caching.CompileResultCacheImpl",
    "numba.core.caching.FunctionCache",
    "numba.core.caching.IndexDataCacheFile",
    "numba.core.caching.NullCache",
    "numba.core.caching._CacheLocator",
    "numba.core.codegen.JITCodeLibrary",
    "numba.core.compiler.Compiler",
    "numba.core.compiler.Compiler.define_pipelines",
    "numba.core.compiler.Flags",
    "numba.core.compiler.Flags.options",
    "numba.core.compiler_machinery.FunctionPass",
    "numba.core.compiler_machinery.register_pass",
    "numba.core.datamodel.models.PrimitiveModel",
    "numba.core.datamodel.models.StructModel",
    "numba.core.datamodel.models.UniTupleModel",
    "numba.core.ir",
    "numba.core.ir.Arg",
    "numba.core.ir.Assign",
    "numba.core.ir.Del",
    "numba.core.ir.Expr",
    "numba.core.ir.FreeVar",
    "numba.core.ir.Global",
    "numba.core.ir.Inst",
    "numba.core.ir.Loc",
    "numba.core.ir.Var",
    "numba.core.ir_utils.get_definition",
    "numba.core.ir_utils.guard",
    "numba.core.lowering.Lower",
    "numba.core.registry.cpu_target",
    "numba.core.registry.cpu_target.target_context",
    "numba.core.runtime.rtsys",
    "numba.core.runtime.rtsys.initialize",
    "numba.core.runtime.rtsys.meminfo_alloc",
    "numba.core.typed_passes.BaseNativeLowering",
    "numba.core.typed_passes.NativeLowering",
    "numba.core.typing.signature",
    "numba.core.types",
    "numba.core.types.ArrayCompatible",
    "numba.core.typing.npydecl.NumpyRulesArrayOperator",
    "numba.core.typing.npydecl.NumpyRulesArrayOperator.generic",
    "numba.core.untyped_passes.LiteralUnroll",
    "numba.experimental.structref",
    "numba.experimental.structref.StructRefProxy",
    "numba.experimental.structref.define_boxing",
    "numba.experimental.structref.register",
}
UNSTABLE = ("numba.core", "numba.experimental")  # of which numba promises nothing

# of objects of numba and llvmlite (which numba pins): read, called, set or overridden
PRIVATE_ATTRIBUTES = {
    "_alloca_var",
    "_cache",
    "_cache_file",
    "_cache_path",
    "_cblist",
    "_codegen",
    "_compiling_counter",
    "_create_empty_module",
    "_data_name",
    "_data_path",
    "_dm_args",
    "_final_module",
    "_finalize_dynamic_globals",
    "_finalize_final_module",
    "_finalized",
    "_get_module_for_linking",
    "_impl",
    "_impl_class",
    "_index_key",
    "_index_name",
    "_index_path",
    "_insert",
    "_load_data",
    "_load_index",
    "_locator_classes",
    "_lock",
    "_members",
    "_name",
    "_numba_box_",
    "_optimize_final_module",
    "_py_file",
    "_unflattener",
    "_values",
}
OURS = {  # the first is named above, three are those of named tuples
    "_CacheLocator",
    "_asdict",
    "_begin",
    "_context",
    "_end",
    "_ended",
    "_fields",
    "_files_of",
    "_first",
    "_form",
    "_function",
    "_handed_over",
    "_hidden",
    "_kernel",
    "_made",
    "_needed",
    "_origin",
    "_parts",
    "_put_together",
    "_replace",
    "_thread",
    "_value",
    "_waiting",
}


def _imported(path: Path) -> set[str]:
    """Return the dotted names that a file imports, and what it reads of them."""
    module = ".".join(("giro", *path.relative_to(SOURCE).with_suffix("").parts))
    modules: dict[str, str] = {}  # by the name that the file gives them
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        origin = ""
        if isinstance(node, ast.ImportFrom):
            package = module.rpartition(".")[0]
            origin = resolve_name("." * node.level + (node.module or ""), package) + "."
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules |= {alias.asname or alias.name: origin + alias.name for alias in node.names}
    read = {
        f"{modules[node.value.id]}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in modules
    }
    return {*modules.values(), *read}


def _is_private(name: str) -> bool:
    """Tell whether a name has a part like _this, which is not one like __this__."""
    return any(re.match(r"_(?!_)", part) for part in name.split("."))


def _private_names() -> set[str]:
    imported = set().union(*(_imported(path) for path in SOURCE.glob("**/*.py")))
    others = {name for name in imported if name.split(".")[0] not in ("giro", "__future__")}
    return {name for name in others if _is_private(name) or name.startswith(UNSTABLE)}


def test_no_other_private_parts_are_used() -> None:
    assert _private_names() == PRIVATE


def _attributes(path: Path) -> set[str]:
    """Return private attributes that a file reads or sets, and what its classes define as such."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr":
            found |= {str(each.value) for each in node.args if isinstance(each, ast.Constant)}
        elif isinstance(node, ast.ClassDef):
            found |= {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
            found |= {ast.unparse(e.target) for e in node.body if isinstance(e, ast.AnnAssign)}
            found |= {ast.unparse(e.targets[0]) for e in node.body if isinstance(e, ast.Assign)}
    return {name for name in found if re.match(r"_(?!_)", name)}


def test_no_other_private_attributes_of_the_compiler_are_used() -> None:
    used = set().union(*(_attributes(path) for path in SOURCE.glob("compiling/*.py")))
    assert used - OURS == PRIVATE_ATTRIBUTES


@pytest.mark.parametrize("package", sorted({name.split(".")[0] for name in PRIVATE}))
def test_packages_whose_private_parts_are_used_have_an_upper_bound(package: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (requirement,) = (text for text in project["dependencies"] if re.match(rf"{package}\b", text))
    assert "<" in requirement
