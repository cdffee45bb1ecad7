"""Section 5's figures, one module each: `draw(table)` makes the picture from the numbers that lie beside it.

`python -m verify.experiments.figures.NAME FILE.csv` draws it again, as FILE.png or to --out FILE.png|svg.
"""
