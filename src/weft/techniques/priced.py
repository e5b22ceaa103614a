"""Techniques that are priced and not built: their operations per edge are known, so plans can be compared under them.

A plan that uses one of them explains and costs as any other; `weft.apply` refuses it. `technique="auto"` never takes
one.
"""

from __future__ import annotations

from weft.algebra.partials import Law
from weft.techniques import omega
from weft.techniques.omega import Omega
from weft.techniques.technique import Technique

_MULTI_QUERY = "Shein and Chrysanthis, TKDE 2020"

FLATFAT = Technique(
    name="flatfat",
    title="FlatFAT (flat fixed-sized aggregator)",
    first_appeared="Tangwongsan, Hirzel, Schneider and Wu, VLDB 2015",
    ranges="any",
    time="log2(n) per slice, up to 2 log2(n) per answer",
    space="2 n, n rounded up to a power of two",
    needs=frozenset(),
    omega=Omega(
        "sum of floor(log2(P - 1)) + (P - 1)/2^floor(log2 P)",
        omega.flatfat,
        refined=omega.flatfat_refined,
        quick=omega.flatfat_quick,
        by_range=True,
        monotone=False,
        least=omega.flatfat_least,
    ),
)

FLATFIT = Technique(
    name="flatfit",
    title="FlatFIT (flat and fast index traverser)",
    first_appeared="Shein, Chrysanthis and Labrinidis, SSDBM 2017",
    ranges="any up to n",
    time="3 per slice for one range, n - 1 at worst",
    space="2 n",
    needs=frozenset(),
    omega=Omega(
        "3 x queries",
        lambda load: 3 * load.queries,
        refined=lambda load: 3 * load.due,
        floor=lambda load: 3 * load.due,
    ),
)

SLICKDEQUE_INV = Technique(
    name="slickdeque_inv",
    title="SlickDeque (Inv)",
    first_appeared="Shein, Chrysanthis and Labrinidis, EDBT 2018",
    ranges="a fixed set",
    time="2 per slice and different number of slices in a window",
    space="n + the different numbers",
    needs=frozenset({Law.INVERTIBLE}),
    omega=Omega(
        "2 x different numbers of slices in a window",
        omega.slickdeque_inv,
        by_range=True,
        monotone=False,
        least=lambda load: 2,
    ),
)

SLICKDEQUE_NONINV = Technique(
    name="slickdeque_noninv",
    title="SlickDeque (Non-Inv)",
    first_appeared="Shein, Chrysanthis and Labrinidis, EDBT 2018",
    ranges="any up to n",
    time="2 - 2/n per slice, and a walk along the deque",
    space="2 n at most",
    needs=frozenset({Law.SELECTIVE}),
    omega=Omega(
        "2 - 2/P + queries + length of the deque",
        omega.slickdeque_noninv,
        refined=omega.slickdeque_noninv_refined,
        floor=lambda load: load.due,
    ),
)

TWO_STACKS = Technique(
    name="two_stacks",
    title="Two stacks",
    first_appeared="folklore; Tangwongsan, Hirzel and Schneider, DEBS 2017",
    ranges="one",
    time="3 per slice, n at worst",
    space="2 n",
    needs=frozenset(),
    omega=Omega("3", lambda load: 3),
    one_range=True,
)

DABA = Technique(
    name="daba",
    title="DABA (de-amortised bankers algorithm)",
    first_appeared="Tangwongsan, Hirzel and Schneider, DEBS 2017",
    ranges="one",
    time="5 per slice, 8 at worst",
    space="2 n",
    needs=frozenset(),
    omega=Omega("5", lambda load: 5),
    one_range=True,
)

B_INT = Technique(
    name="b_int",
    title="B-INT (base intervals)",
    first_appeared="Arasu and Widom, VLDB 2004",
    ranges="any, historical too",
    time="1 per slice, up to 2 log2(n) per answer",
    space="2 n",
    needs=frozenset(),
    omega=Omega("1 + sum of log2(P) - 1", omega.b_int, refined=omega.b_int_refined, by_range=True),
)

PRICED: tuple[Technique, ...] = (SLICKDEQUE_INV, SLICKDEQUE_NONINV, FLATFIT, FLATFAT, B_INT, TWO_STACKS, DABA)
