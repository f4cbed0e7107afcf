"""Closed forms of a fleet: routing, scaling, copies, and who goes first (chapter 19)."""

from __future__ import annotations

from typing import Any

from .._formula import formula, stable
from .._generic import exp, expm1, log, log1p
from .workers import square_root_servers


@formula(
    domain=lambda load, depth: (load > 0, depth >= 0, depth <= 14, stable(load < 1)),
    latex=r"\rho^{2^{n_{\text{rep}}} - 1}",
    source="Vvedenskaya, Dobrushin and Karpelevich 1996; Mitzenmacher 2001",
    chapter=19,
)
def two_choices_tail(load: Any, depth: Any) -> Any:
    """Share of the replicas of a large fleet with so many requests or more."""
    # Deeper queues than in the domain are next to impossible at any load but the closest to one.
    two = 2 + 0 * depth  # of the kind of the argument, for its logarithm
    return exp(expm1(depth * log(two)) * log1p(load - 1))


@formula(
    domain=lambda delay_probability, servers: (
        delay_probability > 0,
        delay_probability < 1,
        servers >= 1,
    ),
    latex=(
        r"\frac{P_{\text{wait}}^{1 / c} \left(1 - P_{\text{wait}}\right)}"
        r"{c \left(1 - P_{\text{wait}}^{1 / c}\right)}"
    ),
    source="Kleinrock 1975, ch. 6",
    chapter=19,
)
def round_robin_load(delay_probability: Any, servers: Any) -> Any:
    """Load at which so large a share waits if replicas take exponential requests in turn."""
    root = log1p(delay_probability - 1) / servers
    return exp(root) * (1 - delay_probability) / (-servers * expm1(root))


@formula(
    domain=lambda delay_probability, service_rate: (
        delay_probability >= 0,
        delay_probability < 1,
        service_rate > 0,
    ),
    latex=r"\frac{P_{\text{wait}}}{\mu \left(1 - P_{\text{wait}}\right)}",
    source="Kleinrock 1975, ch. 6",
    chapter=19,
)
def round_robin_wait(delay_probability: Any, service_rate: Any) -> Any:
    """Mean wait at one exponential server under renewal arrivals, by the share that waits."""
    return delay_probability / (service_rate * (1 - delay_probability))


@formula(
    domain=lambda rate_growth, scaling_delay, headroom: (
        rate_growth > 0,
        headroom >= 0,
        headroom <= rate_growth * scaling_delay,
    ),
    latex=r"\frac{\left(g_{\lambda} T_{\text{up}} - h_{\text{free}}\right)^2}{2 g_{\lambda}}",
    source="here, by integration; Newell 1982, ch. 2",
    chapter=19,
)
def growth_backlog(rate_growth: Any, scaling_delay: Any, headroom: Any) -> Any:
    """Requests that wait when new capacity comes, if the load has grown steadily until then."""
    return (rate_growth * scaling_delay - headroom) ** 2 / (2 * rate_growth)


@formula(
    domain=lambda backlog, rate, service_rate, servers: (
        backlog >= 0,
        rate >= 0,
        service_rate > 0,
        servers >= 1,
        stable(rate < servers * service_rate),
    ),
    latex=r"\frac{Q_0}{c \mu - \lambda}",
    source="here, by counting; Newell 1982, ch. 2",
    chapter=19,
)
def drain_time(backlog: Any, rate: Any, service_rate: Any, servers: Any) -> Any:
    """Time until nobody waits any more, if what is to spare works off a backlog."""
    return backlog / (servers * service_rate - rate)


@formula(
    domain=lambda offered_load, rate_growth, service_mean, scaling_delay, staffing_margin: (
        offered_load >= 0,
        rate_growth >= 0,
        service_mean >= 0,
        scaling_delay >= 0,
        staffing_margin >= 0,
    ),
    latex=(
        r"a + g_{\lambda} T_{\text{up}} E[T_{\text{svc}}]"
        r" + \beta \sqrt{a + g_{\lambda} T_{\text{up}} E[T_{\text{svc}}]}"
    ),
    source="here; Halfin and Whitt 1981 for the root",
    chapter=19,
)
def scaling_servers(
    offered_load: Any, rate_growth: Any, service_mean: Any, scaling_delay: Any, staffing_margin: Any
) -> Any:
    """Servers that bear a growing load until those ordered now are up, as a real number."""
    return square_root_servers(
        offered_load + rate_growth * scaling_delay * service_mean, staffing_margin
    )


@formula(
    domain=lambda rate, rate_growth: (rate > 0, rate_growth > 0),
    latex=r"\lambda^{2 / 3} g_{\lambda}^{-1 / 3}",
    source="Newell 1968",
    chapter=19,
)
def saturation_backlog(rate: Any, rate_growth: Any) -> Any:
    """Size of the backlog that chance makes while a growing load passes the capacity."""
    return exp((2 * log(rate) - log(rate_growth)) / 3)


@formula(
    domain=lambda rate, service_rate, hedge_share: (
        rate >= 0,
        service_rate > 0,
        hedge_share >= 0,
        hedge_share <= 1,
        stable(rate * (1 + hedge_share) < service_rate),
    ),
    latex=(r"\frac{1 - p_{\text{copy}} / 2}{\mu - \lambda \left(1 + p_{\text{copy}}\right)}"),
    source="here; Vulimiri et al. 2013 for copies of everything",
    chapter=19,
)
def hedged_response(rate: Any, service_rate: Any, hedge_share: Any) -> Any:
    """Mean response if the slowest share of requests is sent to a second replica as well."""
    return (1 - hedge_share / 2) / (service_rate - rate * (1 + hedge_share))


@formula(
    domain=lambda rate, service_rate, hedge_share, late_share: (
        rate >= 0,
        service_rate > 0,
        hedge_share <= 1,
        late_share > 0,
        late_share <= hedge_share,
        stable(rate * (1 + hedge_share) < service_rate),
    ),
    latex=(
        r"\frac{-\ln p_{\text{late}} - \ln p_{\text{copy}}}"
        r"{2 \left(\mu - \lambda \left(1 + p_{\text{copy}}\right)\right)}"
    ),
    source="here",
    chapter=19,
)
def hedged_quantile(rate: Any, service_rate: Any, hedge_share: Any, late_share: Any) -> Any:
    """Response that so small a share exceeds if a larger share is sent a second time."""
    spare = service_rate - rate * (1 + hedge_share)
    return -(log1p(late_share - 1) + log1p(hedge_share - 1)) / (2 * spare)


@formula(
    domain=lambda hedge_share, late_share: (
        hedge_share <= 1,
        late_share > 0,
        late_share < 1,
        late_share <= hedge_share,
    ),
    latex=(
        r"\frac{\ln \left(p_{\text{copy}} / p_{\text{late}}\right)}"
        r"{\ln \left(p_{\text{copy}} / p_{\text{late}}\right)"
        r" - 2 p_{\text{copy}} \ln p_{\text{late}}}"
    ),
    source="here",
    chapter=19,
)
def hedge_break_even(hedge_share: Any, late_share: Any) -> Any:
    """Load up to which copies of the slowest share shorten a quantile of the response."""
    gain = log1p((hedge_share - late_share) / late_share)
    return gain / (gain - 2 * hedge_share * log1p(late_share - 1))


@formula(
    domain=lambda work_in_service, load_before, load_through: (
        work_in_service >= 0,
        load_before >= 0,
        load_before <= load_through,
        stable(load_through < 1),
    ),
    latex=(
        r"\frac{E[R]}{\left(1 - \rho_{\text{before}}\right)"
        r" \left(1 - \rho_{\text{through}}\right)}"
    ),
    source="Cobham 1954; Kleinrock 1976, ch. 3",
    chapter=19,
)
def priority_wait(work_in_service: Any, load_before: Any, load_through: Any) -> Any:
    """Mean wait of a class of requests that lets the more urgent ones go first."""
    return work_in_service / ((1 - load_before) * (1 - load_through))


@formula(
    domain=lambda service_mean, work_in_service, load_before, load_through: (
        service_mean >= 0,
        work_in_service >= 0,
        load_before >= 0,
        load_before <= load_through,
        stable(load_through < 1),
    ),
    latex=(
        r"\frac{E[T_{\text{svc}}]}{1 - \rho_{\text{before}}} + \frac{E[R]}"
        r"{\left(1 - \rho_{\text{before}}\right) \left(1 - \rho_{\text{through}}\right)}"
    ),
    source="White and Christie 1958; Kleinrock 1976, ch. 3",
    chapter=19,
)
def preemptive_response(
    service_mean: Any, work_in_service: Any, load_before: Any, load_through: Any
) -> Any:
    """Mean response of a class of requests that the more urgent ones interrupt."""
    waiting = priority_wait(work_in_service, load_before, load_through)
    return service_mean / (1 - load_before) + waiting
