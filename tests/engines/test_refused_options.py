"""Options of engines that cannot be, and the sentence with which each is refused; a wrong type or range is of the same code."""

import pytest

from workbench.engines import get_engine
from workbench.engines.options import split_options
from workbench.models.options import OptionError

HYBRIDS = ("svb-cgs", "cvb-cgs", "cvb0-cgs")
INTERLEAVED = {"phases": "interleaved"}
REFUSED = [
    *(
        (
            name,
            {"partition": partition},
            f"option 'partition' of {name} must be a whole number from 1 to 64; got",
        )
        for name in ("cgs", "cvb", "cvb0", *HYBRIDS)
        for partition in (0, 65, 1.5, "many")
    ),
    *(
        (
            name,
            INTERLEAVED | {"partition": 2} | more,
            "phases=interleaved goes pair by pair and needs partition=1; set it, or use two",
        )
        for name, more in zip(HYBRIDS, ({"schedule": "sequential"}, {}, {}), strict=True)
    ),
    ("svb-cgs", INTERLEAVED, "phases=interleaved needs n_chains=1 and schedule=sequential"),
    (
        "svb-cgs",
        INTERLEAVED | {"schedule": "sequential", "n_chains": 2},
        "n_chains=1 and schedule=sequential",
    ),
    ("cvb-cgs", INTERLEAVED | {"n_chains": 2}, "phases=interleaved needs n_chains=1"),
    ("cvb0-cgs", INTERLEAVED | {"n_chains": 2}, "phases=interleaved needs n_chains=1"),
    (
        "cvb-cgs",
        INTERLEAVED | {"cg_second_order": True},
        "cg_second_order needs phases=two_phase",
    ),
    (
        "cvb0-cgs",
        INTERLEAVED | {"cg_second_order": True},
        "cvb0-cgs has no option 'cg_second_order'",
    ),
    ("cvb-cgs", {"cg_second_order": "perhaps"}, "must be one of False, True; got 'perhaps'"),
    (
        "adaptive-cgs",
        {"refresh": 0},
        "split=gap goes by the counts of a run and needs refresh of at least 1",
    ),
    ("online-vb", {"kappa": 0.5}, r"kappa must be above 0.5 and at most 1.*got 0.5"),
    *(
        (name, given, sentence)
        for name in ("cgs", "svb", "cvb-cgs")
        for given, sentence in (
            (
                {"alpha_form": "symmetric"},
                "alpha_form would be without effect: alpha is fixed; set learn_alpha, or leave it out",
            ),
            (
                {"alpha_form": "symmetric", "learn_beta": "maximised"},
                "alpha_form would be without effect: alpha is fixed",
            ),
            (
                {"learn_every": 5},
                "learn_every would be without effect: nothing is learnt; set learn_alpha or learn_beta",
            ),
            ({"learn_after": 0}, "learn_after would be without effect"),
            (
                {"a_alpha": 2, "learn_alpha": "maximised"},
                "a_alpha would be without effect: alpha is not sampled; set learn_alpha",
            ),
            (
                {"b_beta": 2, "learn_alpha": "sampled"},
                "b_beta would be without effect: beta is not sampled",
            ),
            (
                {"learn_alpha": "newton"},
                "option 'learn_alpha' of .* must be one of fixed, maximised, sampled; got 'newton'",
            ),
            (
                {"learn_beta": "sampled", "a_beta": 0},
                "option 'a_beta' of .* must be a number of at least 1e-08; got 0",
            ),
        )
    ),
    (
        "cv-hdp",
        {"learn_beta": True, "beta_total": 3.0},
        "beta_total would be without effect: beta is learnt; give learn_beta=False",
    ),
    *(
        (name, {"init": "noise", "warm_up": 20}, "warm_up would be without effect: set init=smooth")
        for name in ("svb", "vb", "cvb", "svb-cgs", "cv-hdp")
    ),
    ("ctm-em", {"prior": "paper"}, "has no option 'prior'"),
    ("sb-ctm-vb", {"kappa": 0.5}, "kappa must be above 0.5 and at most 1, so that rates settle"),
    ("sb-ctm-vb", {"kappa": 1.2}, "'kappa' of sb-ctm-vb must be a number from 0.5 to 1; got 1.2"),
    ("sb-ctm-vb", {"tau": 0.5}, "'tau' of sb-ctm-vb must be a number of at least 1; got 0.5"),
    ("hmm", {"alpha0": 0}, "alpha0.* a number from 0.001"),
    ("hmm", {"n_states": 0}, "n_states.* a whole number from 1 to 1000"),
    ("lnm-lds", {"sweep_particles": 1}, "sweep_particles.* must be a whole number from 2"),
    ("lnm-lds", {"n_particles": 1}, "n_particles.* must be a whole number from 2"),
    ("lnm-lds", {"sigma_c2": 0}, "sigma_c2.* must be a number from"),
    ("lnm-lds", {"sigma_c2": -1}, "sigma_c2.* must be a number from"),
    ("lnm-lds", {"order": "random"}, "has no option 'order'"),
    ("bn-vb", {"learn_after": 3}, "would be without effect"),
    ("bn-vb", {"learn_priors": "maximised", "a_prior": 2.0}, "would be without effect"),
]


@pytest.mark.parametrize(("name", "given", "sentence"), REFUSED)
def test_an_option_that_cannot_be_is_refused_in_a_sentence(name, given, sentence):
    with pytest.raises(OptionError, match=sentence):
        split_options(get_engine(name), given)
