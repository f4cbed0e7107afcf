"""Closed forms of waiting in one queue (chapter 4)."""

from __future__ import annotations

from typing import Any

from .._formula import domain_of, formula, stable
from .._generic import almost


@formula(
    domain=lambda load: (load >= 0, stable(load < 1)),
    latex=r"\frac{\rho}{1 - \rho}",
    source="Kleinrock 1975, ch. 3",
    chapter=4,
)
def mm1_number(load: Any) -> Any:
    """Mean number in an M/M/1 queue, the request in service included."""
    return load / (1 - load)


@formula(
    domain=domain_of(mm1_number),
    latex=r"\frac{\rho^2}{1 - \rho}",
    source="Kleinrock 1975, ch. 3",
    chapter=4,
)
def mm1_waiting(load: Any) -> Any:
    """Mean number in an M/M/1 queue that wait, the request in service left out."""
    return load**2 / (1 - load)


@formula(
    domain=lambda rate, service_rate: (
        rate >= 0,
        service_rate > 0,
        stable(rate < service_rate),
    ),
    latex=r"\frac{\lambda}{\mu (\mu - \lambda)}",
    source="Kleinrock 1975, ch. 3",
    chapter=4,
)
def mm1_wait(rate: Any, service_rate: Any) -> Any:
    """Mean wait before service in an M/M/1 queue."""
    return rate / (service_rate * (service_rate - rate))


@formula(
    domain=domain_of(mm1_wait),
    latex=r"\frac{1}{\mu - \lambda}",
    source="Kleinrock 1975, ch. 3",
    chapter=4,
)
def mm1_response(rate: Any, service_rate: Any) -> Any:
    """Mean time from arrival to departure in an M/M/1 queue."""
    return 1 / (service_rate - rate)


@formula(
    domain=lambda rate, service_mean, service_second_moment: (
        rate >= 0,
        service_mean >= 0,
        service_second_moment >= almost(service_mean**2),
        stable(rate * service_mean < 1),
    ),
    latex=r"\frac{\lambda E[T_{\text{svc}}^2]}{2 (1 - \lambda E[T_{\text{svc}}])}",
    source="Pollaczek 1930, Khinchine 1932; Kleinrock 1975, ch. 5",
    chapter=4,
)
def pollaczek_khinchine_wait(rate: Any, service_mean: Any, service_second_moment: Any) -> Any:
    """Mean wait before service in a queue with Poisson arrivals and one server (M/G/1)."""
    return rate * service_second_moment / (2 * (1 - rate * service_mean))


@formula(
    domain=lambda load, service_mean, service_cv: (
        load >= 0,
        service_mean >= 0,
        service_cv >= 0,
        stable(load < 1),
    ),
    latex=(r"\frac{1 + c_{\text{svc}}^2}{2} \cdot \frac{\rho}{1 - \rho} E[T_{\text{svc}}]"),
    source="Harchol-Balter 2013, ch. 23",
    chapter=4,
)
def wait_by_variability(load: Any, service_mean: Any, service_cv: Any) -> Any:
    """Mean wait of an M/G/1 queue by the coefficient of variation of its service time."""
    return (1 + service_cv**2) / 2 * load / (1 - load) * service_mean
