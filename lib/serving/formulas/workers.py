"""Closed forms of several workers and of a finite queue (chapter 9)."""

from __future__ import annotations

from typing import Any

from .._formula import domain_of, formula, stable
from .._generic import exp, expm1, sqrt


@formula(
    domain=lambda offered_load, staffing_margin: (offered_load >= 0, staffing_margin >= 0),
    latex=r"a + \beta \sqrt{a}",
    source="Halfin and Whitt 1981; Borst et al. 2004",
    chapter=9,
)
def square_root_servers(offered_load: Any, staffing_margin: Any) -> Any:
    """Servers by the square-root rule, as a real number."""
    return offered_load + staffing_margin * sqrt(offered_load)


@formula(
    domain=lambda delay_probability, rate, service_rate, servers: (
        delay_probability >= 0,
        delay_probability <= 1,
        servers >= 1,
        service_rate > 0,
        rate >= 0,
        stable(rate < servers * service_rate),
    ),
    latex=r"\frac{P_{\text{wait}}}{c \mu - \lambda}",
    source="Erlang 1917; Kleinrock 1975, ch. 3",
    chapter=9,
)
def erlang_wait(delay_probability: Any, rate: Any, service_rate: Any, servers: Any) -> Any:
    """Mean wait of an M/M/c queue, from its probability of waiting."""
    return delay_probability / (servers * service_rate - rate)


@formula(
    domain=lambda delay_probability, rate, service_rate, servers, time: (
        delay_probability >= 0,
        delay_probability <= 1,
        servers >= 1,
        service_rate > 0,
        rate >= 0,
        time >= 0,
        stable(rate < servers * service_rate),
    ),
    latex=r"P_{\text{wait}} e^{-(c \mu - \lambda) t}",
    source="Erlang 1917; Kleinrock 1975, ch. 3",
    chapter=9,
)
def erlang_wait_tail(
    delay_probability: Any, rate: Any, service_rate: Any, servers: Any, time: Any
) -> Any:
    """Probability that the wait of an M/M/c queue exceeds a time."""
    return delay_probability * exp(-(servers * service_rate - rate) * time)


@formula(
    domain=lambda delay_probability, rate, service_rate, servers, service_cv: (
        delay_probability >= 0,
        delay_probability <= 1,
        servers >= 1,
        service_rate > 0,
        rate >= 0,
        service_cv >= 0,
        stable(rate < servers * service_rate),
    ),
    latex=r"\frac{1 + c_{\text{svc}}^2}{2} \, E[W_{\text{M/M/c}}]",
    source="Lee and Longton 1959; Allen 1990",
    chapter=9,
)
def allen_cunneen(
    delay_probability: Any, rate: Any, service_rate: Any, servers: Any, service_cv: Any
) -> Any:
    """Mean wait of an M/G/c queue: that of M/M/c, scaled as one server would be."""
    exponential = erlang_wait(delay_probability, rate, service_rate, servers)
    return (1 + service_cv**2) / 2 * exponential


@formula(
    domain=lambda rate, service_rate, servers: (
        servers >= 1,
        service_rate > 0,
        rate > 0,
        stable(rate < servers * service_rate),
    ),
    latex=r"\frac{(c \mu - \lambda) (c - 1) \left(\sqrt{4 + 5 c} - 2\right)}{16 c \lambda}",
    source="Cosmetatos 1975",
    chapter=9,
)
def cosmetatos_excess(rate: Any, service_rate: Any, servers: Any) -> Any:
    """Share by which the wait of M/D/c exceeds half of that of M/M/c, by Cosmetatos."""
    spare = servers * service_rate - rate
    return spare * (servers - 1) * (sqrt(4 + 5 * servers) - 2) / (16 * servers * rate)


@formula(
    domain=lambda delay_probability, rate, service_rate, servers, service_cv: (
        delay_probability >= 0,
        delay_probability <= 1,
        servers >= 1,
        service_rate > 0,
        rate > 0,
        service_cv >= 0,
        # The excess is at most 1: constant service does not make for longer waits.
        (4 + 5 * servers) * ((servers * service_rate - rate) * (servers - 1)) ** 2
        <= (16 * servers * rate + 2 * (servers * service_rate - rate) * (servers - 1)) ** 2,
        stable(rate < servers * service_rate),
    ),
    latex=(
        r"\frac{1 + c_{\text{svc}}^2 + \epsilon \left(1 - c_{\text{svc}}^2\right)}{2}"
        r" \, E[W_{\text{M/M/c}}]"
    ),
    source="Cosmetatos 1976",
    chapter=9,
)
def cosmetatos(
    delay_probability: Any, rate: Any, service_rate: Any, servers: Any, service_cv: Any
) -> Any:
    """Mean wait of an M/G/c queue: between M/M/c and M/D/c along a line."""
    excess, square = cosmetatos_excess(rate, service_rate, servers), service_cv**2
    share = (1 + square + excess * (1 - square)) / 2
    return share * erlang_wait(delay_probability, rate, service_rate, servers)


@formula(
    domain=domain_of(cosmetatos_excess),
    latex=(
        r"\epsilon \left(1 - e^{-\frac{16 c \lambda}"
        r"{(c + 1) \left(\sqrt{4 + 5 c} - 2\right) (c \mu - \lambda)}}\right)"
    ),
    source="Kimura 1991",
    chapter=9,
)
def kimura_excess(rate: Any, service_rate: Any, servers: Any) -> Any:
    """Cosmetatos's excess with a limit at light load: (c - 1) / (c + 1)."""
    root, spare = sqrt(4 + 5 * servers) - 2, servers * service_rate - rate
    bent = -expm1(-16 * servers * rate / ((servers + 1) * root * spare))
    return cosmetatos_excess(rate, service_rate, servers) * bent


@formula(
    domain=lambda delay_probability, rate, service_rate, servers, service_cv: (
        delay_probability >= 0,
        delay_probability <= 1,
        servers >= 1,
        service_rate > 0,
        rate > 0,
        service_cv >= 0,
        stable(rate < servers * service_rate),
    ),
    latex=(
        r"\frac{\left(1 + c_{\text{svc}}^2\right) \left(1 + \epsilon_{\text{K}}\right)}"
        r"{2 \left(1 + c_{\text{svc}}^2 \epsilon_{\text{K}}\right)} \, E[W_{\text{M/M/c}}]"
    ),
    source="Kimura 1986, with the M/D/c of Kimura 1991",
    chapter=9,
)
def kimura(
    delay_probability: Any, rate: Any, service_rate: Any, servers: Any, service_cv: Any
) -> Any:
    """Mean wait of an M/G/c queue: between M/M/c and M/D/c by a harmonic mean."""
    excess, square = kimura_excess(rate, service_rate, servers), service_cv**2
    share = (1 + square) * (1 + excess) / (2 * (1 + square * excess))
    return share * erlang_wait(delay_probability, rate, service_rate, servers)


@formula(
    domain=lambda servers, capacity, service_rate: (
        servers >= 1,
        capacity >= servers,
        service_rate > 0,
    ),
    latex=r"\frac{K - c}{c \mu}",
    source="Kleinrock 1975, ch. 3",
    chapter=9,
)
def last_place_wait(servers: Any, capacity: Any, service_rate: Any) -> Any:
    """Mean wait of the request that takes the last place of a finite queue."""
    return (capacity - servers) / (servers * service_rate)


@formula(
    domain=lambda load: (load >= 1,),
    latex=r"1 - \frac{1}{\rho}",
    source="here, by counting",
    chapter=9,
)
def overload_loss(load: Any) -> Any:
    """Least share of requests that must be lost when more arrive than can be served."""
    return 1 - 1 / load
