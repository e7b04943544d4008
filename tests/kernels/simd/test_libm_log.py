"""The logarithms and uniforms of starts, sixteen at a time: bit for bit those that were taken one by one."""

import math
import platform

import numpy as np
import pytest
from numba import njit

from workbench.kernels.jit import lean
from workbench.kernels.simd.libm_log import NEAR_ONE, libm_log
from workbench.kernels.simd.uniform_vectors import sixteen_uniforms
from workbench.kernels.simd.vectors import load, store
from workbench.kernels.uniforms import draw_key, fill_uniform


@lean
def logs_of(x, found):
    for at in range(0, len(x), 16):
        store(found, at, libm_log(load(x, at)))


@njit
def logs_one_by_one(x, found):
    for at in range(len(x)):
        found[at] = math.log(x[at])


@lean
def uniforms_of(key, first, found):
    for at in range(0, len(found), 16):
        store(found, at, sixteen_uniforms(key, first + at))


def arguments(seed: int) -> np.ndarray:
    """2^20 numbers from 2^-53 to 1: even ones, small ones, those next to 1, and where the two series meet."""
    random = np.random.default_rng(seed)
    even = 1.0 - random.random(2**18)
    small = np.ldexp(even, -random.integers(0, 53, len(even)))
    next_to_one = 1.0 - np.ldexp(np.floor(np.ldexp(small, 53)), -53)
    where = np.nextafter(NEAR_ONE, random.choice([0.0, 1.0], len(even)))
    found = np.concatenate([even, small, next_to_one, where])
    found[:4] = 1.0, 2.0**-53, NEAR_ONE, 1.0 - 2.0**-53
    return found[found > 0][: len(found) // 2 // 16 * 32]


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc",
    reason="another C library rounds its logarithms in another way",
)
@pytest.mark.parametrize("seed", range(4))
def test_logarithms_have_the_bits_of_the_c_library(seed):
    x = arguments(seed)
    x = x[: len(x) // 16 * 16]
    found, expected = np.empty_like(x), np.empty_like(x)
    logs_of(x, found)
    logs_one_by_one(x, expected)
    np.testing.assert_array_equal(found.view(np.int64), expected.view(np.int64))


def test_logarithms_are_right():
    """One unit in the last place: what the algorithm promises is 0.52."""
    x = arguments(9)[: 2**16]
    found = np.empty_like(x)
    logs_of(x, found)
    np.testing.assert_array_max_ulp(found, np.log(x), 1)


@pytest.mark.parametrize("first", [0, 7, 2**40])
def test_uniforms_have_the_bits_of_those_drawn_one_by_one(first):
    key = draw_key(3, 1, 0, 0)
    found = np.empty(160)
    uniforms_of(key, first, found)
    if first < 100:
        expected = np.empty(160 + first)
        fill_uniform(key, expected)
        np.testing.assert_array_equal(found, expected[first:])
    shifted = np.empty(144)
    uniforms_of(key, first + 16, shifted)
    np.testing.assert_array_equal(found[16:], shifted)
