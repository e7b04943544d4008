"""Make the bundled corpus: word counts of the docstrings of six scientific Python packages.

    python data/make_docstrings.py

writes ``data/docstrings/`` (a UCI bag of words with its vocabulary, titles and labels) and prints what
`data/README.md` records. The same package versions give the same bytes.

A document is the docstring of a public function or class of numpy, scipy, pandas, xarray, scikit-learn
or networkx, or of a method in a class of these. What is left of it is its prose: see `prose`. An object
counts once, under its shortest public name, wherever else it is imported or inherited; equal and nearly
equal docstrings (the same method written for two classes) count once too.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import importlib
import inspect
import io
import pkgutil
import re
import textwrap
import types
import warnings
from pathlib import Path

import numpy as np

from workbench.corpus.corpus import Corpus
from workbench.corpus.texts.counting import count_words
from workbench.corpus.texts.words import CONTRACTIONS

# the first that has an object gives it its name
PACKAGES = ("numpy", "scipy", "pandas", "xarray", "sklearn", "networkx")
NOT_PUBLIC = {
    "compat",
    "conftest",
    "core",
    "distutils",
    "experimental",
    "externals",
    "f2py",
    "setup",
    "test",
    "testing",
    "tests",
}  # module names without an underscore that are no part of what a user calls; deprecated copies fall to the shortest name
LEAST_TOKENS = 25  # a shorter document says next to nothing about its topics
LEAST_DOCUMENTS = 5  # a word must occur in that many
LARGEST_SHARE = 0.3  # … and in no more than this share
# share of common words from which two documents of a package are taken for one
NEARLY_EQUAL = 0.8

MARKUP_WORDS = """
    array_like bool boolean bools char callable ccallable cls ctx default defaults deprecated dict doc docs docstring
    docstrings dtype dtypes etc example examples false float floats func guide https html http href instance int ints integer
    integers int32 int64 kwarg kwargs ndarray ndarrays note notes numpy optional org pandas param parameter parameters prior
    raise raises ref return returned returning returns scipy see self sklearn str string strings tuple tuples true tutorial
    type types url use used user uses using value values version versions www xarray networkx scikit learn
""".split()  # the form of a docstring and the names of the packages, not what it is about


# ---------------------------------------------------------------------- what is public


def public_modules(package: str) -> list[types.ModuleType]:
    """The package and all its importable modules without a private or internal name on their path."""
    root = importlib.import_module(package)
    modules = [root]
    for found in pkgutil.walk_packages(root.__path__, package + ".", onerror=lambda name: None):
        parts = found.name.split(".")
        if any(part.startswith("_") or part in NOT_PUBLIC for part in parts):
            continue
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            # optional dependencies may be absent
            modules.append(importlib.import_module(found.name))
    return modules


def public_objects(package: str):
    """(borrowed?, inherited?, qualified name, object) of every function, class and method that a user can reach.

    Borrowed is what a module only passes on; a module without ``__all__`` is not asked about that.
    """
    for module in public_modules(package):
        exported = getattr(module, "__all__", None)
        for name in dir(module) if exported is None else exported:
            thing = getattr(module, name, None)
            if name.startswith("_") or not is_documented(thing):
                continue
            # compiled code may leave it unsaid
            home = getattr(thing, "__module__", None) or module.__name__
            borrowed = not (home + ".").startswith(module.__name__ + ".") and home != "builtins"
            if borrowed and (exported is None or home.split(".")[0] != package):
                continue
            yield borrowed, False, f"{module.__name__}.{name}", thing
            if inspect.isclass(thing):
                for method in dir(thing):
                    found = inspect.getattr_static(thing, method)
                    found = getattr(found, "__func__", found)
                    if (
                        not method.startswith("_")
                        and not inspect.isclass(found)
                        and is_documented(found)
                    ):
                        yield (
                            borrowed,
                            method not in vars(thing),
                            f"{module.__name__}.{name}.{method}",
                            found,
                        )


def is_documented(thing) -> bool:
    """Whether it is a function or class with a docstring of its own; exceptions and scalar types are neither here nor there."""
    if not callable(thing) or inspect.ismodule(thing) or not hasattr(thing, "__name__"):
        return False
    if inspect.isclass(thing) and issubclass(thing, (BaseException, np.generic)):
        return False
    doc = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    return isinstance(doc, str) and thing.__name__ != "test"


def documents() -> dict[str, tuple[str, str]]:
    """Qualified name → (label, prose), one for each object, in alphabetical order of names."""
    places = {}
    for rank, package in enumerate(PACKAGES):
        for borrowed, inherited, name, thing in public_objects(package):
            place = (rank, inherited, borrowed, name.count("."), name, thing)
            known = places.setdefault(id(thing), place)
            if place[:5] < known[:5]:
                places[id(thing)] = place
    found, seen = {}, set()
    for *_, name, thing in sorted(places.values(), key=lambda place: place[:5]):
        text = prose(thing.__doc__)
        if name not in found and text not in seen:
            seen.add(text)
            found[name] = (label(name, thing), text)
    return dict(sorted(found.items()))


def label(name: str, thing) -> str:
    """The namespace of a name, two levels at most; where that is the bare package, the module that defines it."""
    home = name.split(".")[:-1]
    if len(home) == 1:
        module = str(getattr(thing, "__module__", None) or "").split(".")
        if module[0] == home[0]:
            home = [part for part in module if not part.startswith("_") and part not in NOT_PUBLIC]
    return ".".join(home[: 3 if home[:2] == ["networkx", "algorithms"] else 2])


# ---------------------------------------------------------------------- what is prose

DROPPED_SECTIONS = {"examples", "example", "see also", "references", "reference", "methods"}
FIELD_SECTIONS = {
    "parameters",
    "other parameters",
    "keyword arguments",
    "attributes",
    "returns",
    "return",
    "yields",
    "receives",
    "raises",
    "warns",
}
DROPPED_DIRECTIVES = re.compile(
    r"\.\. (math|plot|ipython|code|code-block|sourcecode|doctest|testcode|versionadded|versionchanged|deprecated|index|"
    r"only|figure|image|autosummary|currentmodule|seealso|rubric|\[|_)"
)
CODE = re.compile(
    r":[\w:+-]+:`[^`]*`|``.*?``|`[^`]*`_*"  # roles, literals, names
    r"|\$[^$]*\$|https?://\S+|\[\w+\]_"  # formulas, addresses, citations
    r"|\b\w+\.\w[\w.]*|\b\w+\((?!s\))\S*|\S*[=<>\\{}|^@#~]\S*",  # dotted names, calls, expressions
    re.DOTALL,
)
BOILERPLATE = re.compile(
    r"\*\*Array API Standard Support\*\*.*?for more information\.|Beginning in SciPy 1\.9,.*?`mask=False`\.",
    re.DOTALL,
)  # the same paragraph in hundreds of scipy's docstrings


def prose(doc: str) -> str:
    """The sentences of a numpydoc docstring: no names and types of parameters, examples, formulas, code or references."""
    lines = BOILERPLATE.sub(" ", inspect.cleandoc(doc)).splitlines()
    kept, section, hidden_below = [], "", None
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        indent = len(line) - len(line.lstrip())
        if line.strip() and set(below.strip()) in ({"-"}, {"="}) and len(below.strip()) > 2:
            section, hidden_below = line.strip().lower(), None
            continue
        if section in DROPPED_SECTIONS or not line.strip(" -=~"):
            continue
        if hidden_below is not None and indent > hidden_below:
            continue
        hidden_below = None
        if (
            DROPPED_DIRECTIVES.match(line.strip())
            or line.rstrip().endswith("::")
            or line.lstrip().startswith(">>>")
        ):
            hidden_below = indent if not line.lstrip().startswith(">>>") else indent - 1
            if not line.lstrip().startswith((">>>", "..")):
                kept.append(line)  # a sentence that introduces code
            continue
        if section in FIELD_SECTIONS and indent == 0:
            continue  # name : type
        kept.append(line)
    return CODE.sub(" ", textwrap.dedent("\n".join(kept)).replace("*", " "))


# ---------------------------------------------------------------------- counting and writing


def corpus() -> Corpus:
    """The bundled corpus: documents in alphabetical order of their names."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    found = documents()
    titles, labels, texts = (
        list(found),
        [label for label, _ in found.values()],
        [text for _, text in found.values()],
    )
    options = {
        "name": "docstrings",
        "stop_words": ENGLISH_STOP_WORDS | CONTRACTIONS | set(MARKUP_WORDS),
        "token_pattern": r"\b[a-z]{3,}\b",
        "max_share": LARGEST_SHARE,
    }
    everything = count_words(texts, titles, labels, **options)
    keep = [d for d in different(everything) if everything.document_tokens[d] >= LEAST_TOKENS]
    print(f"{len(found)} docstrings, {len(keep)} of them long enough and different")
    return count_words(
        [texts[d] for d in keep],
        [titles[d] for d in keep],
        [labels[d] for d in keep],
        min_documents=LEAST_DOCUMENTS,
        **options,
    )


def different(everything: Corpus) -> np.ndarray:
    """Documents that share less than `NEARLY_EQUAL` of their words with every earlier document that stays."""
    from scipy.sparse import csr_array

    shape = (everything.n_documents, everything.n_words)
    table = csr_array(
        (np.ones(everything.n_pairs, dtype=np.float32), everything.words, everything.indptr),
        shape=shape,
    )
    sizes = np.diff(everything.indptr)
    stays = np.ones(len(sizes), dtype=bool)
    for document in np.flatnonzero(sizes):
        earlier = np.flatnonzero(stays[:document])
        shared = (table[earlier] @ table[[document]].T).toarray()[:, 0]
        union = sizes[earlier] + sizes[document] - shared
        stays[document] = not np.any(shared >= NEARLY_EQUAL * union)
    return np.flatnonzero(stays)


def write(made: Corpus, folder: Path):
    """The corpus as a UCI bag of words with its vocabulary, titles and labels; same bytes every time."""
    rows = np.column_stack([made.documents + 1, made.words + 1, made.counts])
    head = f"{made.n_documents}\n{made.n_words}\n{made.n_pairs}\n"
    body = "".join(f"{document} {word} {count}\n" for document, word, count in rows.tolist())
    folder.mkdir(exist_ok=True)
    with (
        open(folder / "docword.docstrings.txt.gz", "wb") as file,
        gzip.GzipFile("", "wb", compresslevel=9, fileobj=file, mtime=0) as packed,
    ):
        packed.write((head + body).encode())
    for what, values in (
        ("vocab", made.vocabulary),
        ("titles", made.titles),
        ("labels", made.labels),
    ):
        (folder / f"{what}.docstrings.txt").write_bytes(
            "".join(f"{value}\n" for value in values).encode()
        )


def main():
    """Make, write and describe the corpus."""
    warnings.simplefilter("ignore")  # deprecated names warn when they are looked at
    made = corpus()
    folder = Path(__file__).parent / "docstrings"
    write(made, folder)
    print(made)
    for package in PACKAGES:
        version = importlib.import_module(package).__version__
        print(
            f"{package} {version}: {sum(title.split('.')[0] == package for title in made.titles)} documents"
        )
    for path in sorted(folder.iterdir()):
        print(
            path.name, path.stat().st_size, "bytes", hashlib.sha256(path.read_bytes()).hexdigest()
        )


if __name__ == "__main__":
    main()
