"""Evaluate, enclose and check a bound at constants of your own: `python examples/evaluate_a_bound.py`."""

import numpy as np

import bounds


def main() -> None:
    """Theorem 4.6(i-2) as a float, as a proven enclosure, over many rounds, and its hypotheses with their slack."""
    theorem = bounds.get("Theorem 4.6(i-2)", edition="corrected")
    constants = {"mu_F": 1.0, "L_F": 2.0, "gamma_tilde": 0.25, "dist_0": 3.0, "r_hat": 10}
    print("as a float: ", theorem.evaluate({**constants, "R": 100}))
    print("as a proof: ", theorem.enclose({**constants, "R": 100}))
    print("many rounds:", theorem.evaluate({**constants, "R": np.array([20, 100, 10**12])}))
    for check in theorem.check({**constants, "R": 100}):
        print(
            "hypothesis: ",
            check.name,
            "holds" if check.holds else "does not hold",
            f"(slack {check.slack:.3g})",
        )


if __name__ == "__main__":
    main()
