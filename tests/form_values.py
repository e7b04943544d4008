"""For every field of the form an unusual value, and what the runs that it starts are told then."""

from workbench.dashboard.compare.fields import SINGLETONS_IN_WORDS

ROWS = "text,body,name,kind\n" + (
    "apples the pears plums x7,red green blue red,one,fruit\napples pears cherries,red blue green,two,colour\n" * 20
)
CELLS = "a,b,n\n" + "x,u,1\nNA,u,2\ny,?,1\nx,v,2\n" * 6   # records
RECORDS = {"engines": ["bn-vb"], "path": "records.csv"}   # of the folder of the form's file
SEQUENTIAL, LEARNT, SAMPLED = {"schedule": "sequential"}, {"learn_alpha": "maximised"}, {"learn_alpha": "sampled"}
OPTIONS = {   # name: (what is chosen or typed, what the runs have, what it needs beside it)
    "n_inner": ("7", 7, {}), "inner_tolerance": ("0.01", 0.01, {}), "restart_documents": ("yes", True, {}),
    "topics": ("point", "point", {}), "init": ("noise", "noise", {}), "learn_alpha": ("maximised", "maximised", {}),
    "alpha_form": ("symmetric", "symmetric", LEARNT), "learn_beta": ("sampled", "sampled", {}), "learn_after": ("3", 3, LEARNT),
    "learn_every": ("2", 2, LEARNT), "a_alpha": ("2.5", 2.5, SAMPLED), "b_alpha": ("0.5", 0.5, SAMPLED),
    "a_beta": ("1.5", 1.5, {"learn_beta": "sampled"}), "b_beta": ("2", 2.0, {"learn_beta": "sampled"}),
    "schedule": ("sequential", "sequential", {}), "partition": ("4", 4, {}), "precision": ("single", "single", {}),
    "scan": ("words", "words", {}),
    "scored": ("sampled", "sampled", {"engines": ["cgs"]}), "r": ("inf", "inf", {}), "n_chains": ("3", 3, {}),
    "phases": ("interleaved", "interleaved", SEQUENTIAL), "cg_second_order": ("yes", True, {}),
    "alpha_total": ("3", 3.0, {"cv-hdp.learn_alpha": "no"}), "beta_total": ("50", 50.0, {}),
    "top_concentration": ("2", 2.0, {"learn_gamma": "no"}),
    "cv-hdp.learn_alpha": ("no", False, {}), "learn_gamma": ("no", False, {}),
    "cv-hdp.a_alpha": ("1", 1.0, {}), "cv-hdp.b_alpha": ("1", 1.0, {}), "a_gamma": ("1", 1.0, {}), "b_gamma": ("1", 1.0, {}),
    "cv-hdp.learn_beta": ("yes", True, {}), "learn_tau": ("yes", True, {}),
    "cv-hdp.a_beta": ("1", 1.0, {"cv-hdp.learn_beta": "yes"}), "cv-hdp.b_beta": ("1", 1.0, {"cv-hdp.learn_beta": "yes"}),
    "a_tau": ("0.25", 0.25, {"learn_tau": "yes"}), "update": ("zeroth", "zeroth", {}), "cv-hdp.init": ("hard", "hard", {}),
    "reorder": ("no", False, {}), "moves_every": ("5", 5, {}), "moves_after": ("7", 7, {"moves_every": "5"}),
    "prior": ("paper", "paper", {}), "order": ("2,0,1", "2,0,1", {}),
    "order_seed": ("3", 3, {"order": "random", "sbm-gp.order": "random"}),
    "time": ("none", "none", {}), "sbm-gp.order": ("2,0,1", "2,0,1", {}), "length_time": ("20", 20.0, {}),
    "length_space": ("9", 9.0, {}), "scale": ("2", 2.0, {}), "noise": ("3", 3.0, {}), "mean": ("paper-code", "paper-code", {}),
    "kernel": ("sampled", "sampled", {}), "lnm-gp.kernel": ("given", "given", {}), "rank": ("dense", "dense", {}),
    "predict": ("conditional", "conditional", {}), "average_after": ("5", 5, {}), "lnm-gp.average_after": ("7", 7, {}),

    "network": ("hmm", "hmm", {}), "missing": ("imputed", "imputed", {}), "bn-vb.n_states": ("4", 4, {}),
    "learn_priors": ("maximised", "maximised", {}), "a_prior": ("2", 2.0, {"learn_priors": "sampled"}),
    "b_prior": ("0.5", 0.5, {"learn_priors": "sampled"}),
    "tables": ("drawn", "drawn", {}), "least": ("0.001", 0.001, {}),
    "sweep_particles": ("20", 20, {}), "n_states": ("4", 4, {}), "alpha0": ("0.5", 0.5, {}),
    "sb-ctm.topics": ("drawn", "drawn", {}), "start_sweeps": ("5", 5, {}),
    "bound": ("paper", "paper", {}), "sb-ctm-vb.n_inner": ("3", 3, {}), "batch": ("4", 4, {}),
    "tau": ("2", 2.0, {"batch": "4"}), "kappa": ("0.75", 0.75, {"batch": "4"}),
    "ctm-em.inner_tolerance": ("0.001", 0.001, {}),
    "q": ("0.02", 0.02, {}), "learn_q": ("yes", True, {}),
    "a_q": ("3", 3.0, {"learn_q": "yes"}), "b_q": ("0.5", 0.5, {"learn_q": "yes"}),
    "word_alpha": ("1", 1.0, {}), "documents": ("shared", "shared", {}), "step_variance": ("0.5", 0.5, {}),
    "state_dim": ("4", 4, {}), "sigma_c2": ("0.5", 0.5, {}), "learn_sigma_c2": ("yes", True, {}),
    "a_sigma_c2": ("3", 3.0, {"learn_sigma_c2": "yes"}), "b_sigma_c2": ("2", 2.0, {"learn_sigma_c2": "yes"}),
    "offset": ("uniform", "uniform", {}), "n_particles": ("30", 30, {}), "probabilities": ("argmax", "argmax", {}),
    "n_draws": ("20", 20, {"probabilities": "argmax"}),
    "network-vb.n_inner": ("3", 3, {}), "network-vb.learn_after": ("4", 4, {}), "network-vb.learn_every": ("5", 5, {}),
}
REST = {   # name: (what is chosen or typed, of a run's spec and training corpus, what that is, what it needs beside it)
    "corpus": ("bars", lambda spec, train: spec.corpus, "bars", {}),
    "path": (None, lambda spec, train: spec.corpus, "mine", {}),
    "format": ("a MALLET text file (name label text)", lambda spec, train: train.n_documents, 41, {}),
    "text": ("body", lambda spec, train: set(train.vocabulary), {"red", "green", "blue"}, {}),
    "title": ("name", lambda spec, train: train.titles[:2], ("one", "two"), {}),
    "label": ("kind", lambda spec, train: train.labels[:2], ("fruit", "colour"), {}),
    "stop_words": ("none", lambda spec, train: "the" in train.vocabulary, True, {}),
    "min_documents": ("21", lambda spec, train: set(train.vocabulary), {"apples", "pears"}, {}),
    "max_share": ("0.5", lambda spec, train: set(train.vocabulary), {"plums", "cherries"}, {}),
    "token_pattern": (r"\w+\d", lambda spec, train: train.vocabulary, ("x7",), {}),
    "top_words": ("2", lambda spec, train: (spec.split["top_words"], set(train.vocabulary)), (2, {"apples", "pears"}), {}),
    "singletons": (SINGLETONS_IN_WORDS["both-own"], lambda spec, train: spec.split["singletons"], "both-own", {"text": "body"}),
    "records.fields": ("b, a", lambda spec, train: train.fields, ("b", "a"), RECORDS),
    "records.missing": ("NA,?", lambda spec, train: [len(names) for names in train.levels], [2, 2, 2], RECORDS),
    "records.multiplicity": ("n", lambda spec, train: (train.n_records, train.fields), (36, ("a", "b")), RECORDS),
    "records.holdout_per": ("records", lambda spec, train: spec.split["per"], "record", RECORDS),
    "holdout_per": ("documents, half of each", lambda spec, train: spec.split["per"], "half", {}),
    "holdout_rows": (
        "labels=fruit", lambda spec, train: spec.split["rows"], {"by": "labels", "values": ["fruit"]}, {"label": "kind"},
    ),
    "holdout": ("0.25", lambda spec, train: spec.split["fraction"], 0.25, {}),
    "engines": (["vb"], lambda spec, train: spec.engine, "vb", {}),
    "n_topics": ("7", lambda spec, train: spec.model["n_topics"], 7, {}),
    "alpha": ("0.25", lambda spec, train: spec.model["alpha"], 0.25, {}),
    "beta": ("0.5", lambda spec, train: spec.model["beta"], 0.5, {}),
    "n_iterations": ("42", lambda spec, train: spec.n_iterations, 42, {}),
    "seed": ("9", lambda spec, train: spec.seed, 9, {}),
    "model": ("pachinko", lambda spec, train: spec.model["name"], "pachinko", {"engines": ["network-gibbs"]}),
    "super": ("3", lambda spec, train: spec.parts()[1].size("super"), 3, {"engines": ["network-gibbs"], "model": "pachinko"}),
}
