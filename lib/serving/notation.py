"""The symbols of the book: one table, from which text, code, sheet and checks are fed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy


@dataclass(frozen=True)
class Entry:
    """One symbol of the book.

    Attributes
    ----------
    name : str
        Python name: the keyword of every function that takes the quantity.
    latex : str
        How the symbol is written in equations.
    meaning : str
        What it is, in words.
    unit : str
        SI unit; ``1`` for a pure number.
    formula : str
        Name of the formula that the symbol stands for, if it is not free.
    """

    name: str
    latex: str
    meaning: str
    unit: str
    formula: str = ""


TABLE: tuple[Entry, ...] = (
    Entry("arrival_rate", r"\lambda_{\text{arr}}", "arrival rate of requests", "requests/s"),
    Entry("batch", "B", "batch size", "requests"),
    Entry("t_fixed", r"T_{\text{fixed}}", "time a batch takes whatever its size", "s"),
    Entry("t_req", r"t_{\text{req}}", "time each request adds to a batch", "s"),
    Entry("batch_time", r"T_{\text{svc}}(B)", "service time of a batch", "s", "batch_time"),
    Entry("effective_rate", r"\mu_{\text{eff}}(B)", "service rate", "requests/s", "effective_rate"),
    Entry("rate_limit", r"\mu_{\infty}", "limit of the service rate", "requests/s", "rate_limit"),
    Entry("half_rate_batch", "B_{1/2}", "batch at half the limit", "requests", "half_rate_batch"),
    Entry("n_parameters", r"N_{\text{par}}", "parameters of the model", "1"),
    Entry("element_bytes", r"s_{\text{elem}}", "storage of one element", "bytes"),
    Entry("devices", r"N_{\text{dev}}", "accelerators that share the work", "1"),
    Entry("bandwidth", r"\beta_{\text{mem}}", "memory bandwidth of one accelerator", "bytes/s"),
    Entry("weight_bytes", r"M_{\text{w}}", "bytes of the weights", "bytes", "weight_bytes"),
    Entry(
        "weight_read_time",
        r"T_{\text{w}}",
        "time to read every weight once",
        "s",
        "weight_read_time",
    ),
    Entry("max_batch", r"B_{\max}", "batch size at which a window closes", "requests"),
    Entry("max_wait", r"T_{\max}", "time after which a window closes in any case", "s"),
    Entry("mean_window", r"E[T_{\text{win}}]", "mean time for which a window is open", "s"),
    Entry("mean_batch", "E[B]", "mean size of a window's batch", "requests", "mean_batch"),
    Entry("fill_time", r"E[\tau_k]", "mean time until a batch is full", "s", "fill_time"),
    Entry(
        "timeout_delay",
        r"E[T_{\text{batch}} \mid B, \text{timeout}]",
        "mean delay in a timed-out batch",
        "s",
        "timeout_delay",
    ),
    Entry(
        "utilization",
        r"\rho_{\text{serv}}",
        "load over capacity at the batch size",
        "1",
        "utilization",
    ),
    Entry("utilization_target", r"\rho_{\text{target}}", "utilisation aimed at", "1"),
    Entry(
        "batch_arrival_rate",
        r"\lambda_{\text{batch}}",
        "arrival rate of batches",
        "batches/s",
        "batch_arrival_rate",
    ),
    Entry(
        "min_batch",
        r"B_{\min}(\rho_{\text{target}})",
        "least batch that meets the target",
        "requests",
        "min_batch",
    ),
    Entry("service_mean", r"E[T_{\text{svc}}]", "mean service time", "s"),
    Entry("service_second_moment", r"E[T_{\text{svc}}^2]", "its second moment", "s^2"),
    Entry("service_cv", r"c_{\text{svc}}", "coefficient of variation of a service time", "1"),
    Entry("rate", r"\lambda", "arrival rate at a queue, whatever arrives", "1/s"),
    Entry("service_rate", r"\mu", "service rate of one busy server", "requests/s"),
    Entry("load", r"\rho", "load: arrival rate times mean service time", "1"),
    Entry("mm1_number", "E[N]", "mean number in an M/M/1 queue", "requests", "mm1_number"),
    Entry(
        "mm1_waiting",
        r"E[N_{\text{wait}}]",
        "mean number that wait in an M/M/1 queue",
        "requests",
        "mm1_waiting",
    ),
    Entry("mm1_wait", r"E[W_{\text{M}}]", "mean wait of an M/M/1 queue", "s", "mm1_wait"),
    Entry(
        "mm1_response",
        r"E[T_{\text{M}}]",
        "mean response time of an M/M/1 queue",
        "s",
        "mm1_response",
    ),
    Entry(
        "pollaczek_khinchine_wait",
        "E[W]",
        "mean wait of an M/G/1 queue",
        "s",
        "pollaczek_khinchine_wait",
    ),
    Entry(
        "wait_by_variability",
        r"E[W(c_{\text{svc}})]",
        "mean wait of an M/G/1 queue, by variability",
        "s",
        "wait_by_variability",
    ),
    Entry("surrogate_wait", "E[W(B)]", "mean wait, surrogate", "s", "surrogate_wait"),
    Entry(
        "accumulation_delay",
        r"E[T_{\text{batch}}(B)]",
        "mean delay in batches of exactly B",
        "s",
        "accumulation_delay",
    ),
    Entry("surrogate_total", "E[T(B)]", "mean response time, surrogate", "s", "surrogate_total"),
    Entry("optimal_batch", "B^*", "real batch of least mean response", "requests", "optimal_batch"),
    Entry(
        "requests_in_system",
        r"Q_{\text{req}}",
        "mean number of requests",
        "requests",
        "requests_in_system",
    ),
    Entry("response_time", r"T_{\text{lat}}", "mean response time", "s"),
    Entry("time", "t", "length of an interval", "s"),
    Entry(
        "quiet_probability",
        r"P(\tau_1 > t)",
        "probability of no arrival in an interval",
        "1",
        "quiet_probability",
    ),
    Entry("layers", "N_L", "layers of the model", "1"),
    Entry("width", "d", "width of the model; in integrals the differential", "1"),
    Entry("kv_heads", r"n_{\text{kv}}", "heads with keys and values of their own", "1"),
    Entry("head_dim", r"d_{\text{head}}", "numbers in one key or value of one head", "1"),
    Entry("cache_memory", r"M_{\text{free}}", "memory left for the cache", "bytes"),
    Entry(
        "kv_cache_bytes",
        r"M_{\text{KV}}",
        "bytes of the cache, each head with keys of its own",
        "bytes",
        "kv_cache_bytes",
    ),
    Entry("token_bytes", r"m_{\text{tok}}", "bytes of one token", "bytes/token", "token_bytes"),
    Entry(
        "grouped_cache_bytes",
        r"M_{\text{KV}}(n_{\text{kv}})",
        "bytes of the cache, keys shared by groups of heads",
        "bytes",
        "grouped_cache_bytes",
    ),
    Entry("memory_batch", r"B_{\text{mem}}", "requests that fit", "requests", "memory_batch"),
    Entry(
        "memory_rate",
        r"\lambda_{\text{mem}}",
        "rate that a full memory can bear",
        "requests/s",
        "memory_rate",
    ),
    Entry("device_price", r"c_{\text{dev}}", "price of a device for a second", "money/s"),
    Entry("token_cost", r"c_{\text{tok}}", "price of one token", "money/token", "token_cost"),
    Entry(
        "parity_tokens",
        r"S_{\text{eq}}",
        "tokens whose cache equals the weights",
        "tokens",
        "parity_tokens",
    ),
    Entry("latent_width", r"d_{\text{lat}}", "numbers in a row that all heads read", "1"),
    Entry("rotary_width", r"d_{\text{rot}}", "numbers of a key that carry the position", "1"),
    Entry(
        "latent_token_bytes",
        r"m_{\text{lat}}",
        "bytes of one token, one row for all heads",
        "bytes/token",
        "latent_token_bytes",
    ),
    Entry(
        "full_bytes", r"m_{\text{full}}", "bytes of a token, layers without window", "bytes/token"
    ),
    Entry(
        "window_bytes", r"m_{\text{win}}", "bytes of a token, layers with a window", "bytes/token"
    ),
    Entry("window_tokens", r"S_{\text{win}}", "latest tokens that a window keeps", "tokens"),
    Entry("constant_bytes", r"M_{\text{const}}", "bytes kept at any length", "bytes"),
    Entry("sequence_bytes", r"M_{\text{seq}}", "bytes of one sequence", "bytes", "sequence_bytes"),
    Entry("kv_width", r"d_{\text{kv}}", "width of a token's keys, all key heads together", "1"),
    Entry("mlp_width", r"d_{\text{ff}}", "inner width of the feed-forward part", "1"),
    Entry("tokens", "S", "tokens of a sequence, the newest included", "tokens"),
    Entry("input_tokens", r"S_{\text{in}}", "tokens of a prompt", "tokens"),
    Entry("output_tokens", r"S_{\text{out}}", "tokens of an answer", "tokens"),
    Entry(
        "projection_work",
        r"C_{\text{proj}}",
        "work of a token in the projections",
        "multiply-adds",
        "projection_work",
    ),
    Entry(
        "mlp_work",
        r"C_{\text{mlp}}",
        "work of a token in the feed-forward part",
        "multiply-adds",
        "mlp_work",
    ),
    Entry(
        "attention_work",
        r"C_{\text{att}}(S)",
        "work of the newest token in scores and weighted sums",
        "multiply-adds",
        "attention_work",
    ),
    Entry(
        "reprojection_work",
        r"C_{\text{re-kv}}(S)",
        "work of making earlier keys and values again",
        "multiply-adds",
        "reprojection_work",
    ),
    Entry(
        "reattention_work",
        r"C_{\text{re-att}}(S)",
        "work of attention at earlier tokens again",
        "multiply-adds",
        "reattention_work",
    ),
    Entry(
        "cached_work",
        r"C_{\text{cache}}(S)",
        "work of the newest token with a cache",
        "multiply-adds",
        "cached_work",
    ),
    Entry(
        "pass_work",
        r"C_{\text{pass}}(S)",
        "work of a pass over a whole sequence",
        "multiply-adds",
        "pass_work",
    ),
    Entry(
        "forgetful_work",
        r"C_{\text{forget}}",
        "work of an answer when nothing is kept",
        "multiply-adds",
        "forgetful_work",
    ),
    Entry(
        "takeover_tokens",
        "S^*",
        "length at which repeated attention outweighs other repeats",
        "tokens",
        "takeover_tokens",
    ),
    Entry(
        "weight_intensity",
        r"I_{\text{w}}",
        "operations on each byte of the weights",
        "operations/byte",
        "weight_intensity",
    ),
    Entry(
        "cache_intensity",
        r"I_{\text{kv}}",
        "operations on each byte of the cache",
        "operations/byte",
        "cache_intensity",
    ),
    Entry("mean_response", "E[T]", "mean response time, by whatever method", "s"),
    Entry("response_std", r"\sigma_T", "standard deviation of the response time", "s"),
    Entry("quantile", "q", "share of the requests that a quantile covers", "1"),
    Entry("normal_quantile", "z_q", "quantile of the standard normal law", "1"),
    Entry(
        "gaussian_tail",
        r"T_{\text{gauss}}",
        "quantile of a Gaussian response time",
        "s",
        "gaussian_tail",
    ),
    Entry(
        "exponential_tail",
        r"T_{\text{exp}}",
        "quantile of an exponential response time",
        "s",
        "exponential_tail",
    ),
    Entry(
        "gathering_third_moment",
        r"\kappa_T",
        "third central moment of the time until a batch is full",
        "s^3",
        "gathering_third_moment",
    ),
    Entry("tail_root", "w", "logarithm by which one more waiting request is rarer", "1"),
    Entry("tail_load", r"\rho(w)", "load over capacity that belongs to w", "1", "tail_load"),
    Entry("tail_decay", r"\eta", "rate at which the tail of a wait decays", "1/s", "tail_decay"),
    Entry(
        "capacity_tail",
        r"T_{\text{cap}}",
        "quantile of the response time near capacity",
        "s",
        "capacity_tail",
    ),
    Entry("tolerance", r"\varepsilon", "relative error allowed", "1"),
    Entry("confidence", r"p_{\text{conf}}", "confidence of a statement from measurements", "1"),
    Entry("confidence_quantile", r"z_{\text{conf}}", "normal quantile of a confidence", "1"),
    Entry(
        "percentile_sample",
        r"n_{\text{rank}}",
        "measurements for a percentile of given error",
        "1",
        "percentile_sample",
    ),
    Entry(
        "largest_sample",
        r"n_{\text{largest}}",
        "measurements whose largest exceeds a percentile",
        "1",
        "largest_sample",
    ),
    Entry("doubling_gain", "g(B)", "rate gained by doubling the batch", "1", "doubling_gain"),
    Entry("gain", "g", "rate gained by a doubling, as a share", "1"),
    Entry(
        "gain_batch",
        r"B_{\text{gain}}",
        "batch whose doubling gains so much",
        "requests",
        "gain_batch",
    ),
    Entry("first_batch", r"B_{\text{first}}", "least batch size looked at", "requests"),
    Entry("last_batch", r"B_{\text{last}}", "largest batch size looked at", "requests"),
    Entry(
        "knee_batch", r"B_{\text{knee}}", "batch at the knee of a range", "requests", "knee_batch"
    ),
    Entry("gap_std", r"\sigma_A", "standard deviation of the gaps between arrivals", "s"),
    Entry("service_std", r"\sigma_{\text{svc}}", "standard deviation of a service time", "s"),
    Entry("gap_cv", "c_A", "coefficient of variation of the gaps between arrivals", "1"),
    Entry("wait_std", r"\sigma_W", "standard deviation of the wait of a full batch", "s"),
    Entry("waiting_share", "P(L > 0)", "probability that requests are left waiting", "1"),
    Entry(
        "gathering_variance",
        r"\text{Var}[G]",
        "variance of the time until a full batch of exactly B",
        "s^2",
        "gathering_variance",
    ),
    Entry(
        "fixed_batch_variance",
        r"\text{Var}[T(B)]",
        "variance of the response time in batches of exactly B",
        "s^2",
        "fixed_batch_variance",
    ),
    Entry(
        "kingman_wait",
        r"W_{\text{Kingman}}",
        "Kingman's bound on the mean wait",
        "s",
        "kingman_wait",
    ),
    Entry(
        "allen_cunneen_wait",
        r"W_{\text{AC}}",
        "mean wait by Allen and Cunneen, one server",
        "s",
        "allen_cunneen_wait",
    ),
    Entry(
        "square_root_batch",
        r"B_{\text{root}}",
        "best batch by the square-root rule",
        "requests",
        "square_root_batch",
    ),
    Entry("servers", "c", "servers that share one queue", "1"),
    Entry("capacity", "K", "places in the system, those in service included", "requests"),
    Entry("offered_load", "a", "offered load: the servers that are busy on average", "1"),
    Entry("staffing_margin", r"\beta", "servers to spare, in square roots of the load", "1"),
    Entry("delay_probability", r"P_{\text{wait}}", "share of requests that wait", "1"),
    Entry("square_root_servers", r"c_{\beta}", "servers by the rule", "1", "square_root_servers"),
    Entry(
        "erlang_wait",
        r"E[W_{\text{M/M/c}}]",
        "mean wait of an M/M/c queue",
        "s",
        "erlang_wait",
    ),
    Entry(
        "erlang_wait_tail",
        r"P_{\text{late}}(t)",
        "share of requests that wait longer in M/M/c",
        "1",
        "erlang_wait_tail",
    ),
    Entry(
        "allen_cunneen",
        r"W_{\text{AC}}(c)",
        "mean wait by Allen and Cunneen, several servers",
        "s",
        "allen_cunneen",
    ),
    Entry(
        "cosmetatos_excess",
        r"\epsilon",
        "wait of M/D/c beyond half that of M/M/c, as a share",
        "1",
        "cosmetatos_excess",
    ),
    Entry(
        "cosmetatos", r"E[W_{\text{Cos}}]", "mean wait of M/G/c by Cosmetatos", "s", "cosmetatos"
    ),
    Entry(
        "kimura_excess",
        r"\epsilon_{\text{K}}",
        "the same share, refined by Kimura",
        "1",
        "kimura_excess",
    ),
    Entry("kimura", r"E[W_{\text{Kim}}]", "mean wait of M/G/c by Kimura", "s", "kimura"),
    Entry(
        "last_place_wait",
        r"E[W_{\text{last}}]",
        "mean wait from the last place of a finite queue",
        "s",
        "last_place_wait",
    ),
    Entry(
        "overload_loss",
        r"P_{\text{over}}",
        "least loss when more arrive than can be served",
        "1",
        "overload_loss",
    ),
    Entry("greedy_size", r"\bar{B}", "mean batch of a server that takes what waits", "requests"),
    Entry("greedy_square", r"\overline{B^2}", "mean square of such a batch", "requests^2"),
    Entry("empty_probability", "p_0", "share of services that leave nobody waiting", "1"),
    Entry(
        "greedy_batch",
        r"\bar{B}(p_0)",
        "mean batch of a server that takes what waits, by that share",
        "requests",
        "greedy_batch",
    ),
    Entry("greedy_busy", "U", "share of time in which such a server works", "1", "greedy_busy"),
    Entry(
        "greedy_response",
        r"E[T_{\text{g}}]",
        "mean response of a server that takes all that waits",
        "s",
        "greedy_response",
    ),
    Entry(
        "greedy_response_by_size",
        r"E[T_{\text{g}}(\bar{B})]",
        "the same mean response, by the mean batch alone",
        "s",
        "greedy_response_by_size",
    ),
    Entry(
        "greedy_light_bound",
        r"\varphi_0",
        "bound of that mean, close in light traffic",
        "s",
        "greedy_light_bound",
    ),
    Entry(
        "greedy_busy_bound",
        r"\varphi_1",
        "bound of that mean, close where the server is busy",
        "s",
        "greedy_busy_bound",
    ),
    Entry("greedy_bound", r"\varphi", "the smaller of the two bounds", "s", "greedy_bound"),
    Entry("depth", r"n_{\text{rep}}", "requests at a replica", "requests"),
    Entry(
        "two_choices_tail",
        r"P(N_{\text{rep}} \ge n_{\text{rep}})",
        "share of replicas with so many requests or more",
        "1",
        "two_choices_tail",
    ),
    Entry(
        "round_robin_load",
        r"\rho(P_{\text{wait}})",
        "load at which a share waits under round robin",
        "1",
        "round_robin_load",
    ),
    Entry(
        "round_robin_wait",
        r"E[W_{\text{rr}}]",
        "mean wait under round robin",
        "s",
        "round_robin_wait",
    ),
    Entry("rate_growth", r"g_{\lambda}", "growth of the arrival rate", "requests/s^2"),
    Entry("scaling_delay", r"T_{\text{up}}", "time until a replica that is ordered serves", "s"),
    Entry("headroom", r"h_{\text{free}}", "capacity beyond the present load", "requests/s"),
    Entry("backlog", "Q_0", "requests that wait at a given time", "requests"),
    Entry(
        "growth_backlog",
        r"Q_{\text{up}}",
        "requests that wait when new capacity comes",
        "requests",
        "growth_backlog",
    ),
    Entry("drain_time", r"T_{\text{drain}}", "time to work off a backlog", "s", "drain_time"),
    Entry(
        "scaling_servers",
        r"c_{\text{up}}",
        "servers that bear the load until others are up",
        "1",
        "scaling_servers",
    ),
    Entry(
        "saturation_backlog",
        r"Q_{\text{sat}}",
        "backlog by chance as a load passes the capacity",
        "requests",
        "saturation_backlog",
    ),
    Entry("hedge_share", r"p_{\text{copy}}", "share of requests sent a second time", "1"),
    Entry("late_share", r"p_{\text{late}}", "share of requests beyond a quantile", "1"),
    Entry(
        "hedged_response",
        r"E[T_{\text{copy}}]",
        "mean response with copies",
        "s",
        "hedged_response",
    ),
    Entry(
        "hedged_quantile",
        r"T_{\text{copy}}",
        "quantile of the response with copies",
        "s",
        "hedged_quantile",
    ),
    Entry(
        "hedge_break_even",
        r"\rho_{\text{copy}}",
        "load up to which copies shorten a quantile",
        "1",
        "hedge_break_even",
    ),
    Entry("work_in_service", "E[R]", "mean of what is left of the service in progress", "s"),
    Entry("load_before", r"\rho_{\text{before}}", "load of the classes that go first", "1"),
    Entry("load_through", r"\rho_{\text{through}}", "the same with the class itself", "1"),
    Entry("priority_wait", r"E[W_{\text{class}}]", "mean wait of a class", "s", "priority_wait"),
    Entry(
        "preemptive_response",
        r"E[T_{\text{class}}]",
        "mean response of a class that is interrupted",
        "s",
        "preemptive_response",
    ),
    Entry("input_mean", r"E[S_{\text{in}}]", "mean prompt of a request", "tokens"),
    Entry("output_mean", r"E[S_{\text{out}}]", "mean answer of a request", "tokens"),
    Entry("output_square", r"E[S_{\text{out}}^2]", "mean square of an answer", "tokens^2"),
    Entry("output_cv", r"c_{\text{out}}", "coefficient of variation of the answers", "1"),
    Entry(
        "length_product",
        r"E[S_{\text{in}} S_{\text{out}}]",
        "mean product of prompt and answer",
        "tokens^2",
    ),
    Entry("token_time", r"t_{\text{tok}}", "time from a token of an answer to the next", "s"),
    Entry(
        "held_tokens",
        r"E[S_{\text{run}}]",
        "mean tokens that a running sequence holds",
        "tokens",
        "held_tokens",
    ),
    Entry(
        "held_by_variability",
        r"E[S_{\text{run}}(c_{\text{out}})]",
        "the same mean, if prompt and answer do not depend on each other",
        "tokens",
        "held_by_variability",
    ),
    Entry(
        "mean_running",
        r"E[N_{\text{run}}]",
        "mean number of running sequences",
        "requests",
        "mean_running",
    ),
    Entry(
        "running_tokens",
        r"E[S_{\text{all}}]",
        "mean tokens that all running sequences hold together",
        "tokens",
        "running_tokens",
    ),
    Entry("block_size", r"S_{\text{blk}}", "tokens of a block of a paged cache", "tokens"),
    Entry(
        "block_waste",
        r"E[S_{\text{gap}}]",
        "mean empty places in the last block of a sequence",
        "tokens",
        "block_waste",
    ),
    Entry("growth", r"\gamma", "ratio of a size of pieces to the next smaller one", "1"),
    Entry(
        "class_use",
        r"u_{\gamma}",
        "share of a piece that is asked for, when sizes are rounded up",
        "1",
        "class_use",
    ),
    Entry("peak_rate", r"F_{\text{peak}}", "peak arithmetic of one accelerator", "operations/s"),
    Entry(
        "link_rate",
        r"\beta_{\text{link}}",
        "rate at which one accelerator sends to others",
        "bytes/s",
    ),
    Entry("call_time", r"t_{\text{call}}", "time an exchange takes however little is sent", "s"),
    Entry(
        "kept_bytes",
        r"m_{\text{kept}}",
        "bytes that a sequence keeps on all devices together",
        "bytes",
    ),
    Entry(
        "ridge_intensity",
        r"I_{\text{ridge}}",
        "operations for each byte read at which neither waits",
        "operations/byte",
        "ridge_intensity",
    ),
    Entry(
        "ridge_batch",
        r"B_{\text{ridge}}",
        "tokens in a step at which weights stop waiting for memory",
        "tokens",
        "ridge_batch",
    ),
    Entry(
        "matmul_time",
        r"T_{\text{mat}}",
        "time of a step's work with the weights",
        "s",
        "matmul_time",
    ),
    Entry(
        "cache_read_time",
        r"T_{\text{kv}}",
        "time to read every sequence's cache once",
        "s",
        "cache_read_time",
    ),
    Entry(
        "attention_time",
        r"T_{\text{att}}",
        "time of a step's scores and weighted sums",
        "s",
        "attention_time",
    ),
    Entry(
        "prompt_attention_time",
        r"T_{\text{att}}(S_{\text{in}})",
        "time of a prompt's scores and weighted sums",
        "s",
        "prompt_attention_time",
    ),
    Entry(
        "all_reduce_time",
        r"T_{\text{sum}}",
        "time to add up partial results",
        "s",
        "all_reduce_time",
    ),
    Entry(
        "exchange_time",
        r"T_{\text{link}}",
        "time a step spends in adding up partial results",
        "s",
        "exchange_time",
    ),
    Entry(
        "step_time",
        r"T_{\text{step}}(B)",
        "least time of a step, links left aside",
        "s",
        "step_time",
    ),
    Entry(
        "crossing_batch",
        r"B_{\text{cross}}",
        "batch at which all reading takes as long as the arithmetic",
        "requests",
        "crossing_batch",
    ),
    Entry(
        "crossing_tokens",
        r"S_{\text{cross}}",
        "length from which on no batch makes arithmetic the longer part",
        "tokens",
        "crossing_tokens",
    ),
    Entry(
        "answer_fixed_time",
        r"T_{\text{fixed}}(S_{\text{out}})",
        "least fixed time of whole answers",
        "s",
        "answer_fixed_time",
    ),
    Entry(
        "answer_request_time",
        r"t_{\text{req}}(S_{\text{in}}, S_{\text{out}})",
        "least time that each request adds to whole answers",
        "s",
        "answer_request_time",
    ),
    Entry("step_fixed", r"a_{\text{step}}", "time a step takes whatever runs", "s"),
    Entry(
        "step_per_sequence", r"b_{\text{step}}", "time each running sequence adds to a step", "s"
    ),
    Entry(
        "acceptance",
        r"\alpha",
        "chance that a drafted token is accepted, if those before it were",
        "1",
    ),
    Entry(
        "drafted", "k", "tokens drafted in a step; elsewhere requests that a batch lacks", "tokens"
    ),
    Entry("spec_fixed", r"a_{\text{spec}}", "time a step that speculates takes whatever runs", "s"),
    Entry(
        "spec_each",
        r"b_{\text{spec}}",
        "time each running sequence adds to such a step",
        "s",
    ),
    Entry("step_yield", "y", "mean tokens that a step adds to a sequence", "tokens"),
    Entry(
        "chain_yield",
        r"y(\alpha)",
        "the same mean, if all drafted tokens have the same chance",
        "tokens",
        "chain_yield",
    ),
    Entry(
        "speculative_capacity",
        r"\lambda_{\text{spec}}",
        "arrival rate that fills an engine that speculates",
        "requests/s",
        "speculative_capacity",
    ),
    Entry(
        "speculative_response",
        r"E[T_{\text{spec}}]",
        "mean response of an engine that speculates",
        "s",
        "speculative_response",
    ),
    Entry(
        "break_even_running",
        "n^*",
        "running sequences beyond which speculation slows a step's tokens",
        "requests",
        "break_even_running",
    ),
    Entry(
        "break_even_load",
        r"\lambda^*",
        "arrival rate beyond which speculation lengthens responses",
        "requests/s",
        "break_even_load",
    ),
    Entry(
        "token_load",
        r"\rho_{\text{tok}}",
        "load that no number of running sequences can lower",
        "1",
        "token_load",
    ),
    Entry(
        "engine_running",
        r"E[n]",
        "mean number of running sequences without limits",
        "requests",
        "engine_running",
    ),
    Entry(
        "engine_response",
        r"E[T_{\text{eng}}]",
        "mean time of an answer without limits",
        "s",
        "engine_response",
    ),
    Entry(
        "engine_capacity",
        r"\lambda_{\text{eng}}",
        "capacity of an engine without limits",
        "requests/s",
        "engine_capacity",
    ),
    Entry("running_limit", r"n_{\max}", "most sequences that run at a time", "requests"),
    Entry(
        "limited_capacity",
        r"\lambda_{\max}",
        "capacity of an engine with such a limit",
        "requests/s",
        "limited_capacity",
    ),
    Entry("pool_tokens", r"S_{\text{pool}}", "tokens that the cache has room for", "tokens"),
    Entry(
        "memory_running",
        r"n_{\text{mem}}",
        "running sequences that fill the cache",
        "requests",
        "memory_running",
    ),
    Entry("prefix_tokens", r"S_{\text{pre}}", "tokens with which all prompts start", "tokens"),
    Entry(
        "prefix_running",
        r"n_{\text{mem}}(S_{\text{pre}})",
        "the same number, if the common start is kept once",
        "requests",
        "prefix_running",
    ),
    Entry("longest_mean", r"E[S_{\max}]", "mean of the longest answer of a batch", "tokens"),
    Entry(
        "dropped_gain",
        r"g_{\text{drop}}",
        "gain over static batches that drop finished rows",
        "1",
        "dropped_gain",
    ),
    Entry(
        "padded_gain",
        r"g_{\text{pad}}",
        "gain over static batches that pay for finished rows",
        "1",
        "padded_gain",
    ),
    Entry("experts", r"N_{\text{exp}}", "experts of a layer", "1"),
    Entry("chosen_experts", r"k_{\text{exp}}", "experts that a token is sent to", "1"),
    Entry(
        "experts_touched",
        r"E[N_{\text{hit}}]",
        "mean experts of a layer that a step reads",
        "1",
        "experts_touched",
    ),
    Entry("prompt_token_time", r"c_{\text{pre}}", "time a token of a prompt adds to a step", "s"),
    Entry("prefill_time", r"T_{\text{pre}}", "time to read one prompt alone", "s", "prefill_time"),
    Entry("prefill_mean", r"E[T_{\text{pre}}]", "mean time of reading that a prompt costs", "s"),
    Entry("prefill_second_moment", r"E[T_{\text{pre}}^2]", "its second moment", "s^2"),
    Entry("decode_step", r"s_{\text{dec}}", "time of a step in which only answers grow", "s"),
    Entry("gap_limit", r"T_{\text{gap}}", "longest time allowed between tokens", "s"),
    Entry(
        "stalled_tokens",
        r"P_{\text{stall}}",
        "share of tokens that wait for a prompt",
        "1",
        "stalled_tokens",
    ),
    Entry("mean_gap", r"E[t_{\text{tok}}]", "mean time between tokens", "s", "mean_gap"),
    Entry(
        "priority_first",
        r"E[T_{\text{first}}]",
        "mean time to the first token, prompts first",
        "s",
        "priority_first",
    ),
    Entry("phase_load", r"\rho_{\text{ph}}", "load of both phases", "1", "phase_load"),
    Entry(
        "phase_capacity",
        r"\lambda_{\text{ph}}",
        "capacity of a device with both phases",
        "requests/s",
        "phase_capacity",
    ),
    Entry(
        "phase_running",
        r"E[n_{\text{ph}}]",
        "mean number of answers in the making, prompts read beside them",
        "requests",
        "phase_running",
    ),
    Entry(
        "chunk_tokens",
        r"S_{\text{chunk}}",
        "tokens of prompts that a step has room for",
        "tokens",
        "chunk_tokens",
    ),
    Entry(
        "chunked_reading",
        r"T_{\text{read}}",
        "time to read a prompt in pieces",
        "s",
        "chunked_reading",
    ),
    Entry(
        "shared_capacity",
        r"\lambda_{\text{both}}",
        "capacity of a device with both phases, under a limit",
        "requests/s",
        "shared_capacity",
    ),
    Entry(
        "split_capacity",
        r"\lambda_{\text{split}}",
        "capacity of a device of two pools, under a limit",
        "requests/s",
        "split_capacity",
    ),
    Entry(
        "transfer_time",
        r"T_{\text{move}}",
        "time that the cache of a prompt is on its way",
        "s",
        "transfer_time",
    ),
)
"""Symbols that stand in formulas."""

LOCAL: dict[str, str] = {
    r"N": "number in the system; arrivals after the first while a window may be open",
    r"N(t)": "arrivals in a time t",
    r"P_n": "long-run share of time with n in the system",
    r"R": "what is left of the service in progress, zero if none is",
    r"A_i": "arrival of request i",
    r"D_i": "departure of request i",
    r"\tau_1": "time of the next arrival",
    r"\tau_k": "time of the k-th arrival",
    r"s": "a time already waited",
    r"T_j": "response time of the j-th request of a batch",
    r"D": "service time of a batch, for short",
    r"p_i": "share of the traffic that replica i gets",
    r"i": "index of a request",
    r"j": "place of a request in its batch, or of a token in its answer",
    r"h": "height at which a drawn axis ends",
    r"n": "count; sequences that run; also the excess of a batch over the stability bound",
    r"m": "mean number of arrivals in a given time",
    r"T_{\text{win}}": "time for which a window is open",
    r"T_{\text{batch}}": "delay of a request until its batch closes",
    r"r": "load that remains at any batch size: arrival rate times t_req",
    r"\delta": "room that is left: target less load",
    r"u": "logarithm of a batch size or of a length",
    r"W": "waiting time",
    r"P_{\text{loss}}": "share of requests that are lost",
    r"W_n": "wait of the n-th full batch",
    r"V_n": "time from the filling of the n-th batch to that of the next",
    r"V": "time from one full batch to the next",
    r"Y_n": "arrivals in n batch times, less n full batches",
    r"\Gamma_m": "time that m arrivals take",
    r"I_n": "time for which the server idles before the batch after the n-th",
    r"I": "idle time before a start",
    r"M_n": "largest value of a walk up to step n",
    r"v": "a value of V; shape of a negative binomial law",
    r"p": "a density",
    r"G": "time that a request waits for its batch to fill; of the j-th request with an index",
    r"G_j": "time from the j-th request of a batch until it is full",
    r"H_j": "time from the filling of the batch before to the j-th request",
    r"L": "requests of full batches that are left waiting",
    r"c_k": "sum over n of P(Y_n = k) / n",
    r"\theta": "argument of a generating function",
    r"Z": "standard normal number",
    r"b": "free capacity in units of the root of the batch",
    r"T": "response time, or the length of an observation",
    r"P": "probability",
    r"X": "number left waiting when a service ends",
    r"p_1": "share of services that leave 1 waiting",
    r"p_n": "share of services that leave n waiting",
    r"A": "arrivals during a service",
    r"G(\theta)": "generating function of the number left waiting",
    r"m_1": "mean number of arrivals while a batch of 1 is served",
    r"m_2": "mean number of arrivals while a batch of 2 is served",
    r"\ell": "requests that wait on when a batch starts",
    r"x_n": "share of replicas with n requests or more",
    r"W_i": "time request i spends in the system; also the mean wait of class i",
    r"\rho_i": "load of class i",
    r"\tau": "a time before the load meets the capacity",
    r"S_{\max}": "tokens of the longest sequence that an engine accepts",
    r"t_{\text{draft}}": "time that drafting one token for all takes",
    r"\psi": "share of a sequence's time in a step that each drafted token costs again",
    r"g(n)": "time of a step with n running sequences, over the tokens it yields each",
    r"\alpha_j": "chance of the j-th drafted token to be accepted, if those before it were",
    r"\pi(n)": "share of time with n sequences running",
    r"s(n)": "time of a step with n sequences",
    r"H_B": "harmonic number: 1 + 1/2 + ... + 1/B",
    r"\Gamma": "gamma function: (v - 1)! for a whole v",
    r"O": "order of growth: at most a constant times what stands in the brackets",
}
"""Letters that only derivations use, by the LaTeX that stands in the text."""


def by_name(name: str) -> Entry:
    """Look up a symbol by its Python name.

    Parameters
    ----------
    name : str
        Python name, such as ``"arrival_rate"``.

    Returns
    -------
    Entry
        Its row of the table.

    Raises
    ------
    KeyError
        If the table has no such symbol.
    """
    for entry in TABLE:
        if entry.name == name:
            return entry
    raise KeyError(f"{name!r} is not in the notation table")


def symbols(names: str, **assumptions: Any) -> tuple[sympy.Symbol, ...]:
    r"""SymPy symbols that print as the book writes them.

    Parameters
    ----------
    names : str
        Python names, separated by spaces.
    **assumptions : bool
        SymPy assumptions; ``positive=True`` unless told otherwise.

    Returns
    -------
    tuple of Symbol
        One symbol a name, in order.

    Raises
    ------
    KeyError
        If a name is not in the notation table.

    Examples
    --------
    >>> symbols("arrival_rate batch")
    (\lambda_{\text{arr}}, B)
    """
    assumptions = assumptions or {"positive": True}
    return tuple(sympy.Symbol(by_name(name).latex, **assumptions) for name in names.split())
