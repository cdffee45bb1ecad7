"""Section 5, sentence by sentence: which of its sentences make a claim, and why the others make none.

Sentences are counted in the order of the text, captions and definitions included. A sentence with an empty reason
has steps in the ledger (their source names it); a sentence with a reason has none. The gist is ours, not a quotation.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from bounds.incentfedavg.steps.notation import Book

SETTING = "a setting: it says what was done, not what is true"
POINTER = "it points to a figure"


@dataclass(frozen=True)
class Sentence:
    """One sentence of Section 5: its gist, and why it has no step ("" where it has)."""

    gist: str
    reason: str = ""


_5_1 = (
    Sentence(
        "IncentFedAvg is implemented on MNIST and CIFAR-10 and is effective in practice",
        "no measure is named",
    ),
    Sentence("MNIST: a two-layer network, input dimension d = 784, C = 10 classes"),
    Sentence(
        "X1 is M x (d+1), X2 is C x (M+1), initialised with factors optimised for gamma",
        "a setting; neither M, gamma nor the factors are printed",
    ),
    Sentence("CIFAR-10: two convolutional layers followed by fully connected ones"),
    Sentence("the images are flattened to d = 3072, so X1 is 3073 x 128 and X2 is 129 x 10"),
    Sentence("random initial values, gamma = 0.005", SETTING),
    Sentence("the local loss is the cross-entropy of the softmax output"),
    Sentence("payoff a_i = q_i Q'N = sum_j p_i p_j' N_j, cost theta_i N_i (cf. Section 4)"),
    Sentence("theta_i in [0, ||q_i||^2], and a regulariser 1e-5 ensures strong monotonicity"),
    Sentence("caption of Figure 1: loss for each H, contributions towards the equilibrium"),
    Sentence("Figures 1 and 2 present the results", POINTER),
    Sentence("left: loss against rounds; right: N_{i,r}, which converges to the equilibrium"),
    Sentence("larger H accelerates convergence"),
    Sentence("H = 1 is the slowest, H = 20 reaches low losses in fewer rounds"),
    Sentence("a standard trade-off: more local computation improves communication efficiency"),
    Sentence("the effect is particularly noticeable on CIFAR-10"),
    Sentence("contributions converge to stable values: a sustainable Nash equilibrium"),
    Sentence("clients with heterogeneous utilities settle at their contribution levels"),
    Sentence("some clients have decreased or increased, which highlights payoff against cost"),
)

_5_2 = (
    Sentence("the game admits a set of equilibria, and h identifies a unique target"),
    Sentence("payoff and cost as before, the regulariser dropped, so that F is merely monotone"),
    Sentence("h is strictly convex, rewards participation and selects the welfare-improving equilibrium"),
    Sentence("a = 0.5 and b = 0.25 meet the rate conditions of Lemma 4.4"),
    Sentence("m = 5 and the upper bounds", SETTING),
    Sentence("Figure 3 (left) reports the trajectories on MNIST", POINTER),
    Sentence("clients 0, 2, 4 reach their upper bounds within roughly 1000 rounds, 1 and 3 go to zero"),
    Sentence("who gains from discovery goes to the maximum, who pays more than that exits"),
    Sentence("a new effect, absent under strong monotonicity: the same equilibrium across runs"),
    Sentence("the aggregate stabilises at 46,000 and matches the welfare-selected equilibrium"),
)

_5_3 = (
    Sentence("a stress test where contributions are unambiguously competitive", "a motive"),
    Sentence(
        "Definition 5.1: every cost is the sum of the others' payoffs, so that l_i = sum_{j != i} a_j - a_i"
    ),
    Sentence("zero-sum in the standard sense for m = 2; for m >= 3 one's payoff is every other's cost"),
    Sentence(
        "the loss of neural models scales as alpha times (data)^-beta", "a citation; (15) takes it over"
    ),
    Sentence("the resulting accuracy, the payoff, is 1 - alpha_i ||N||_1^-beta_i"),
    Sentence("it is nonnegative and nondecreasing, and each further data point helps less"),
    Sentence("alpha_i and beta_i are drawn, the upper bounds are those of Section 5.2"),
    Sentence("the partial derivative of l_i"),
    Sentence("its sign partitions the clients into two groups"),
    Sentence("who dominates the sum of the others reaches its maximum, the rest the lower bound"),
    Sentence("Figure 4 reports losses and trajectories on MNIST", POINTER),
    Sentence("the predicted partition is visible in the right plot", POINTER),
    Sentence("clients 0 and 4, which dominate, reach their upper bounds; 1, 2, 3 exit at zero"),
    Sentence("the decay is monotone, since the boundary becomes absorbing"),
    Sentence("in all three games the limit is determined by incentives, not by initialisation"),
    Sentence(
        "strongly monotone: an interior equilibrium; welfare selection: the high capacities' sum; zero-sum: dominance"
    ),
    Sentence(
        "participation settles within an order of magnitude of the model's rounds: compatible time scales"
    ),
)

SENTENCES = MappingProxyType({"Section 5.1": _5_1, "Section 5.2": _5_2, "Section 5.3": _5_3})


def sentence(book: Book, number: int) -> None:
    """The steps written next belong to this sentence.

    Raises:
        ValueError: for a number that the section does not have, or a sentence that is said to have no step.
    """
    text = SENTENCES[book.statement]
    if not 1 <= number <= len(text) or text[number - 1].reason:
        raise ValueError(f"{book.statement}, sentence {number}: not a sentence with steps")
    book.source = f"section {book.statement.removeprefix('Section ')}, sentence {number}"
