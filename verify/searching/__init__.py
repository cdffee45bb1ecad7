"""The adversarial search: families of instances, the ratio observed/bound, an optimiser, a proof, small numbers."""
