"""Draws the README's figure: `python docs/readme_figure.py` writes docs/theorem-4.9-drift.png."""

from pathlib import Path

from verify.auditing import audit
from verify.instance import load_instance
from verify.page import figures


def main() -> None:
    report = audit([load_instance("theorem-4.9-drift")], only=["Theorem 4.9(i-1)"])
    (figure,) = figures(report).values()
    (Path(__file__).parent / "theorem-4.9-drift.png").write_bytes(figure.png)


if __name__ == "__main__":
    main()
