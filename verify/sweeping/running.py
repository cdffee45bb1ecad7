"""From a grid to a store that holds a result, or an error, for each of its points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from simulate.parallel import Failed, Workers, results
from verify.auditing import ALPHA, Progress
from verify.errors import InputError
from verify.sweeping.engine import engine_version
from verify.sweeping.points import Grid, Point
from verify.sweeping.share import WHOLE, Share
from verify.sweeping.store import Store
from verify.sweeping.work import Error, Unit, audit_unit, compute, level_of, plan_unit

Place = tuple[int, bool]  # a point's index, and whether its plans are meant
Block = tuple[Place, ...]
BLOCK = 8  # units a task: their results, and the work that a kill loses, are that of seconds


@dataclass(eq=False)
class Progressed:
    """What a run of the sweep did.

    Attributes:
        errors: by unit's key, why it has no result.
        computed, found, bytes: units computed now, units found in the store, bytes that the new ones take.
    """

    errors: dict[str, str] = field(default_factory=dict)
    computed: int = 0
    found: int = 0
    bytes: int = 0

    @property
    def done(self) -> int:
        """Units that are finished, one way or the other."""
        return self.computed + len(self.errors)


def level(grid: Grid) -> float:
    """The level of each statistical verdict of a grid."""
    return level_of(ALPHA, len(grid) * len(grid.pairs))


def unit_of(point: Point, each: float, planning: bool) -> Unit | None:
    """A point's audit, or its plans (None without a target)."""
    if not planning:
        return audit_unit(point.instance, each)
    return None if point.epsilon is None else plan_unit(point.instance, point.epsilon)


@dataclass(frozen=True)
class Run:
    """A sweep's run: what it is of, where it computes, where results go."""

    grid: Grid
    store: Store
    workers: Workers
    tell: Progress
    share: Share = WHOLE
    block: int = BLOCK

    def __call__(self) -> Progressed:
        """Computes what the store lacks, and keeps it as it comes in.

        Raises:
            WorkersLost: if what runs the tasks is gone; what is in the store stays.
            InputError: for a point that is no instance (before anything is computed).
        """
        progressed = Progressed()
        places = self._missing(progressed)
        self.tell(_WHAT, 0, len(places))
        blocks = [tuple(places[i : i + self.block]) for i in range(0, len(places), self.block)]
        lost = [place for block, _ in self._through(blocks, progressed, len(places)) for place in block]
        # A block that its worker did not survive is tried again place by place: one of them may be what killed it.
        for (place,), error in self._through([(place,) for place in lost], progressed, len(places)):
            progressed.errors[self._unit(place).key] = error
            self.tell(_WHAT, progressed.done, len(places))
        return progressed

    def _missing(self, progressed: Progressed) -> list[Place]:
        each, count = level(self.grid), len(self.grid)
        seen: set[str] = set()
        places: list[Place] = []
        for point in self.grid.points():
            self.tell("reading the grid", point.index, count)
            for planning in (False, True):
                unit = unit_of(point, each, planning)
                if unit is None or unit.key in seen:
                    continue
                seen.add(unit.key)
                if unit.key in self.store:
                    progressed.found += 1
                elif self.share.takes(point.index):
                    places.append((point.index, planning))
        return places

    def _unit(self, place: Place) -> Unit:
        index, planning = place
        unit = unit_of(self.grid.point(index), level(self.grid), planning)
        assert unit is not None
        return unit

    def _through(
        self, blocks: Sequence[Block], progressed: Progressed, total: int
    ) -> Iterator[tuple[Block, str]]:
        """Computes blocks; those that failed as a whole, each with its error."""
        shared = engine_version(), level(self.grid)
        tasks = ((block, tuple(self._unit(place) for place in block)) for block in blocks)
        for block, found in results(compute, shared, tasks, self.workers):
            if isinstance(found, Failed):
                if isinstance(found.cause, InputError):
                    raise found.cause
                yield block, found.error
                continue
            for key, value in found:
                if isinstance(value, Error):
                    progressed.errors[key] = value.text
                else:
                    progressed.computed += 1
                    progressed.bytes += self.store.add(key, value)
            self.tell(_WHAT, progressed.done, total)


_WHAT = "auditing instances"
