"""Section 5.1, sentence by sentence: the networks, the discovery game with its regulariser, what the plots show."""

from __future__ import annotations

from sympy import Integer

from bounds.core.step import eq, ge, le, lt
from bounds.incentfedavg.steps import section_5_runs as runs
from bounds.incentfedavg.steps.notation import (
    Book,
    case,
    integer,
    nonnegative,
    obliged,
    positive,
    real,
    repaired,
)
from bounds.incentfedavg.steps.section_5_text import sentence


def book() -> Book:
    """The steps of Section 5.1."""
    section = Book("Section 5.1", "section 5.1")
    _networks(section)
    _game(section)
    _loss(section)
    _participation(section)
    return section


def _networks(book: Book) -> None:
    sentence(book, 2)
    book.step("MNIST's images have d = 784 pixels: 28 x 28", eq(Integer(28) * 28, 784))
    sentence(book, 4)
    conv, full, matrices = integer("convolutional_layers fully_connected_layers weight_matrices")
    printed = {
        "two convolutional layers": eq(conv, 2),
        "fully connected ones follow": ge(full, 1),
        "two weight matrices are printed (the next sentence)": eq(matrices, 2),
    }
    book.step(
        "the printed matrices X1 and X2 are those of a network with two convolutional and then fully connected"
        " layers: a matrix a layer",
        le(conv + full, matrices),
        printed,
        cases=(case(convolutional_layers=2, fully_connected_layers=1, weight_matrices=2),),
        fails_by=("Section 5.1/2",),
        repair=repaired(
            (
                "they are those of two fully connected layers and no convolution",
                obliged(le(full, matrices), {"two": eq(full, 2), "matrices": eq(matrices, 2)}),
            )
        ),
    )
    sentence(book, 5)
    d, hidden = positive("d M")
    book.step(
        "32 x 32 x 3 = 3072 pixels, d + 1 = 3073 and M + 1 = 129 rows",
        [eq(Integer(32) * 32 * 3, 3072), eq(d + 1, 3073), eq(hidden + 1, 129)],
        {"d": eq(d, 3072), "M": eq(hidden, 128)},
    )
    sentence(book, 7)
    book.check(
        "Assumption 2.1(i) for this loss: a two-layer network's cross-entropy is L-smooth on R^n for some L (one"
        " input, one hidden unit, two classes, tanh)",
        "network smoothness",
        fails_by=("Section 5.1/4",),
    )


def _game(book: Book) -> None:
    sentence(book, 8)
    q = nonnegative("q_11 q_12 q_21 q_22")
    N = nonnegative("N_1 N_2")
    inner = [q[0] * N[0] + q[2] * N[1], q[1] * N[0] + q[3] * N[1]]  # Q'N, two clients and two labels
    payoff = q[0] * inner[0] + q[1] * inner[1]
    sums = (q[0] ** 2 + q[1] ** 2) * N[0] + (q[0] * q[2] + q[1] * q[3]) * N[1]
    book.step("q_i Q'N = sum_j q_i q_j' N_j (two clients, two labels)", eq(payoff, sums))
    p = nonnegative("p_1 p_2")
    weights = {"p_1 = N_1/(N_1 + N_2)": eq(p[0] * (N[0] + N[1]), N[0]), "p_1 + p_2 = 1": eq(p[0] + p[1], 1)}
    book.step(
        "q_i Q'N = sum_j p_i p_j' N_j with the paper's p_i, the weights of Section 2.1",
        eq(payoff, p[0] * (p[0] * N[0] + p[1] * N[1])),
        weights,
        cases=(case(q_11=1, q_12=0, q_21=0, q_22=1, N_1=1, N_2=3, p_1="1/4", p_2="3/4"),),
        fails_by=("Section 5.1/6",),
        repair=repaired(("with q_i q_j' for p_i p_j'", obliged(eq(payoff, sums)))),
    )
    sentence(book, 9)
    d, lam = real("d_1 d_2"), positive("regulariser")[0]
    book.step(
        "regularised with lambda/2 N_i^2 the game is lambda-strongly monotone and lambda-Lipschitz (F"
        " alone is constant), m = 2",
        [
            ge(lam * d[0] ** 2 + lam * d[1] ** 2, lam * (d[0] ** 2 + d[1] ** 2)),
            le((lam * d[0]) ** 2 + (lam * d[1]) ** 2, lam**2 * (d[0] ** 2 + d[1] ** 2)),
        ],
    )
    cost, move, x, own = real("net_slope shift N_i others")
    loss = [cost * y + lam * y**2 / 2 - own for y in (x + move, x, x - move)]
    book.step(
        "Assumption 2.2(i): l_i is convex in N_i for every N_-i (its second difference is lambda shift^2)",
        ge(loss[0] - 2 * loss[1] + loss[2], 0),
    )
    theta, size = nonnegative("theta_i q_i_sq")
    book.step(
        "the regulariser is needed: F_i = theta_i - ||q_i||^2 alone has (F(x) - F(y))'(x - y) = 0, no mu_F > 0",
        eq(((theta - size) - (theta - size)) * d[0], 0),
    )
    book.step(
        "theta_i in [0, ||q_i||^2]: without the regulariser F_i = theta_i - ||q_i||^2 <= 0, so N_i^max is"
        " a best reply",
        le(theta - size, 0),
        {"theta_i <= ||q_i||^2": le(theta, size)},
    )


def _loss(book: Book) -> None:
    sentence(book, 10)
    g, lam = positive("gamma_tilde regulariser")
    x, y, moved, target = real("N_i N_star_i N_i_next step_difference")
    book.step(
        "|N_{i,r+1} - N*_i| <= |1 - gamma_tilde lambda| |N_{i,r} - N*_i|: the projection brings no two points"
        " farther apart, and F is affine",
        le((moved - y) ** 2, (1 - g * lam) ** 2 * (x - y) ** 2),
        {
            "projection": le((moved - y) ** 2, target**2),
            "F_i(N) - F_i(N*) = lambda (N_i - N*_i)": eq(target, (x - y) - g * lam * (x - y)),
        },
        sharp=True,
    )
    sentence(book, 12)
    book.step(
        "so the contributions converge to the equilibrium for every gamma_tilde in (0, 2/lambda):"
        " (1 - gamma_tilde lambda)^2 < 1",
        lt((1 - g * lam) ** 2, 1),
        {"gamma_tilde < 2/lambda": lt(g * lam, 2)},
    )
    sentence(book, 13)
    book.check(
        "larger H accelerates convergence: after the same rounds the loss is lower, H in {1, 5, 10, 20}",
        "digits order",
    )
    sentence(book, 14)
    book.check("H = 1 needs the most rounds to a low loss, H = 20 the fewest", "digits rounds")
    sentence(book, 15)
    book.run(
        "more local computation improves communication efficiency: H = 20 is closer after the same rounds than"
        " H = 1 (as a general law: two quadratics, gamma = 1/(4L))",
        runs.more_local_steps,
        fails_by=("Section 5.1/15",),
    )
    sentence(book, 16)
    book.check("the effect is more noticeable on CIFAR-10 than on MNIST", "cifar effect")


def _participation(book: Book) -> None:
    sentence(book, 17)
    lam = positive("regulariser")[0]
    slope, move, x = real("F_i_at_limit deviation N_star_i")
    slack = real("loss_change")[0]
    book.step(
        "the limit is a Nash equilibrium: no N_i in the interval lowers l_i, stationary points of a convex l_i"
        " being minima",
        ge(slack, 0),
        {
            "l_i is quadratic": eq(slack, slope * move + lam * move**2 / 2),
            "the limit is stationary": ge(slope * move, 0),
        },
    )
    sentence(book, 18)
    theta, size = nonnegative("theta_i q_i_sq")
    book.step(
        "where its own balance of payoff and cost puts it: F_i vanishes at N*_i = (||q_i||^2 - theta_i)/lambda,"
        " clipped to the box, whatever the data and the model do",
        eq(theta - size + lam * x, 0),
        {"N*_i": eq(lam * x, size - theta)},
    )
    sentence(book, 19)
    start, first, g = real("N_i_0")[0], real("N_i_1")[0], positive("gamma_tilde")[0]
    book.run(
        "read as: payoff and cost decide whether a client's contribution decreases or increases",
        runs.either_direction,
        fails_by=("Section 5.1/19",),
        repair=repaired(
            (
                "its start decides as well: it moves towards N*_i, (N_{i,1} - N_{i,0})(N*_i - N_{i,0}) >= 0",
                obliged(
                    ge((first - start) * (x - start), 0),
                    {"the update, in the interior": eq(first - start, g * lam * (x - start))},
                ),
            )
        ),
    )
