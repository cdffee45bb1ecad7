"""A second implementation of every statement, written from the paper and not from the code under test.

`REFERENCE[id, edition]` holds the bound, its hypotheses and a random draw of admissible constants.

Names beyond the project's table of scalars: `dist_sol` = dist(N_bar_R, SOL(box, F)) in Lemma 4.4(i-lower),
`d_r` = ||N_r - N*||. Arrays over the steps t = T_r..k-1 of a round (`e_bar`, `grad_f_sq`, `grad_fi_sq_sum`,
`theta_t`, `D_f`) start at the first step of the round.
"""

from __future__ import annotations

from . import a_priori, section_2, section_4, section_4_1, section_4_2, section_4_3, section_6_1, section_6_2
from .base import Reference

ALL: dict[tuple[str, str], Reference] = {
    **section_2.references(),
    **section_4.references(),
    **section_4_1.references(),
    **section_4_2.references(),
    **section_4_3.references(),
    **section_6_1.references(),
    **section_6_2.references(),
    **a_priori.references(),
}

# statements without an id of their own: inequality (18), forms with other constants, start bounds
EXTRA = {
    case: reference
    for case, reference in ALL.items()
    if case[1] == "sharper"
    or case[0] in {"Consensus", "Start gap", "Start distance"}
    or case[0].count(" ") > 1
}
REFERENCE = {case: reference for case, reference in ALL.items() if case not in EXTRA}

__all__ = ["ALL", "EXTRA", "REFERENCE", "Reference"]
