"""The closed forms of the book, each written once.

Every function is unchecked algebra on numbers, arrays and SymPy symbols. `value` gives a checked
number and `curve` an array for drawing; equations, tables and proofs all start from here.
"""

from __future__ import annotations

from typing import Any

from ._formula import REGISTRY, Formula, curve, formula, stable, value
from ._generic import almost, exp, sqrt

__all__ = ["REGISTRY", "Formula", "curve", "formula", "stable", "value"]


@formula(
    domain=lambda arrival_rate, response_time: (arrival_rate >= 0, response_time >= 0),
    latex=r"\lambda_{\text{arr}} T_{\text{lat}}",
    source="Little 1961",
    chapter=1,
)
def requests_in_system(arrival_rate: Any, response_time: Any) -> Any:
    """Mean number of requests in a system, by Little's law."""
    return arrival_rate * response_time


@formula(
    domain=lambda arrival_rate, time: (arrival_rate >= 0, time >= 0),
    latex=r"e^{-\lambda_{\text{arr}} t}",
    source="Kingman 1993, ch. 4",
    chapter=1,
)
def quiet_probability(arrival_rate: Any, time: Any) -> Any:
    """Probability that a Poisson process brings nobody in an interval."""
    return exp(-arrival_rate * time)


@formula(
    domain=lambda batch, t_fixed, t_req: (batch >= 1, t_fixed >= 0, t_req >= 0),
    latex=r"T_{\text{fixed}} + t_{\text{req}} B",
    source="Reddi et al., Inference Foundations, section on queueing",
    chapter=2,
)
def batch_time(batch: Any, t_fixed: Any, t_req: Any) -> Any:
    """Time one batch takes under the linear model."""
    return t_fixed + t_req * batch


@formula(
    domain=lambda batch, t_fixed, t_req: (
        batch >= 1,
        t_fixed >= 0,
        t_req >= 0,
        t_fixed + t_req > 0,
    ),
    latex=r"\frac{B}{T_{\text{fixed}} + t_{\text{req}} B}",
    source="Reddi et al., Inference Foundations, section on queueing",
    chapter=2,
)
def effective_rate(batch: Any, t_fixed: Any, t_req: Any) -> Any:
    """Requests a server that never idles completes in a second."""
    return batch / batch_time(batch, t_fixed, t_req)


@formula(
    domain=lambda t_req: (t_req > 0,),
    latex=r"\frac{1}{t_{\text{req}}}",
    source="Reddi et al., Inference Foundations, section on queueing",
    chapter=2,
)
def rate_limit(t_req: Any) -> Any:
    """Service rate that no batch size reaches."""
    return 1 / t_req


@formula(
    domain=lambda t_fixed, t_req: (t_fixed >= 0, t_req > 0),
    latex=r"\frac{T_{\text{fixed}}}{t_{\text{req}}}",
    source="here",
    chapter=2,
)
def half_rate_batch(t_fixed: Any, t_req: Any) -> Any:
    """Batch size whose service rate is half the limit."""
    return t_fixed / t_req


@formula(
    domain=lambda n_parameters, element_bytes: (n_parameters > 0, element_bytes > 0),
    latex=r"N_{\text{par}} s_{\text{elem}}",
    source="Reddi et al., Inference Foundations, section on the KV cache",
    chapter=2,
)
def weight_bytes(n_parameters: Any, element_bytes: Any) -> Any:
    """Storage of a model's weights."""
    return n_parameters * element_bytes


@formula(
    domain=lambda n_parameters, element_bytes, devices, bandwidth: (
        n_parameters > 0,
        element_bytes > 0,
        devices >= 1,
        bandwidth > 0,
    ),
    latex=r"\frac{N_{\text{par}} s_{\text{elem}}}{N_{\text{dev}} \beta_{\text{mem}}}",
    source="Pope et al. 2023, section 2",
    chapter=2,
)
def weight_read_time(n_parameters: Any, element_bytes: Any, devices: Any, bandwidth: Any) -> Any:
    """Time in which every weight crosses the memory bus once, split over all devices."""
    return weight_bytes(n_parameters, element_bytes) / (devices * bandwidth)


@formula(
    domain=lambda arrival_rate, mean_window: (arrival_rate >= 0, mean_window >= 0),
    latex=r"1 + \lambda_{\text{arr}} E[T_{\text{win}}]",
    source="here, by Wald's identity",
    chapter=3,
)
def mean_batch(arrival_rate: Any, mean_window: Any) -> Any:
    """Mean size of the batch that a window forms, from how long it is open."""
    return 1 + arrival_rate * mean_window


@formula(
    domain=lambda arrival_rate, max_batch: (arrival_rate > 0, max_batch >= 1),
    latex=r"\frac{B_{\max} - 1}{\lambda_{\text{arr}}}",
    source="Erlang 1909; Kingman 1993, ch. 4",
    chapter=3,
)
def fill_time(arrival_rate: Any, max_batch: Any) -> Any:
    """Mean time from the first request of a batch to the one that fills it."""
    return (max_batch - 1) / arrival_rate


@formula(
    domain=lambda max_wait, batch: (max_wait >= 0, batch >= 1),
    latex=r"\frac{T_{\max}}{2} \left(1 + \frac{1}{B}\right)",
    source="Reddi et al., Inference Foundations, section on response time",
    chapter=3,
)
def timeout_delay(max_wait: Any, batch: Any) -> Any:
    """Mean delay of a request in a batch of a given size that closed by timeout."""
    return max_wait / 2 * (1 + 1 / batch)


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
    domain=lambda load: (load >= 0, stable(load < 1)),
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
    domain=lambda rate, service_rate: (
        rate >= 0,
        service_rate > 0,
        stable(rate < service_rate),
    ),
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


@formula(
    domain=lambda arrival_rate, batch, t_fixed, t_req: (
        arrival_rate >= 0,
        batch >= 1,
        t_fixed >= 0,
        t_req >= 0,
    ),
    latex=r"\frac{\lambda_{\text{arr}} (T_{\text{fixed}} + t_{\text{req}} B)}{B}",
    source="Kleinrock 1975, ch. 2",
    chapter=5,
)
def utilization(arrival_rate: Any, batch: Any, t_fixed: Any, t_req: Any) -> Any:
    """Load over capacity at a batch size; over one means that work piles up."""
    return arrival_rate * batch_time(batch, t_fixed, t_req) / batch


@formula(
    domain=lambda arrival_rate, batch: (arrival_rate >= 0, batch >= 1),
    latex=r"\frac{\lambda_{\text{arr}}}{B}",
    source="Reddi et al., Inference Foundations, section on queueing",
    chapter=5,
)
def batch_arrival_rate(arrival_rate: Any, batch: Any) -> Any:
    """Rate at which full batches leave for service."""
    return arrival_rate / batch


@formula(
    domain=lambda arrival_rate, utilization_target, t_fixed, t_req: (
        arrival_rate >= 0,
        t_fixed >= 0,
        t_req >= 0,
        utilization_target > 0,
        utilization_target <= 1,
        stable(arrival_rate * t_req < utilization_target),
    ),
    latex=(
        r"\frac{\lambda_{\text{arr}} T_{\text{fixed}}}"
        r"{\rho_{\text{target}} - \lambda_{\text{arr}} t_{\text{req}}}"
    ),
    source="Reddi et al., Inference Foundations, section on the optimal batch",
    chapter=5,
)
def min_batch(arrival_rate: Any, utilization_target: Any, t_fixed: Any, t_req: Any) -> Any:
    """Real batch size at which the utilisation equals the target."""
    return arrival_rate * t_fixed / (utilization_target - arrival_rate * t_req)


@formula(
    domain=lambda arrival_rate, batch, t_fixed, t_req: (
        arrival_rate >= 0,
        batch >= 1,
        t_fixed >= 0,
        t_req >= 0,
        stable(arrival_rate * (t_fixed + t_req * batch) < batch),
    ),
    latex=(
        r"\frac{\lambda_{\text{arr}} T_{\text{svc}}(B)^2}"
        r"{2 B \left(1 - \rho_{\text{serv}}\right)}"
    ),
    source="Reddi et al., Inference Foundations, section on the optimal batch",
    chapter=5,
)
def surrogate_wait(arrival_rate: Any, batch: Any, t_fixed: Any, t_req: Any) -> Any:
    """Mean wait of a full batch, if batches were Poisson super-requests."""
    time = batch_time(batch, t_fixed, t_req)
    return arrival_rate * time**2 / (2 * batch * (1 - arrival_rate * time / batch))


@formula(
    domain=lambda arrival_rate, batch: (arrival_rate > 0, batch >= 1),
    latex=r"\frac{B - 1}{2 \lambda_{\text{arr}}}",
    source="Reddi et al., Inference Foundations, section on response time",
    chapter=5,
)
def accumulation_delay(arrival_rate: Any, batch: Any) -> Any:
    """Mean time a request waits for its batch to fill."""
    return (batch - 1) / (2 * arrival_rate)


@formula(
    domain=lambda arrival_rate, batch, t_fixed, t_req: (
        arrival_rate > 0,
        batch >= 1,
        t_fixed >= 0,
        t_req >= 0,
        stable(arrival_rate * (t_fixed + t_req * batch) < batch),
    ),
    latex=(
        r"\frac{\lambda_{\text{arr}} T_{\text{svc}}(B)^2}{2 B (1 - \rho_{\text{serv}})}"
        r" + \frac{B - 1}{2 \lambda_{\text{arr}}} + T_{\text{svc}}(B)"
    ),
    source="Reddi et al., Inference Foundations, section on the optimal batch",
    chapter=5,
)
def surrogate_total(arrival_rate: Any, batch: Any, t_fixed: Any, t_req: Any) -> Any:
    """Mean response time of the surrogate: wait, accumulation and service."""
    return (
        surrogate_wait(arrival_rate, batch, t_fixed, t_req)
        + accumulation_delay(arrival_rate, batch)
        + batch_time(batch, t_fixed, t_req)
    )


@formula(
    domain=lambda arrival_rate, t_fixed, t_req: (
        arrival_rate >= 0,
        t_fixed >= 0,
        t_req >= 0,
        stable(arrival_rate * t_req < 1),
    ),
    latex=(
        r"\frac{\lambda_{\text{arr}} T_{\text{fixed}}}{1 - \lambda_{\text{arr}} t_{\text{req}}}"
        r"\left(1 + \frac{1}{\sqrt{1 + \lambda_{\text{arr}} t_{\text{req}}"
        r" - (\lambda_{\text{arr}} t_{\text{req}})^2}}\right)"
    ),
    source="here",
    chapter=5,
)
def optimal_batch(arrival_rate: Any, t_fixed: Any, t_req: Any) -> Any:
    """Real batch size at which the surrogate's mean response time is least."""
    load = arrival_rate * t_req
    return min_batch(arrival_rate, 1, t_fixed, t_req) * (1 + 1 / sqrt(1 + load - load**2))
