"""The statements of the paper on incentive-aware federated averaging."""
