"""Closed forms of requests, batches and the windows that form them (chapters 1 to 3)."""

from __future__ import annotations

from typing import Any

from .._formula import formula
from .._generic import exp


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
    source="Kingman 1993, ch. 4",
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
