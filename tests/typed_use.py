"""The public API as people use it: a type checker reads this file, nobody runs it."""

from pathlib import Path

import workbench as wb


def use(path: Path, texts: list[str]) -> None:
    """Calls of what is public, with what they give."""
    corpus = wb.load_corpus("docstrings")
    train, test = wb.hold_out_tokens(corpus, fraction=0.1, seed=0)
    wb.register_engine("mine", "my_engine")
    ds = wb.fit(train, engine="svb-cgs", n_topics=10, n_iterations=100, test=test, options={"r": 1})
    print(ds["test_perplexity"].values[-1], wb.perplexity(ds), wb.topics(ds, 8))
    wb.fit(train, "svb-cgs", r="inf", min_documents=2)
    seeds = {"sport": ["ball", "game"]}
    wb.fit(train, "cgs", beta=[[0.1] * corpus.n_words] * 10, seed_words=seeds)
    table = wb.compare(corpus, ["svb", wb.engines.svb_cgs(r=1)], n_topics=10, n_iterations=100)
    print(table.sizes, wb.measures.summary(table))
    run = wb.start(train, "cgs", test=test)
    run.pause()
    run.resume()
    run.stop()
    print(run.name, run.dataset().sizes)
    wb.infer(ds, texts)["theta"].to_pandas()
    wb.sweep(corpus, {"n_topics": [10, 20]}, jobs=2)
    large = wb.read_shards(path, "large")
    print(large.n_tokens, wb.ShardedCorpus.open("large").n_documents)
    wb.save_figures(ds, path)
    wb.write_report(ds, path / "report.html")
    print(wb.measures.convergence([ds]).to_dataframe(), wb.to_arviz([ds], [train]))
    wb.fit_stream(iter(texts), ["a", "b"], 5)
    wb.open_runs(path)
