"""Each formula refuses to answer outside of its domain, condition by condition."""

import pytest

from serving.errors import UnstableError
from serving.formulas import REGISTRY, value

INSIDE = {
    **{"arrival_rate": 1, "response_time": 1, "time": 1, "batch": 16, "t_fixed": 0.05},
    **{"t_req": 0.0005, "utilization_target": 0.7, "max_batch": 8, "max_wait": 1},
    **{"mean_window": 1, "load": 0.5, "rate": 1, "service_rate": 2, "service_mean": 0.25},
    **{"service_second_moment": 0.1, "service_cv": 1, "n_parameters": 1, "element_bytes": 2},
    **{"devices": 1, "bandwidth": 1, "layers": 1, "width": 1, "tokens": 1, "kv_heads": 1},
    **{"head_dim": 1, "cache_memory": 4, "kv_width": 1, "mlp_width": 1, "input_tokens": 1},
    **{"output_tokens": 1, "mean_response": 1, "normal_quantile": 2.33, "response_std": 1},
    **{"servers": 4, "capacity": 9, "offered_load": 3, "staffing_margin": 1},
    **{"delay_probability": 0.3},
    **{"quantile": 0.99, "gain": 0.1, "first_batch": 8, "last_batch": 32},
    **{"tail_root": 0.5, "tolerance": 0.1, "confidence": 0.95, "confidence_quantile": 1.96},
    **{"gap_std": 1, "service_std": 1, "gap_cv": 1, "wait_std": 1, "waiting_share": 0.5},
    **{"peak_rate": 3, "link_rate": 1, "call_time": 0, "kept_bytes": 0.1},
    **{"latent_width": 1, "rotary_width": 1, "full_bytes": 1, "window_bytes": 1},
    **{"window_tokens": 1},
    **{"constant_bytes": 1},
    **{"device_price": 1},
    **{"empty_probability": 0.1, "greedy_size": 2, "greedy_square": 5},
    **{"depth": 2, "rate_growth": 2, "scaling_delay": 3, "headroom": 1, "backlog": 9},
    **{"hedge_share": 0.2, "late_share": 0.1, "work_in_service": 1},
    **{"load_before": 0.2, "load_through": 0.5},
    **{"input_mean": 1, "output_mean": 2, "output_square": 5, "output_cv": 0.5},
    **{"length_product": 2, "token_time": 1, "block_size": 16, "growth": 2},
    **{"acceptance": 0.7, "drafted": 4, "step_fixed": 20, "step_per_sequence": 0.25},
    **{"spec_fixed": 23, "spec_each": 1, "step_yield": 2.5},
    **{"running_limit": 64, "prefix_tokens": 0.5, "longest_mean": 6, "pool_tokens": 9},
    **{"experts": 8, "chosen_experts": 2},
    **{"prompt_token_time": 0.0001, "prefill_mean": 0.1, "prefill_second_moment": 0.02},
    **{"decode_step": 0.03, "gap_limit": 100},
    **{"window_mean": 5, "window_variance": 2, "rate_cv": 0.5, "rate_memory": 2},
    **{"window_length": 3, "windows": 9, "dispersion": 4},
}
"""Arguments at which every formula has a value."""

DELAYED = [
    *({"delay_probability": -0.1}, {"delay_probability": 1.1}),
    *({"servers": 0.9}, {"service_rate": 0}),
]
"""Changes that violate a condition of every wait before several servers."""

# For each formula, changes to these arguments that violate one condition each.
OUTSIDE = {
    "prefill_time": [{"input_tokens": -1}, {"step_fixed": -1}, {"prompt_token_time": -1}],
    "stalled_tokens": [{"arrival_rate": -1}, {"decode_step": -1}],
    "mean_gap": [
        *({"arrival_rate": -1}, {"prefill_mean": -1}, {"decode_step": -1}),
    ],
    "priority_first": [
        *({"arrival_rate": -1}, {"prefill_mean": -0.1}, {"prefill_second_moment": 0.001}),
        {"decode_step": -1},
    ],
    "phase_load": [
        *({"arrival_rate": -1}, {"output_mean": 0.5}, {"step_per_sequence": -1}),
        {"prefill_mean": -1},
    ],
    "phase_capacity": [
        *({"output_mean": 0.5}, {"step_per_sequence": -0.001}, {"prefill_mean": -0.0001}),
        {"step_per_sequence": 0, "prefill_mean": 0},
    ],
    "phase_running": [
        *({"arrival_rate": -1}, {"output_mean": 0.5}, {"step_fixed": -1}),
        *({"step_per_sequence": -0.001}, {"prefill_mean": -0.1}),
    ],
    "chunk_tokens": [{"decode_step": -1}, {"gap_limit": 0.02}, {"prompt_token_time": 0}],
    "chunked_reading": [
        *(
            {"input_tokens": -1},
            {"decode_step": -1},
            {"gap_limit": 0.03},
            {"prompt_token_time": -1},
        ),
    ],
    **dict.fromkeys(
        ("shared_capacity", "split_capacity"),
        [
            *({"input_tokens": -1}, {"output_mean": 0.5}, {"step_fixed": -1}),
            *({"gap_limit": 20}, {"step_per_sequence": 0}, {"prompt_token_time": -1}),
        ],
    ),
    "transfer_time": [{"kept_bytes": -1}, {"link_rate": 0}],
    "token_load": [{"arrival_rate": -1}, {"output_mean": 0.5}, {"step_per_sequence": -1}],
    **dict.fromkeys(
        ("engine_running", "engine_response"),
        [
            *({"arrival_rate": -1}, {"output_mean": 0.5}, {"step_fixed": -1}),
            {"step_per_sequence": -1},
        ],
    ),
    "engine_capacity": [{"output_mean": 0.5}, {"step_per_sequence": 0}],
    "limited_capacity": [
        *(
            {"running_limit": 0.5},
            {"output_mean": 0.5},
            {"step_fixed": -0.1, "step_per_sequence": 1},
        ),
        *({"step_per_sequence": -0.0001}, {"step_fixed": 0, "step_per_sequence": 0}),
    ],
    "memory_running": [
        *(
            {"pool_tokens": -1},
            {"length_product": -1},
            {"output_mean": 0.5},
            {"output_square": 0.5},
        ),
    ],
    "prefix_running": [
        *(
            {"pool_tokens": 0.4},
            {"prefix_tokens": -1},
            {"output_mean": 0.5},
            {"output_square": 0.5},
        ),
        {"length_product": 0.5},
    ],
    "dropped_gain": [
        *({"batch": 0.5}, {"output_mean": 0.5}, {"longest_mean": 1}, {"longest_mean": 1e9}),
        *({"step_fixed": -0.0001, "step_per_sequence": 1}, {"step_per_sequence": -0.0001}),
        {"step_fixed": 0, "step_per_sequence": 0},
    ],
    "padded_gain": [{"output_mean": 0.5}, {"longest_mean": 1}],
    "experts_touched": [
        *({"chosen_experts": -1}, {"experts": 0.5, "chosen_experts": 0.4}),
        *({"chosen_experts": 9}, {"batch": 0.5}),
    ],
    "requests_in_system": [{"arrival_rate": -1}, {"response_time": -1}],
    "quiet_probability": [{"arrival_rate": -1}, {"time": -1}],
    "batch_time": [{"batch": 0.5}, {"t_fixed": -1}, {"t_req": -1}],
    "effective_rate": [
        *({"batch": 0.5}, {"t_fixed": -0.001, "t_req": 1}, {"t_req": -0.001}),
        {"t_fixed": 0, "t_req": 0},
    ],
    "rate_limit": [{"t_req": 0}],
    "half_rate_batch": [{"t_fixed": -1}, {"t_req": 0}],
    "weight_bytes": [{"n_parameters": 0}, {"element_bytes": 0}],
    "weight_read_time": [
        *({"n_parameters": 0}, {"element_bytes": 0}, {"devices": 0.5}, {"bandwidth": 0}),
    ],
    "mean_batch": [{"arrival_rate": -1}, {"mean_window": -1}],
    "fill_time": [{"arrival_rate": 0}, {"max_batch": 0.5}],
    "timeout_delay": [{"max_wait": -1}, {"batch": 0.5}],
    "kv_cache_bytes": [
        *({"layers": 0}, {"width": 0}, {"tokens": -1}, {"batch": -1}, {"element_bytes": 0}),
    ],
    "token_bytes": [{"layers": 0}, {"kv_heads": 0}, {"head_dim": 0}, {"element_bytes": 0}],
    "grouped_cache_bytes": [
        *({"layers": 0}, {"kv_heads": 0}, {"head_dim": 0}, {"tokens": -1}, {"batch": -1}),
        {"element_bytes": 0},
    ],
    "memory_batch": [
        *({"cache_memory": -1}, {"layers": 0}, {"kv_heads": 0}, {"head_dim": 0}, {"tokens": 0}),
        {"element_bytes": 0},
    ],
    "memory_rate": [
        *({"cache_memory": 0}, {"layers": 0}, {"kv_heads": 0}, {"head_dim": 0}, {"tokens": 0}),
        *({"element_bytes": 0}, {"t_fixed": -1}, {"t_req": -1}, {"t_fixed": 0, "t_req": 0}),
    ],
    "token_cost": [{"device_price": -1}, {"devices": 0}, {"arrival_rate": 0}, {"output_tokens": 0}],
    "latent_token_bytes": [
        *({"layers": 0}, {"latent_width": 0}, {"rotary_width": -1}, {"element_bytes": 0}),
    ],
    "sequence_bytes": [
        *({"full_bytes": -1}, {"window_bytes": -1}, {"window_tokens": 0}, {"constant_bytes": -1}),
        {"tokens": -1},
    ],
    "parity_tokens": [{"n_parameters": 0}, {"layers": 0}, {"kv_heads": 0}, {"head_dim": 0}],
    "projection_work": [{"layers": 0}, {"width": 0}, {"kv_width": 0}],
    "mlp_work": [{"layers": 0}, {"width": 0}, {"mlp_width": 0}],
    "attention_work": [{"layers": 0}, {"width": 0}, {"tokens": 0}],
    "reprojection_work": [{"layers": 0}, {"width": 0}, {"kv_width": 0}, {"tokens": 0}],
    "reattention_work": [{"layers": 0}, {"width": 0}, {"tokens": 0}],
    "cached_work": [
        *({"layers": 0}, {"width": 0}, {"kv_width": 0}, {"mlp_width": 0}, {"tokens": 0}),
    ],
    "pass_work": [
        *({"layers": 0}, {"width": 0}, {"kv_width": 0}, {"mlp_width": 0}, {"tokens": 0}),
    ],
    "forgetful_work": [
        *({"layers": 0}, {"width": 0}, {"kv_width": 0}, {"mlp_width": 0}, {"input_tokens": 0}),
        {"output_tokens": 0},
    ],
    "held_tokens": [{"length_product": -1}, {"output_mean": 0.9}, {"output_square": 3.9}],
    "held_by_variability": [{"input_mean": -1}, {"output_mean": 0.9}, {"output_cv": -0.1}],
    "mean_running": [{"arrival_rate": -1}, {"output_mean": 0.9}, {"token_time": -1}],
    "running_tokens": [
        *({"arrival_rate": -1}, {"token_time": -1}, {"length_product": -1}),
        {"output_square": 0.9},
    ],
    "block_waste": [{"block_size": 0.9}],
    "class_use": [{"growth": 1}],
    "takeover_tokens": [{"width": 0}, {"kv_width": 0}, {"mlp_width": 0}],
    "weight_intensity": [{"batch": 0.5}, {"element_bytes": 0}],
    "cache_intensity": [{"width": 0}, {"kv_width": 0}, {"element_bytes": 0}],
    "utilization": [{"arrival_rate": -1}, {"batch": 0.5}, {"t_fixed": -1}, {"t_req": -1}],
    "batch_arrival_rate": [{"arrival_rate": -1}, {"batch": 0.5}],
    "min_batch": [
        *({"arrival_rate": -1}, {"t_fixed": -1}, {"t_req": -1}),
        *({"utilization_target": 0}, {"utilization_target": 1.001}),
    ],
    "surrogate_wait": [{"arrival_rate": -1}, {"batch": 0.5}, {"t_fixed": -1}, {"t_req": -1}],
    "accumulation_delay": [{"arrival_rate": 0}, {"batch": 0.5}],
    "surrogate_total": [{"arrival_rate": 0}, {"batch": 0.5}, {"t_fixed": -1}, {"t_req": -1}],
    "optimal_batch": [{"arrival_rate": -1}, {"t_fixed": -1}, {"t_req": -1}],
    "mm1_number": [{"load": -1}],
    "mm1_waiting": [{"load": -1}],
    "mm1_wait": [{"rate": -1}, {"service_rate": 0}],
    "mm1_response": [{"rate": -1}, {"service_rate": 0}],
    "pollaczek_khinchine_wait": [
        *({"rate": -1}, {"service_mean": -0.1}, {"service_second_moment": 0.05}),
    ],
    "wait_by_variability": [{"load": -1}, {"service_mean": -1}, {"service_cv": -1}],
    "gaussian_tail": [{"mean_response": -1}, {"normal_quantile": -1}, {"response_std": -1}],
    "exponential_tail": [{"mean_response": -1}, {"quantile": -0.1}, {"quantile": 1}],
    "gathering_third_moment": [{"arrival_rate": 0}, {"batch": 0.5}],
    "tail_load": [{"tail_root": 0}],
    "tail_decay": [
        *({"tail_root": 0}, {"batch": 0.5}, {"t_fixed": -0.001, "t_req": 1}),
        *({"t_req": -0.001}, {"t_fixed": 0, "t_req": 0}),
    ],
    "capacity_tail": [
        *({"tail_root": 0}, {"batch": 0.5}, {"t_fixed": -0.001}, {"t_req": -0.001}),
        *({"quantile": -0.1}, {"quantile": 1}),
    ],
    "percentile_sample": [
        *({"quantile": 0}, {"quantile": 1}, {"confidence_quantile": -1}, {"tolerance": 0}),
    ],
    "largest_sample": [{"quantile": 0}, {"quantile": 1}, {"confidence": -0.1}, {"confidence": 1}],
    "doubling_gain": [
        *({"batch": 0.5}, {"t_fixed": -0.001, "t_req": 1}, {"t_req": -0.001}),
        {"t_fixed": 0, "t_req": 0},
    ],
    "gain_batch": [{"gain": 0}, {"gain": 1.001}, {"t_fixed": -1}, {"t_req": 0}],
    "greedy_batch": [
        *({"arrival_rate": -1}, {"empty_probability": -0.1}, {"empty_probability": 1.1}),
        *({"t_fixed": -1}, {"t_req": -1}),
    ],
    "greedy_busy": [
        *({"arrival_rate": -1}, {"greedy_size": 0.9}, {"t_fixed": -1}, {"t_req": -1}),
    ],
    "greedy_response": [
        *({"arrival_rate": 0}, {"greedy_size": 0.9}, {"greedy_square": 3.9}),
        *({"t_fixed": -1}, {"t_req": -1}),
    ],
    "greedy_response_by_size": [
        *({"arrival_rate": -1}, {"greedy_size": 0.9}, {"t_fixed": -1}, {"t_req": -1}),
    ],
    "greedy_light_bound": [{"arrival_rate": -1}, {"t_fixed": -1}, {"t_req": -1}],
    "greedy_busy_bound": [{"arrival_rate": -1}, {"t_fixed": -1}, {"t_req": -1}],
    "greedy_bound": [{"arrival_rate": -1}, {"t_fixed": -1}, {"t_req": -1}],
    "knee_batch": [{"first_batch": 0.5}, {"last_batch": 7}, {"t_fixed": -0.001}, {"t_req": 0}],
    "gathering_variance": [{"arrival_rate": 0}, {"batch": 0.5}],
    "fixed_batch_variance": [
        *({"arrival_rate": 0}, {"batch": 0.5}, {"wait_std": -1}, {"waiting_share": -0.5}),
        *({"waiting_share": 1.001, "wait_std": 2}, {"waiting_share": 1, "wait_std": 1}),
    ],
    "kingman_wait": [
        *({"rate": -1}, {"service_mean": -1}, {"gap_std": -1}, {"service_std": -1}),
    ],
    "allen_cunneen_wait": [
        *({"load": -1}, {"service_mean": -1}, {"gap_cv": -1}, {"service_cv": -1}),
    ],
    "square_root_batch": [{"arrival_rate": -1}, {"t_fixed": -1}, {"t_req": -1}],
    "square_root_servers": [{"offered_load": -1}, {"staffing_margin": -1}],
    "erlang_wait": [*DELAYED, {"rate": -1}],
    "erlang_wait_tail": [*DELAYED, {"rate": -1}, {"time": -1}],
    "allen_cunneen": [*DELAYED, {"rate": -1}, {"service_cv": -1}],
    "cosmetatos_excess": [*DELAYED[2:], {"rate": 0}],
    "cosmetatos": [
        *(*DELAYED, {"rate": 0, "servers": 1}, {"service_cv": -1}, {"servers": 128}),
    ],
    "kimura_excess": [*DELAYED[2:], {"rate": 0}],
    "kimura": [*DELAYED, {"rate": 0}, {"service_cv": -1}],
    "last_place_wait": [{"servers": 0}, {"capacity": 3}, {"service_rate": 0}],
    "overload_loss": [{"load": 0.9}],
    "two_choices_tail": [{"load": 0}, {"depth": -1}, {"depth": 15}],
    "round_robin_load": [
        *({"delay_probability": 0}, {"delay_probability": 1}, {"servers": 0.9}),
    ],
    "round_robin_wait": [
        *({"delay_probability": -0.1}, {"delay_probability": 1}, {"service_rate": 0}),
    ],
    "growth_backlog": [{"rate_growth": 0, "headroom": 0}, {"headroom": -1}, {"headroom": 7}],
    "drain_time": [
        *({"backlog": -1}, {"rate": -1}, {"service_rate": -1, "rate": -9}, {"servers": 0.9}),
    ],
    "scaling_servers": [
        *({"offered_load": -1}, {"rate_growth": -1}, {"service_mean": -1}, {"scaling_delay": -1}),
        {"staffing_margin": -1},
    ],
    "saturation_backlog": [{"rate": 0}, {"rate_growth": 0}],
    "hedged_response": [
        *({"rate": -1}, {"service_rate": 0, "rate": 0}, {"hedge_share": -0.1}),
        {"hedge_share": 1.1, "rate": 0.5},
    ],
    "hedged_quantile": [
        *({"rate": -1}, {"service_rate": 0, "rate": 0}, {"hedge_share": 1.1, "rate": 0.5}),
        *({"late_share": 0}, {"late_share": 0.3}),
    ],
    "hedge_break_even": [
        *({"hedge_share": 1.1}, {"late_share": 0}, {"late_share": 1, "hedge_share": 1}),
        {"late_share": 0.3},
    ],
    "priority_wait": [{"work_in_service": -1}, {"load_before": -0.1}, {"load_before": 0.6}],
    "preemptive_response": [
        *({"service_mean": -1}, {"work_in_service": -1}, {"load_before": -0.1}),
        {"load_before": 0.6},
    ],
    "ridge_intensity": [{"peak_rate": 0}, {"bandwidth": 0}],
    "ridge_batch": [{"element_bytes": 0}, {"peak_rate": 0}, {"bandwidth": 0}],
    "matmul_time": [{"batch": 0.5}, {"n_parameters": 0}, {"devices": 0.5}, {"peak_rate": 0}],
    "cache_read_time": [
        *({"batch": -1}, {"kept_bytes": -1}, {"devices": 0.5}, {"bandwidth": 0}),
    ],
    "attention_time": [
        *({"batch": -1}, {"layers": 0}, {"width": 0}, {"tokens": -1}, {"devices": 0.5}),
        {"peak_rate": 0},
    ],
    "prompt_attention_time": [
        *({"batch": -1}, {"layers": 0}, {"width": 0}, {"input_tokens": 0}, {"devices": 0.5}),
        {"peak_rate": 0},
    ],
    "all_reduce_time": [
        *({"batch": -1}, {"width": 0}, {"element_bytes": 0}, {"devices": 0.5}, {"link_rate": 0}),
        {"call_time": -1},
    ],
    "exchange_time": [
        *({"batch": -1}, {"layers": 0}, {"width": 0}, {"element_bytes": 0}, {"devices": 0.5}),
        *({"link_rate": 0}, {"call_time": -1}),
    ],
    "step_time": [
        *({"batch": 0.5}, {"n_parameters": 0}, {"element_bytes": 0}, {"kept_bytes": -1}),
        *({"devices": 0.5}, {"bandwidth": 0}, {"peak_rate": 0}),
    ],
    "crossing_batch": [
        *({"n_parameters": 0}, {"layers": 0}, {"width": 0}, {"tokens": -0.1}),
        *({"element_bytes": 0}, {"kept_bytes": -1}, {"peak_rate": 0}, {"kept_bytes": 6}),
    ],
    "crossing_tokens": [
        *({"n_parameters": 0}, {"layers": 0}, {"width": 0}, {"kv_heads": 0.9}),
        *({"head_dim": 0.9}, {"element_bytes": -1, "peak_rate": -3}, {"bandwidth": 0}),
        {"peak_rate": 0.5},
    ],
    "answer_fixed_time": [
        *({"n_parameters": 0}, {"element_bytes": 0}, {"output_tokens": 0}, {"devices": 0.5}),
        {"bandwidth": 0},
    ],
    "answer_request_time": [
        *({"n_parameters": 0}, {"layers": 0}, {"kv_heads": 0}, {"head_dim": 0}, {"width": 0}),
        *({"element_bytes": 0}, {"input_tokens": 0}, {"output_tokens": 0}, {"devices": 0.5}),
        *({"bandwidth": 0}, {"peak_rate": 0}),
    ],
    "chain_yield": [{"acceptance": 0}, {"acceptance": 1}, {"drafted": -1}],
    "speculative_capacity": [{"output_mean": 0.9}, {"spec_each": 0}, {"step_yield": 0.9}],
    "speculative_response": [
        *({"arrival_rate": -1}, {"output_mean": 0.9}, {"spec_fixed": -1}, {"spec_each": -1}),
        {"step_yield": 0.9, "arrival_rate": 0.1},
    ],
    "break_even_running": [
        *({"step_per_sequence": -0.1}, {"spec_fixed": -1}, {"spec_fixed": 51}),
        {"spec_each": 0.6},
    ],
    "break_even_load": [
        *({"output_mean": 0.9}, {"step_per_sequence": -0.1}, {"spec_fixed": -1}),
        *({"spec_fixed": 50}, {"spec_each": 0.6}),
    ],
    "cox_dispersion": [{"window_mean": 0}, {"window_variance": -1}],
    "flicker_dispersion": [
        *({"rate": -1}, {"rate_cv": -0.1}, {"rate_memory": 0}, {"window_length": 0}),
    ],
    "drift_dispersion": [
        *({"rate": 0}, {"rate_growth": -1}, {"window_length": 0}, {"windows": 1}),
    ],
    "difference_dispersion": [{"rate": 0}, {"rate_growth": -1}, {"window_length": 0}],
    "window_rate": [
        *({"rate": -1}, {"dispersion": -1}, {"window_length": 0}, {"normal_quantile": -1}),
    ],
}
UNSTABLE = {
    **dict.fromkeys(("mean_gap", "priority_first"), {"arrival_rate": 10}),
    "phase_running": {"prefill_mean": 1},
    **dict.fromkeys(("engine_running", "engine_response"), {"step_per_sequence": 1}),
    "min_batch": {"arrival_rate": 1400},
    "surrogate_wait": {"arrival_rate": 276},
    "surrogate_total": {"arrival_rate": 320},
    "optimal_batch": {"arrival_rate": 2000},
    "mm1_number": {"load": 1},
    "mm1_waiting": {"load": 1},
    "mm1_wait": {"rate": 2},
    "mm1_response": {"rate": 2},
    "pollaczek_khinchine_wait": {"rate": 4},
    "wait_by_variability": {"load": 1},
    "kingman_wait": {"rate": 4},
    "allen_cunneen_wait": {"load": 1},
    "square_root_batch": {"arrival_rate": 2000},
    **dict.fromkeys(
        [
            *("erlang_wait", "erlang_wait_tail", "allen_cunneen", "cosmetatos"),
            *("cosmetatos_excess", "kimura", "kimura_excess"),
        ],
        {"rate": 8},
    ),
    "greedy_batch": {"arrival_rate": 2000},
    "greedy_busy": {"arrival_rate": 40},
    "greedy_response": {"arrival_rate": 2000},
    "greedy_response_by_size": {"arrival_rate": 2000},
    "greedy_light_bound": {"arrival_rate": 2000},
    "greedy_busy_bound": {"arrival_rate": 2000},
    "greedy_bound": {"arrival_rate": 2000},
    "two_choices_tail": {"load": 1},
    "drain_time": {"rate": 8},
    **dict.fromkeys(["hedged_response", "hedged_quantile"], {"rate": 1.9}),
    **dict.fromkeys(["priority_wait", "preemptive_response"], {"load_through": 1}),
    "speculative_response": {"arrival_rate": 2},
}


def arguments(name, change):
    return {entry.name: (INSIDE | change)[entry.name] for entry in REGISTRY[name].parameters}


@pytest.mark.parametrize("name", REGISTRY)
def test_every_condition_of_a_domain_has_an_example(name):
    value(
        REGISTRY[name].function, **arguments(name, {} if name != "overload_loss" else {"load": 2})
    )
    examples = len(OUTSIDE[name]) + (name in UNSTABLE)
    assert examples == len(REGISTRY[name].conditions)


@pytest.mark.parametrize(("name", "change"), [(n, c) for n, row in OUTSIDE.items() for c in row])
def test_outside_of_a_condition_is_an_error_of_its_argument(name, change):
    with pytest.raises(ValueError, match=" is required, got ") as caught:
        value(REGISTRY[name].function, **arguments(name, change))
    assert not isinstance(caught.value, UnstableError)


@pytest.mark.parametrize("name", UNSTABLE)
def test_a_queue_that_grows_without_bound_is_unstable(name):
    with pytest.raises(UnstableError, match=" is required, got "):
        value(REGISTRY[name].function, **arguments(name, UNSTABLE[name]))
