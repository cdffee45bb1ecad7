"""What the planner answers when there is no plan."""

from __future__ import annotations

from verify.errors import InputError


class NoPlan(ValueError):
    """No choice satisfies the hypotheses and reaches the target.

    Attributes:
        reason: what stands in the way, with both sides.
        remedy: what would have to change.
    """

    def __init__(self, reason: str, remedy: str) -> None:
        self.reason, self.remedy = reason, remedy
        super().__init__(f"{reason}; {remedy}")


__all__ = ["InputError", "NoPlan"]
