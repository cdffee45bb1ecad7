"""Runs of other implementations: the same verdict from three formats, strays found, bad files ended in one line."""

import io
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_instance import SMALL

import simulate
from verify.auditing import run_seeds
from verify.errors import InputError
from verify.external import load_run
from verify.foreign import adopt, audit_run, trajectory_error
from verify.instance import parse_instance
from verify.report import main
from verify.setup import build
from verify.verdict import Outcome, Rigor

# H = 1, so that the gradients at the round starts are all there are, and a given gamma_tilde
TEXT = SMALL.replace("H = 2", "H = 1\ngamma_tilde = 0.3\nr_hat = 20").replace("R = 300", "R = 80")
INSTANCE = parse_instance(TEXT, "small")
LEAST = float(build(INSTANCE).shared["f_star"].value)


def plain_update(R: int = 80, gamma_tilde: float = 0.3) -> np.ndarray:
    """Algorithm 1, line 10, written anew with Python floats."""
    A, b = [[2.0, 0.5, 0.0], [-0.5, 2.0, 0.0], [0.0, 0.3, 1.5]], [-20.0, -3.0, -90.0]
    low, high, N = [1.0, 5.0, 1.0], [50.0] * 3, [[8.0, 5.0, 48.0]]
    for _ in range(R):
        slope = [sum(a * x for a, x in zip(row, N[-1], strict=True)) + c for row, c in zip(A, b, strict=True)]
        N.append(
            [
                min(max(x - gamma_tilde * s, lo), hi)
                for x, s, lo, hi in zip(N[-1], slope, low, high, strict=True)
            ]
        )
    return np.array(N)


def csv_text(columns: dict[str, np.ndarray], digits: int = 17) -> str:
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(f"{v:.{digits}g}" for v in row) for row in rows)]
    return "\n".join(lines) + "\n"


def columns(N: np.ndarray) -> dict[str, np.ndarray]:
    return {"round": np.arange(len(N)), **{f"N_{i}": N[:, i] for i in range(N.shape[1])}}


def write(folder: Path, kind: str, N: np.ndarray) -> Path:
    path = folder / f"run{kind}"
    if kind == ".csv":
        path.write_text(csv_text(columns(N)), "utf-8")
    elif kind == ".npz":
        np.savez(path, N=N)
    else:
        xr.Dataset({"N": (("round", "client"), N)}).to_netcdf(path, engine="h5netcdf")
    return path


@pytest.mark.parametrize("kind", [".csv", ".npz", ".nc"])
def test_the_three_formats_say_the_same(kind, tmp_path) -> None:
    N = plain_update()
    report = audit_run(INSTANCE, write(tmp_path, kind, N))
    found = {(f.verdict.statement, f.verdict.edition): f.verdict for f in report.findings}
    for statement in ("Lemma 4.3(i)", "Lemma 4.3(ii)", "Theorem 4.6(i-2)"):
        verdict = found[statement, "corrected"]
        assert verdict.outcome is Outcome.HOLDS, verdict
        assert verdict.rigor is Rigor.RIGOROUS
    missing = found["Theorem 4.6(i-1)", "corrected"]
    assert missing.outcome is Outcome.INCONCLUSIVE
    assert "grad_f_sq" in missing.reason
    assert report.audits[0].run["N_error"].values.max() < 1e-12
    assert str(tmp_path) not in json.dumps(report.config)


@pytest.mark.parametrize("kind", [".csv", ".npz"])
def test_another_step_size_is_no_run_of_the_instance(kind, tmp_path) -> None:
    report = audit_run(INSTANCE, write(tmp_path, kind, plain_update(gamma_tilde=0.05)))
    verdicts = {f.verdict.outcome for f in report.findings}
    assert verdicts == {Outcome.HYPOTHESIS_FAILS}
    assert "does not follow" in report.findings[0].verdict.reason
    assert report.stands  # nobody's theorem is slandered by another algorithm's run


def test_a_single_wrong_round_is_found(tmp_path) -> None:
    N = plain_update()
    N[40, 1] += 1e-7
    report = audit_run(INSTANCE, write(tmp_path, ".npz", N))
    assert "N[40, 1]" in report.findings[0].verdict.reason


def test_single_precision_and_few_digits_widen_the_error(tmp_path) -> None:
    N = plain_update()
    single = tmp_path / "single.npz"
    np.savez(single, N=N.astype(np.float32))
    short = tmp_path / "short.csv"
    short.write_text(csv_text(columns(N), digits=6), "utf-8")
    for path, least, most in ((single, 1e-8, 1e-3), (short, 1e-6, 1e-1)):
        report = audit_run(INSTANCE, path)
        error = report.audits[0].run["N_error"].values.max()
        assert least < error < most
        outcome = report.findings[0].verdict.outcome
        assert outcome in (Outcome.HOLDS, Outcome.INCONCLUSIVE)


def test_the_error_bound_covers_the_exact_trajectory() -> None:
    setup = build(INSTANCE)
    rounded = np.round(plain_update(), 4)
    rounded[0] = plain_update()[0]
    error, strays = trajectory_error(setup, rounded, np.full(rounded.shape, 5e-5))
    assert strays == ""
    distance = np.linalg.norm(rounded - plain_update(), axis=1)
    assert np.all(distance <= error + 1e-12)
    assert error.max() < 1e-2


@pytest.fixture(scope="module")
def measured():
    """What a run of our own engine shows at the round starts, as another implementation would log it."""
    setup = build(INSTANCE)
    config = setup.config
    records = tuple(range(config.R + 1))
    run = simulate.run(
        setup.problem, setup.game, replace(config, records=records, horizons=(config.R,)), p_star=setup.p_star
    )
    return setup, run


def test_losses_and_gradients_decide_the_expectations(measured, tmp_path) -> None:
    setup, run = measured
    data = {
        "N": run["N"].values, "loss": run["f"].values, "grad_f_sq": run["grad_f_sq_round"].values,
        "dist_sq": run["dist_sq"].values, "f_avg_p_next": run["f_avg"].sel(average="p_next").values[:, -1],
    }  # fmt: skip
    np.savez(tmp_path / "run.npz", **data)
    report = audit_run(INSTANCE, tmp_path / "run.npz")
    found = {(f.verdict.statement, f.verdict.edition): f.verdict for f in report.findings}
    theorem = found["Theorem 4.6(i-1)", "corrected"]
    assert theorem.outcome in (Outcome.HOLDS, Outcome.VACUOUS), theorem
    counted = run["grad_f_sq_round"].values[0, setup.r_hat : setup.config.R]
    assert theorem.observed == pytest.approx(counted.mean(), rel=1e-12)
    assert found["Theorem 4.9(i-1)", "corrected"].outcome in (Outcome.HOLDS, Outcome.VACUOUS)
    printed = found["Theorem 4.9(i-1)", "printed"]
    assert printed.outcome is Outcome.INCONCLUSIVE
    assert "f_avg_p_now" in printed.reason
    assert (theorem.rigor, "file's word" in theorem.reason) == (Rigor.INDICATIVE, True)
    assert found["Theorem 4.6(i-2)", "corrected"].rigor is Rigor.RIGOROUS  # N was recomputed
    # a run whose model flees after round r_hat, as no gradient step could: each round is possible by itself
    late = np.where(np.arange(81) > setup.r_hat, np.linspace(1, 1e8, 81), 0.0)
    fled = {"grad_f_sq": data["grad_f_sq"] + late, "loss": data["loss"] + late, "dist_sq": data["dist_sq"]}
    fled["dist_sq"] = fled["dist_sq"] + 4 * late
    np.savez(tmp_path / "wrong.npz", **(data | fled))
    wrong = audit_run(INSTANCE, tmp_path / "wrong.npz", only=["Theorem 4.6(i-1)"]).findings[1].verdict
    assert (wrong.outcome, wrong.rigor) == (Outcome.VIOLATED, Rigor.INDICATIVE)
    data["loss"] = data["loss"] + 1.0
    np.savez(tmp_path / "other.npz", **data)
    with pytest.raises(InputError, match="loss at round 0"):
        audit_run(INSTANCE, tmp_path / "other.npz")


def test_a_csv_file_carries_the_averaged_iterate(measured, tmp_path) -> None:
    """On the row of the last round, with the rows before it empty or repeating it: what npz says."""
    _, run = measured
    finals = {f"f_avg_{a}": run["f_avg"].sel(average=a).values[:1, -1] for a in ("p_now", "p_next")}
    logged = {"loss": run["f"].values[0], "dist_sq": run["dist_sq"].values[0]}
    np.savez(tmp_path / "run.npz", N=run["N"].values, **logged, **finals)
    lines = csv_text(columns(run["N"].values) | logged).splitlines()
    blank, full = (",,", "".join(f",{v[0]:.17g}" for v in finals.values()))
    head = f"{lines[0]},{','.join(finals)}"
    only = ["Theorem 4.9(i-1)"]
    npz = [f.verdict for f in audit_run(INSTANCE, tmp_path / "run.npz", only=only).findings]
    assert [v.observed is not None for v in npz] == [True] * 3, npz[0].reason
    for rows in ([blank] * 80 + [full], [full] * 81):
        text = "\n".join([head, *(a + b for a, b in zip(lines[1:], rows, strict=True))]) + "\n"
        (tmp_path / "run.csv").write_text(text, "utf-8")
        csv = [f.verdict for f in audit_run(INSTANCE, tmp_path / "run.csv", only=only).findings]
        assert [(v.outcome, v.observed) for v in csv] == [(v.outcome, v.observed) for v in npz]
    for rows, said in (([blank] * 81, "last round"), ([",1.0,1.0"] * 80 + [full], "changes")):
        text = "\n".join([head, *(a + b for a, b in zip(lines[1:], rows, strict=True))]) + "\n"
        (tmp_path / "run.csv").write_text(text, "utf-8")
        with pytest.raises(InputError, match=said):
            load_run(tmp_path / "run.csv")


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("loss", lambda v: np.where(np.arange(81) == 40, -5.0, v), "loss = -5 at round 40"),
        ("f_avg_p_next", lambda v: v - 5.0, "f_avg_p_next = "),
        ("grad_f_sq", lambda v: np.where(np.arange(81) == 30, 1e4, v), "grad_f_sq = 10000 at round 30"),
        ("dist_sq", lambda v: np.where(np.arange(81) == 7, v / 50, v), "L^2 dist_sq"),
        ("loss", lambda v: np.where(np.arange(81) == 3, LEAST, v), "2 L \\(loss"),
    ],
)
def test_what_no_point_can_show_is_refused(name, change, words, measured, tmp_path) -> None:
    _, run = measured
    data = {
        "N": run["N"].values, "loss": run["f"].values, "grad_f_sq": run["grad_f_sq_round"].values,
        "dist_sq": run["dist_sq"].values, "f_avg_p_next": run["f_avg"].sel(average="p_next").values[:, -1],
    }  # fmt: skip
    path = tmp_path / "run.npz"
    np.savez(path, **data)
    adopt(INSTANCE, load_run(path), "run.npz")
    np.savez(path, **(data | {name: change(data[name])}))
    with pytest.raises(InputError, match=words.replace("L^2", "L\\^2")):
        adopt(INSTANCE, load_run(path), "run.npz")


def test_what_is_missing_is_named_as_the_file_would(tmp_path) -> None:
    report = audit_run(INSTANCE, write(tmp_path, ".npz", plain_update()), only=["Theorem 4.9(i-1)"])
    reasons = [f.verdict.reason for f in report.findings]
    assert any("'f_avg_p_next'" in reason for reason in reasons)
    assert not any("No variable" in reason for reason in reasons)


def test_gradients_at_round_starts_are_not_all_steps(measured, tmp_path) -> None:
    _, run = measured
    two = parse_instance(TEXT.replace("H = 1", "H = 2"), "small")
    np.savez(
        tmp_path / "run.npz", N=run["N"].values, grad_f_sq=run["grad_f_sq_round"].values, loss=run["f"].values
    )
    report = audit_run(two, tmp_path / "run.npz", only=["Theorem 4.6(i-1)"])
    assert report.findings[1].verdict.outcome is Outcome.INCONCLUSIVE


def test_our_own_run_file_is_checked_whole(tmp_path) -> None:
    text = TEXT.replace("H = 1", "H = 2")
    setup = build(parse_instance(text, "small"))
    simulate.save(run_seeds(setup, 1, lambda *_: None), tmp_path / "own.nc")
    report = audit_run(parse_instance(text, "small"), tmp_path / "own.nc")
    outcomes = {f.verdict.outcome for f in report.findings}
    assert outcomes <= {Outcome.HOLDS, Outcome.VACUOUS}
    with pytest.raises(InputError, match="R = 80"):
        audit_run(parse_instance(text.replace("R = 80", "R = 81"), "small"), tmp_path / "own.nc")
    other = parse_instance(text.replace("centre = [[1.0", "centre = [[1.5"), "small")
    with pytest.raises(InputError, match="another problem"):
        audit_run(other, tmp_path / "own.nc")


def test_the_command_checks_a_file(tmp_path, capsys) -> None:
    (tmp_path / "small.toml").write_text(TEXT, "utf-8")
    path = write(tmp_path, ".csv", plain_update())
    arguments = [
        "--instance",
        str(tmp_path / "small.toml"),
        "--run",
        str(path),
        "--out",
        str(tmp_path / "out"),
    ]
    assert main([*arguments, "--only", "Lemma 4.3(i)"]) == 0
    assert "No statement is violated" in capsys.readouterr().out
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert report["config"]["instances"][0]["run"]["rounds"] == 80
    with pytest.raises(InputError, match="the one instance"):
        main(["--run", str(path), "--out", str(tmp_path / "two")])


# Bad files ------------------------------------------------------------------------------------

GOOD = plain_update(6)


@cache
def bad_files() -> dict[str, bytes]:
    def packed(**arrays) -> bytes:
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        return buffer.getvalue()

    text = csv_text(columns(GOOD))
    pickled = io.BytesIO()
    np.savez(pickled, N=np.array([{"a": 1}], dtype=object))
    bomb = bytearray(packed(N=GOOD))
    at = bomb.rindex(b"PK\x01\x02")  # the directory's entry: byte 24 on is the unpacked size
    bomb[at + 24 : at + 28] = (1 << 30).to_bytes(4, "little")
    return {
        "empty.csv": b"",
        "header.csv": b"round,N_0\n",
        "binary.csv": bytes(range(256)),
        "noround.csv": text.replace("round", "N_7", 1).encode(),
        "gap.csv": text.replace("\n3,", "\n9,", 1).encode(),
        "words.csv": text.replace("\n2,", "\n2,x", 1).encode(),
        "nan.csv": text.replace("\n2,8.", "\n2,nan8.", 1).replace("48", "nan", 1).encode(),
        "infinite.csv": text.replace("48", "1e999", 1).encode(),
        "extra.csv": text.replace("N_2", "M_2", 1).encode(),
        "twice.csv": text.replace("N_2", "N_1", 1).encode(),
        "ragged.csv": (text + "1,2\n").encode(),
        "clients.csv": csv_text(columns(GOOD[:, :2])).encode(),
        "box.csv": csv_text(columns(GOOD + 10.0)).encode(),
        "quote.csv": (text + '"').encode(),
        "pickled.npz": pickled.getvalue(),
        "bomb.npz": bytes(bomb),
        "cut.npz": packed(N=GOOD)[:-40],
        "flat.npz": packed(N=GOOD.ravel()),
        "complex.npz": packed(N=GOOD * 1j),
        "words.npz": packed(N=np.array([["a", "b"]])),
        "nothing.npz": packed(loss=np.zeros(3)),
        "losses.npz": packed(N=GOOD, loss=np.zeros(3)),
        "seeds.npz": packed(N=GOOD, loss=np.ones((2, 7)), grad_f_sq=np.ones((3, 7))),
        "negative.npz": packed(N=GOOD, grad_f_sq=-np.ones(7)),
        "apart.npz": packed(N=np.stack([GOOD, GOOD + 0.1])),
        "one.npz": packed(N=GOOD[:1]),
        "none.npz": packed(N=np.zeros((0, 3))),
        "short.nc": b"\x89HDF\r\n\x1a\n",
        "text.nc": b"hello",
        "kind.xyz": b"hello",
    }


@pytest.mark.parametrize("name", sorted(bad_files()))
def test_a_bad_file_ends_in_one_line(name, tmp_path) -> None:
    path = tmp_path / name
    path.write_bytes(bad_files()[name])
    with pytest.raises(InputError) as error:
        adopt(INSTANCE, load_run(path), name)
    message = str(error.value)
    assert name in message
    assert "\n" not in message
    assert len(message) < 400


def test_hostile_netcdf_is_refused(tmp_path) -> None:
    with h5py.File(tmp_path / "outside.nc", "w") as file:
        file["N"] = h5py.ExternalLink("/etc/hostname", "N")
    with pytest.raises(InputError, match="link"):
        load_run(tmp_path / "outside.nc")
    with pytest.raises(InputError, match="no such file"):
        load_run(tmp_path / "absent.npz")
    (tmp_path / "folder.nc").mkdir()
    with pytest.raises(InputError, match="no such file"):
        load_run(tmp_path / "folder.nc")


def seeds_of_fuzz(tmp: Path) -> list[bytes]:
    return [write(tmp, kind, GOOD).read_bytes() for kind in (".csv", ".npz", ".nc")]


def fuzz(data, folder: Path, originals: list[bytes]) -> None:
    """A damaged copy of a good file: a result, or one clear line."""
    which = data.draw(st.integers(0, 2))
    content = bytearray(originals[which])
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(content) - 1))
        how = data.draw(st.sampled_from(("set", "cut", "insert", "repeat")))
        if how == "set":
            content[at] = data.draw(st.integers(0, 255))
        elif how == "cut":
            content = content[: max(at, 1)]
        elif how == "insert":
            content[at:at] = data.draw(
                st.sampled_from((b",", b"\n", b"nan", b"-", b"1e400", b"\x00", b'"', b"9" * 30))
            )
        else:
            content += content[at : at + 50]
    path = folder / f"fuzz{('.csv', '.npz', '.nc')[which]}"
    path.write_bytes(bytes(content))
    try:
        file = load_run(path)
    except InputError as error:
        line = str(error)
    else:
        line = ""
        assert np.all(np.isfinite(file.N))
        assert file.N.shape[0] >= 2
        assert np.all(file.unit >= 0)
    assert "\n" not in line


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    return folder, seeds_of_fuzz(folder)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_thirty_damaged_files(data, originals) -> None:
    fuzz(data, *originals)


@pytest.mark.slow
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_two_hundred_damaged_files(data, originals) -> None:
    fuzz(data, *originals)
