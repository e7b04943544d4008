"""What is fuzzed: each reader, network files, specs, links, searches and requests, with valid inputs to begin from."""

import atexit
import contextlib
import gzip
import hashlib
import io
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
import xarray as xr
from data_files import archive

import workbench as wb
from workbench.corpus import load_corpus, read_corpus
from workbench.corpus.document_table import SUFFIX, DocumentTable
from workbench.corpus.formats.npz import write as npz_of
from workbench.dashboard.compare.engine_choice import EngineChoice
from workbench.dashboard.compare.fields import field_of
from workbench.dashboard.shared.form import line, menu, whole_number
from workbench.dashboard.shared.link import (
    attribute_parameter,
    from_query,
    to_query,
    widget_parameter,
)
from workbench.measures import find_documents
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.networks.network import Network
from workbench.records import Records, read_records
from workbench.runs.execution.control import StoreControl
from workbench.runs.loading import load_records
from workbench.runs.spec import RunSpec, make_spec
from workbench.runs.store.status import PAUSED, RUNNING, STOPPED, read_json, requested


class Target(NamedTuple):
    """What takes bytes, by way of a file where it reads one."""

    name: str
    seeds: list[bytes]
    take: Callable[[bytes, Path], object]
    packed: bool = True  # gzipped ones are read too


def from_file(read: Callable, name: str, **options) -> Callable[[bytes, Path], object]:
    """Writes the bytes into a file of that name and reads it."""

    def take(data: bytes, folder: Path) -> object:
        (folder / name).write_bytes(data)
        return read(folder / name, **options)

    return take


CORPUS = replace(
    wb.Corpus.from_pairs(
        [0, 0, 1, 2, 2],
        [0, 2, 1, 0, 3],
        [2, 1, 3, 1, 5],
        ["ant", "bee", "cat", "dög"],
        4,
        titles=["one", "two words", "three", "four"],
        labels=["x", "y", "x", ""],
        authors=[("A", "B"), ("A",), (), ("B",)],
        times=[1987, 1988, 1987, 1990],
        inputs={"year": [1.0, 2.0, 3.0, 4.5]},
        sequence=[("s", 0), ("s", 2), ("t", 0), ("t", 1)],
    ),
    name="toy",
)
CELLS = Records.from_columns(
    {"a": ["x", "y", "", "x"], "b": [1, 2, 2, None], "c": ["u", "v", "w", "u"]}
)


def _saved(data) -> bytes:
    """The bytes of what `save` writes."""
    with tempfile.TemporaryDirectory() as folder:
        return data.save(folder).read_bytes()


def _tables(write: str, **columns) -> list[bytes]:
    """The bytes that pandas writes of a table; none where a package for that is not there."""
    import pandas

    file = io.BytesIO()
    try:
        getattr(pandas.DataFrame(columns), write)(file, index=False)
    except ImportError:
        return []
    return [file.getvalue()]


def _bif() -> list[bytes]:
    try:
        import pgmpy  # noqa: F401
    except ImportError:
        return []
    return [
        b"""network rain { }
variable cloudy { type discrete [ 2 ] { no, yes }; }
variable rain { type discrete [ 2 ] { no, yes }; }
probability ( cloudy ) { table 0.5, 0.5; }
probability ( rain | cloudy ) { (no) 0.8, 0.2; (yes) 0.1, 0.9; }
"""
    ]


def _spec(data: bytes, folder: Path) -> None:
    spec = RunSpec.from_json(data.decode("utf-8", "replace"))
    spec.parts(), spec.hash, spec.label(), spec.to_json(), spec.rule, spec.size_text


def _link(data: bytes, folder: Path) -> None:
    """Sets fields from a query; what is then in the address must set the same again."""

    class Owner:
        sort = ""

    parameters = {
        "n_topics": widget_parameter(field_of("n_topics")),
        "r": widget_parameter(field_of("r")),
        "n": widget_parameter(whole_number("n", 3)),
        "line": widget_parameter(line("line", "text")),
        "menu": widget_parameter(menu("menu", {"one": 1, "none": None, "text": "x"}, 1)),
        "engines": widget_parameter(EngineChoice(["svb"])),
        "sort": attribute_parameter(Owner(), "sort", {"", "-x"}.__contains__),
    }
    from_query(data.decode("utf-8", "replace"), parameters)
    written = to_query(parameters)
    refused = from_query(written, parameters)
    assert not refused and to_query(parameters) == written, (refused, written)


@cache
def _page(name: str):
    """(page, its parameters of the link), of a store with one run."""
    from workbench.dashboard.compare.page import ComparePage
    from workbench.dashboard.topics.page import TopicsPage

    store = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, store, ignore_errors=True)
    wb.fit(CORPUS, "cvb0", 2, n_iterations=2, store=store, name="one", progress=False)
    page = ComparePage(store) if name == "compare" else TopicsPage(store)
    return page, page.parameters if name == "compare" else page._parameters


def _page_link(name: str, data: bytes, folder: Path) -> None:
    """Sets parameters of a page, one for each line and the next ones after its first; the address then sets the same."""
    _, parameters = _page(name)
    defaults = {
        name: urlencode({name: parameter.default})
        for name, parameter in parameters.items()
        if parameter.current() != parameter.default
    }
    from_query("&".join(defaults.values()), parameters)
    names, first = list(parameters), zlib.crc32(data)
    values = data.decode("utf-8", "replace").split("\n")
    from_query(
        urlencode({names[(first + at) % len(names)]: value for at, value in enumerate(values)}),
        parameters,
    )
    written = to_query(parameters)
    refused = from_query(written, parameters)
    assert not refused and to_query(parameters) == written, (refused, written)


def _texts(data: bytes, folder: Path) -> DocumentTable:
    """Texts of documents as a store keeps them: compressed ones under a name that is right for the first input alone."""
    packed = data.startswith(b"\x1f")
    name = TABLE.content_hash if packed else hashlib.sha256(data).hexdigest()
    path = folder / f"{name}{SUFFIX}"
    path.write_bytes(data if packed else gzip.compress(data, 1))
    try:
        return DocumentTable.load(path)
    finally:
        path.unlink()


def _encoded(data: bytes, folder: Path) -> object:
    """The first line names the encoding of the others."""
    name, _, content = data.partition(b"\n")
    (folder / "encoded.csv").write_bytes(content)
    return read_corpus(folder / "encoded.csv", encoding=name.decode("utf-8", "replace"))


def _find(data: bytes, folder: Path) -> None:
    """Documents that are looked for, with and without texts."""
    query = data.decode("utf-8", "replace")
    found = (
        [find_documents(DOCUMENTS, query, table, CORPUS) for table in (TABLE, None)]
        if ":" not in query
        else [find_documents(DOCUMENTS, query, TABLE)]
    )
    assert all((np.diff(each) > 0).all() and set(each.tolist()) <= {0, 1, 2, 3} for each in found)


def _control(data: bytes, folder: Path) -> None:
    """A run's files of requests and state, read by its control and by others."""
    (folder / "control.json").write_bytes(data)
    assert requested(folder) in (None, RUNNING, PAUSED, STOPPED)
    assert isinstance(read_json(folder / "control.json"), dict)
    control = StoreControl(folder, lambda state: None)
    control._read()
    assert control.wants_rest() in (True, False) and control.stopping() in (True, False)


def _load(load: Callable, data: bytes, folder: Path) -> object:
    name = data.decode("utf-8", "surrogateescape")
    with contextlib.suppress(ValueError):  # of the null that no path can have
        if os.path.isdir(os.path.expanduser(name)):  # as / or ~, which would be read whole
            return None
    return load(name)


TABLE = DocumentTable(
    {
        "text": ("Ants & bees", "A cat: 12:30", "", "Ants"),
        "a kind": ("x", None, "y", "x"),
        "n": (1, 2.5, 3, 4),
    },
    "text",
)
DOCUMENTS = xr.Dataset(
    coords={"document": list(CORPUS.titles), "document_label": ("document", list(CORPUS.labels))}
)
QUERIES = [b"ant", b'"ants & bees" cat', b'label:x "a kind":y', b'n:"2.5" 12', b'"12:30"']
ENCODINGS = [
    name.encode() + b"\n" + "text,label\ncafé ants,x\nbees,y\n".encode(name)
    for name in (
        "utf-8",
        "utf-16",
        "utf-32",
        "utf-7",
        "cp1252",
        "latin-1",
        "cp437",
        "iso8859-15",
        "gb18030",
        "unicode_escape",
        "raw_unicode_escape",
        "punycode",
    )
] + [
    name + b"\ntext,label\nants,x\n"
    for name in (b"idna", b"hz", b"iso2022_jp", b"shift_jis", b"koi8-r")
]
LINKS = [
    b"10,20\ninf\n0.1,1\nsvb,cgs\nTrue",
    b"one\n3\n-train_perplexity\nseconds\n7",
    b"bars:side=3\nvotes\n/tmp/x.csv\nText\nfull",
    b"0.5\n1e-8\nnan\n-1\n2147483648\n",
    b"True\nFalse\nlda\ncv-hdp\none,one\n1:2:3:4\nstate",
]
FRAME = dict(
    text=["red ants", None, "green bees"],
    day=["2020-01-31", "", "2021-02-01"],
    n=[1, 2, 3],
    share=[0.5, None, 2.0],
)
TEXTS = [
    b'text,title,label\nibis heron,one,zoo\n"oil,\noil",two,art\n',
    b"text;label\nibis;a\nheron;b\n",
    b"text\tn\nibis\t1\n",
]
COUNTS = [
    b"document,word,count,label\n1,ant,3,x\n1,bee,1,x\n2,cat,2,y\n3,ant,0,\n",
    b"document;word;count\na;b;3.0\n",
]
WIDE = [b"place,year,x,ant,bee\nA,1990,0.5,3,0\nA,1991,1e3,2,2\nB,1990,-2,0,1\n"]
LINES = [
    b'{"text": "ibis heron", "title": "one", "label": 3}\n{"text": "oil", "title": "two"}\n',
    b'{"counts": {"ant": 3, "bee": 1}, "x": 1.5, "s": "a", "p": 1}\n{"counts": {"cat": 2}, "x": 2, "s": "a", "p": 2}\n',
    b'{"tokens": ["ant", "bee", "ant"]}\n{"tokens": []}\n',
]
NETWORK = json.dumps(Network.of("pachinko").settings()).encode()
LDA_TOML = b"""name = "lda"
variables = [{ name = "topic", size = 10 }]
[[levels]]
name = "theta"
draws = "topic"
rows = [{ by = ["document"] }]
prior = 0.1
[[levels]]
name = "phi"
draws = "word"
learn = "scalar"
rows = [{ by = ["topic"], when = [["topic", 0, 9]] }]
"""
NET_TOML = b"""name = "two causes"
[[nodes]]
name = "cause"
states = 2
[[nodes]]
name = "season"
states = ["winter", "summer"]
[[nodes]]
name = "symptom"
states = ["no", "yes"]
parents = ["cause", "season"]
prior = [[0.5, 0.5], [1, 2], [0.5, 0.5], [2, 1]]
cpt = "s"
"""
NET_JSON = json.dumps(
    {
        "name": "n",
        "nodes": [
            {"name": "a", "states": 3, "prior": 0.5},
            {"name": "b", "states": ["u", "v"], "parents": ["a"], "given": False},
        ],
    }
).encode()
SPECS = [
    make_spec(CORPUS, name, options=options, stop_on="bound" if name == "vb" else None)
    .to_json()
    .encode()
    for name, options in {
        "svb": {},
        "vb": {"learn_alpha": "maximised"},
        "cgs": {"scored": "sampled"},
        "cv-hdp": {},
        "network-gibbs": {},
    }.items()
]
NAMES = [
    b"bars:side=3:n_documents=5:seed=1",
    b"zipf:n_words=20:n_documents=3:exponent=0.5",
    b"lda:n_documents=3:alpha=0.2",
]
TARGETS = [
    Target(
        "uci",
        [b"3\n4\n3\n1 1 2\n1 3 1\n3 2 5\n"],
        from_file(read_corpus, "docword.toy.txt", format="uci"),
    ),
    Target(
        "vocabulary",
        [b"ant\nbee\ncat\nd\xc3\xb6g\n"],
        lambda data, folder: (
            (folder / "words.txt").write_bytes(data),
            (folder / "v.txt").write_bytes(b"3\n4\n3\n1 1 2\n1 3 1\n3 2 5\n"),
            read_corpus(folder / "v.txt", vocabulary=folder / "words.txt"),
        ),
    ),
    Target("lda-c", [b"2 0:1 3:2\n0\n1 2:7\n"], from_file(read_corpus, "toy.ldac", format="lda-c")),
    Target(
        "mtx",
        [
            b"%%MatrixMarket matrix coordinate integer general\n% c\n3 4 3\n1 1 2\n1 3 1\n3 2 5\n",
            b"%%MatrixMarket matrix coordinate real general\n3 4 2\n1 1 2.0\n3 2 5e0\n",
        ],
        from_file(read_corpus, "toy.mtx", format="mtx"),
    ),
    Target(
        "mallet",
        [b"one zoo ibis heron\ntwo - oil, oil\n\nthree,art,,crane\n"],
        from_file(read_corpus, "toy.txt", format="mallet"),
    ),
    Target("csv texts", TEXTS, from_file(read_corpus, "toy.csv")),
    Target("csv counts", COUNTS, from_file(read_corpus, "toy.csv")),
    Target(
        "csv wide",
        WIDE,
        from_file(read_corpus, "toy.csv", inputs="x", sequence="place", position="year"),
    ),
    Target("jsonl", LINES, from_file(read_corpus, "toy.jsonl")),
    Target(
        "jsonl inputs",
        LINES[1:2],
        from_file(read_corpus, "toy.jsonl", inputs="x", sequence="s", position="p"),
    ),
    Target(
        "npz",
        [
            next(iter(npz_of(CORPUS, Path("x.npz"), True).files.values())),
            archive(doc=[0, 1], word=[0, 3], count=[1, 2]),
        ],
        from_file(read_corpus, "toy.npz"),
    ),
    Target(
        "npz again",
        [next(iter(npz_of(CORPUS, Path("x.npz"), True).files.values()))],
        from_file(read_corpus, "toy.npz"),
    ),
    Target("fasta", [b">one first\nACGT\nAC-*\n>two\nGG\n"], from_file(read_corpus, "toy.fa")),
    Target(
        "words",
        [b"It was the best of times, it was the worst of times;\n"],
        from_file(read_corpus, "toy.txt", format="words"),
    ),
    Target(
        "unknown",
        [b"3\n4\n1\n1 1 2\n", *TEXTS, *LINES, b">one\nAC\n", b"1 0:2\n"],
        from_file(read_corpus, "toy"),
    ),
    Target(
        "records csv",
        [b"a,b,n\nx,u,1\nNA,u,2\ny,,1\nx,v,2\n"],
        from_file(read_records, "r.csv", missing="NA", multiplicity="n"),
    ),
    Target("network json", [NETWORK], from_file(Network.of, "net.json"), False),
    Target("network toml", [LDA_TOML], from_file(Network.of, "net.toml"), False),
    Target("bayes net json", [NET_JSON], from_file(BayesNet.of, "bn.json"), False),
    Target("bayes net toml", [NET_TOML], from_file(BayesNet.of, "bn.toml"), False),
    Target("spec", SPECS, _spec, False),
    Target(
        "link",
        [b"?k=10,20&a=inf&n=4&share=0.5&menu=&ticks=svb,cgs&sort=-x", b"?n=5&k=%31%30"],
        _link,
        False,
    ),
    Target("control", [b'{"wanted": "paused"}', b'{"wanted": "stopped"}'], _control, False),
    Target("corpus name", NAMES, partial(_load, load_corpus), False),
    Target("records name", [b"votes:party=keep", b"votes"], partial(_load, load_records), False),
    *(
        Target(
            f"saved {kind.item}s",
            [_saved(data)],
            from_file(kind.load, f"{data.content_hash}.npz"),
            False,
        )
        for kind, data in ((wb.Corpus, CORPUS), (Records, CELLS))
    ),
    *(
        Target("parquet", [data], from_file(read_records, "r.parquet"), False)
        for data in _tables("to_parquet", a=["x", "y", None], b=[1, 2, 3])
    ),
    *(
        Target("parquet texts", [data], from_file(read_corpus, "t.parquet"), False)
        for data in _tables("to_parquet", **FRAME)
    ),
    *(
        Target("excel", [data], from_file(read_corpus, "t.xlsx", time="day"), False)
        for data in _tables("to_excel", **FRAME)
    ),
    Target("texts of documents", [TABLE._content, gzip.compress(TABLE._content, 1)], _texts, False),
    Target("encoding", ENCODINGS, _encoded, False),
    Target("find", QUERIES, _find, False),
    *(
        Target(f"{name} link", LINKS, partial(_page_link, name), False)
        for name in ("compare", "topics")
    ),
]
RARE = [Target("bif", [data], from_file(BayesNet.of, "rain.bif")) for data in _bif()]
"""What takes long: pgmpy makes its grammar anew for each file."""
