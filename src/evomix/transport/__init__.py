"""Optimal transport: exact flows of least cost between weighted points, with certificates.

``Transport`` is the solver over given arcs; ``PointTransport`` finds the arcs that matter among all pairs of points;
``wasserstein_cost`` moves one weighted set onto another.
"""

from evomix.transport.network_simplex import Transport
from evomix.transport.points import PointTransport
from evomix.transport.wasserstein import wasserstein_cost

__all__ = ["PointTransport", "Transport", "wasserstein_cost"]
