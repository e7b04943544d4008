"""Compiled code in fresh processes: none outlives an edit, none needs one machine's instructions or a folder to be kept in."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import toys
from stepping import stepped

import workbench
from workbench.engines import get_engine
from workbench.engines.options import make_options
from workbench.models import LDA

PACKAGE = Path(workbench.__file__).parent
CASES = [
    (name, options, n_topics)
    for name, options in (
        ("cgs", {"scan": "documents"}),
        ("cgs", {"scan": "words"}),
        ("svb", {}),
        ("cvb", {}),
        ("cvb0", {}),
        ("svb-cgs", {}),
    )
    for n_topics in (2, 17)
]
"""Between them they use every kind of vector; seventeen topics take a second block of lanes, with one topic in it."""


def said_by(program: str, python_path: Path, cache: Path, **environment) -> str:
    """What a fresh process prints."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")
    } | environment
    environment |= {
        "PYTHONPATH": f"{python_path}{os.pathsep}{Path(__file__).parents[1]}",
        "WORKBENCH_CACHE": str(cache),
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        cwd=python_path,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


CALLER = """
from workbench.kernels.callee import answer
from workbench.kernels.jit import kernel

@kernel
def asked():
    return answer() + 1
"""
ANSWER = "from workbench.kernels.jit import kernel\n\n@kernel\ndef answer():\n    return {}\n"
ASK = "from workbench.kernels.caller import asked; print(asked(), sum(asked.stats.cache_hits.values()))"


@pytest.mark.slow
def test_a_kernel_is_compiled_anew_after_an_edit_of_another_file_and_only_then(tmp_path):
    """numba itself looks at the file of the caller alone."""
    kernels = tmp_path / "workbench" / "kernels"
    kernels.mkdir(parents=True)
    (tmp_path / "workbench" / "__init__.py").touch()
    for name in ("__init__.py", "jit.py"):
        shutil.copy(PACKAGE / "kernels" / name, kernels)
    (kernels / "caller.py").write_text(CALLER)
    for answer, expected in ((41, "42 0"), (41, "42 1"), (1, "2 0"), (41, "42 1")):
        (kernels / "callee.py").write_text(ANSWER.format(answer))
        assert said_by(ASK, tmp_path, tmp_path / "cache").strip() == expected
    (tmp_path / "a_file").touch()
    # no folder can be made there
    assert said_by(ASK, tmp_path, tmp_path / "a_file").strip().startswith("42")


def numbers_of(name: str, options: dict, n_topics: int) -> list[str]:
    """What an engine makes of a toy in three steps, to the last bit."""
    corpus, model = toys.simulated(), LDA(n_topics, 0.3, 0.2)
    engine, options = get_engine(name), make_options(get_engine(name), options)
    state = stepped(engine, corpus, model, options, 3, seed=3)
    watched = [
        float(value)
        for key, value in sorted(engine.watch(corpus, model, options, state).items())
        if key != "n_k"
    ]
    counts = engine.counts(corpus, model, options, state)
    arrays = [counts["n_dk"], counts["n_kw"], engine.predict(corpus, model, options, state, corpus)]
    return [
        value.hex()
        for value in [
            *watched,
            *np.concatenate([np.ravel(a).astype(float) for a in arrays]).tolist(),
        ]
    ]


TELL = f"""
import importlib.util, json
spec = importlib.util.spec_from_file_location("here", {str(Path(__file__))!r})
here = importlib.util.module_from_spec(spec)
spec.loader.exec_module(here)
print(json.dumps([here.numbers_of(*case) for case in here.CASES]))
"""


@pytest.mark.slow
def test_a_plain_processor_computes_the_same_bits(tmp_path):
    """Without AVX the vectors are made of smaller instructions, but every sum has the same order.

    Logarithms of the C library are those of the machine in both processes, whatever numba compiles for.
    """
    told = json.loads(
        said_by(TELL, PACKAGE.parent, tmp_path, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    )
    for case, found in zip(CASES, told, strict=True):
        assert found == numbers_of(*case), case


WIDE = """
from numba import types
from workbench.kernels.jit import small
from workbench.kernels.simd.vectors import at_most_256_bits, load, store

@small
def wide(a):
    store(a, 0, load(a, 0) + load(a, 16))

@small
def narrow(a):
    at_most_256_bits()
    store(a, 0, load(a, 0) + load(a, 16))

for function in (wide, narrow):
    signature = (types.Array(types.float64, 1, "C"),)
    function.compile(signature)
    print("zmm" in function.inspect_asm(signature))
"""


@pytest.mark.skipif(
    platform.machine() != "x86_64", reason="AVX-512 is a part of x86-64; this machine is none"
)
def test_a_sampler_is_compiled_without_avx_512_where_other_kernels_have_it(tmp_path):
    (tmp_path / "wide.py").write_text(WIDE)
    program = f"import runpy; runpy.run_path({str(tmp_path / 'wide.py')!r})"
    wide = {"NUMBA_CPU_NAME": "skylake-avx512", "NUMBA_CPU_FEATURES": "+avx512f,+avx512vl"}
    said = said_by(program, PACKAGE.parent, tmp_path / "cache", **wide)
    assert said.split() == ["True", "False"]
