// What follows from the present numbers, in sentences: which batch to take, how much fits.
"use strict";

{
  const { element } = live;
  const count = (x) => x.toLocaleString("en-US");
  const ms = { unit: "ms", scale: [1, 1000] };
  const time = (si) => (si < 1 ? live.written(si, ms, 3) : live.written(si, { unit: "s", scale: [1, 1] }, 3));
  const percent = (share) => `${live.digits(100 * share, 3)} %`;

  /** Bytes in both kinds of units. */
  const bytes = (x) => {
    const power = [3, 2, 1].find((k) => x >= 1000 ** k);
    if (!power) return `${count(x)} bytes`;
    const [decimal, binary] = [[" kB", " KiB"], [" MB", " MiB"], [" GB", " GiB"]][power - 1];
    return `${live.digits(x / 1000 ** power)}${decimal} (${live.digits(x / 1024 ** power)}${binary})`;
  };

  /** Python to go on with, one click selects it all. */
  const handedOver = (...lines) =>
    element("pre", { class: "live-code", tabindex: 0, "aria-label": "Python to copy" },
      ["from serving import LinearService, exact", "", ...lines].join("\n"));
  const server = ({ t_fixed: fixed, t_req: each }) => `LinearService(t_fixed=${fixed}, t_req=${each})`;
  const exactly = (what, size, point) =>
    handedOver(`queue = exact.${what}(${point.arrival_rate}, ${size}, ${server(point)})`, "queue.mean, queue.quantile(0.99)");

  /** What the table says of one policy at most so far from the truth: within a limit, beyond, or too close. */
  const against = (value, limit, accuracy) =>
    value * (1 + accuracy) <= limit ? "within" : value * (1 - accuracy) > limit ? "beyond" : "close";

  /**
   * Fixed batches that meet the target load, by the table: the fastest, those as fast as far as
   * the table can tell, and those within the limit.
   * @returns {null | {size: number, value: number, similar: number[], within: number[]}}
   */
  live.fixedChoice = ({ terms }, point, from, to, accuracy) => {
    const rows = [];
    for (let size = from; size <= to; size++) {
      const { value } = live.attempt(terms.fixedTail, { ...point, batch: size }, true);
      if (value !== undefined) rows.push({ size, value });
    }
    if (!rows.length || rows[0].size !== from) return null; // the best might be among those left out
    const best = rows.reduce((a, b) => (b.value < a.value ? b : a));
    /** Sizes around the best for which a test holds without a gap. */
    const sizes = (test) => {
      const ends = [1, -1].map((step) => {
        let k = best.size - from;
        while (rows[k + step] && test(rows[k + step])) k += step;
        return k;
      });
      return test(best) ? rows.slice(ends[1], ends[0] + 1).map(({ size }) => size) : [];
    };
    const limit = point.response_limit;
    return {
      ...best,
      similar: sizes(({ value }) => value * (1 - accuracy) <= best.value * (1 + accuracy)),
      within: sizes(({ value }) => against(value, limit, accuracy) === "within"),
    };
  };

  const span = (sizes) => (sizes.length > 1 ? `B = ${sizes[0]} to ${sizes.at(-1)}` : `B = ${sizes[0]}`);

  const ofFixed = (verdict, point, found, accuracy) => {
    const limit = time(point.response_limit);
    const mean = live.attempt(verdict.terms.fixedMean, { ...point, batch: found.size }).value;
    const numbers = `it takes ${time(mean)} on average, and 99 in 100 requests at most ${time(found.value)}`;
    const same = found.similar.length > 1 ? ` As far as the table can tell, ${span(found.similar)} do as well.` : "";
    const words = {
      within: `which is within ${limit}. Within it: ${found.within.length ? span(found.within) : ""}.`,
      close: `too close to ${limit} for the table to tell. Compute it:`,
      beyond: `which is beyond ${limit}: no fixed batch keeps the promise at this rate.`,
    }[against(found.value, point.response_limit, accuracy)];
    return `Of the batches that meet the target load, B = ${found.size} has the shortest P99: ${numbers}, ${words}${same}`;
  };

  /** Whether the requests alone take a second of every second or more, so that no batch keeps up. */
  live.overrun = ({ arrival_rate: rate, t_req: each }) => rate * each >= 1;

  /** Why no batch of the page keeps up, and what then. */
  live.noBatch = (point, high) =>
    live.overrun(point)
      ? `No batch of any size keeps up: the requests of a second take ${time(point.arrival_rate * point.t_req)} even without the part that a batch shares. It takes fewer requests, a faster server or a second one.`
      : `No batch up to ${high} keeps up.`;

  const ofGreedy = (terms, point, accuracy) => {
    const cap = point.max_batch;
    const mean = live.attempt(terms.greedyMean, point);
    const tail = live.attempt(terms.greedyTail, point);
    const who = `A server that takes what waits, up to ${cap} requests,`;
    if (tail.value === undefined || mean.value === undefined) {
      return tail.outside.kind === "unstable"
        ? [`${who} cannot keep up${live.overrun(point) ? "" : ": its cap is below the least batch"}.`]
        : [`${who} is outside the table. Compute it:`, exactly("GreedyQueue", cap, point)];
    }
    const kind = against(tail.value, point.response_limit, accuracy);
    const limit = time(point.response_limit);
    const words = { within: `within ${limit}`, beyond: `beyond ${limit}`, close: `too close to ${limit} for the table to tell. Compute it:` }[kind];
    const said = `${who} takes ${time(mean.value)} on average, and 99 in 100 requests at most ${time(tail.value)}: ${words}${kind === "close" ? "" : "."}`;
    return kind === "close" ? [said, exactly("GreedyQueue", cap, point)] : [said];
  };

  /** The choice in a few words: whichever policy has the shorter P99, where the table can tell. */
  const chosen = (found, tail, cap, limit, accuracy) => {
    const fixed = found ? { name: `B = ${found.size}`, value: found.value } : null;
    const greedy = tail.value === undefined ? null : { name: `take what waits, up to ${cap}`, value: tail.value };
    if (!fixed || !greedy) return "";
    const [first, second] = fixed.value <= greedy.value ? [fixed, greedy] : [greedy, fixed];
    if (against(first.value, limit, accuracy) === "beyond") return "Neither keeps the promise: fewer requests, a faster server or a second one.";
    return first.value * (1 + accuracy) < second.value * (1 - accuracy)
      ? `Choose: ${first.name}.`
      : `Either will do: ${first.name}, or ${second.name}.`;
  };

  const batch = (verdict, point, spec) => {
    const { terms } = verdict;
    const { high } = spec.parameters[0];
    const { accuracy } = spec.data.queues;
    const [least, planned, surrogate] = ["least", "planned", "surrogate"].map((name) => live.attempt(terms[name], point).value);
    const target = percent(point.utilization_target);
    const tail = live.attempt(terms.greedyTail, point);
    const first = [];
    if (least === undefined) first.push(live.noBatch(point, high));
    else if (planned === undefined) first.push(`The least batch that keeps up is B = ${least}; none up to ${high} is at most ${target} busy.`);
    else first.push(`The least batch that keeps up is B = ${least}; at a load of at most ${target} it is B = ${planned}.`);
    if (least !== undefined) first.push(` The surrogate of the source would take B = ${surrogate}.`);
    const found = planned === undefined ? null : live.fixedChoice(verdict, point, planned, high, accuracy);
    const rows = [element("p", {}, ...first)];
    if (found) {
      rows.push(element("p", {}, ofFixed(verdict, point, found, accuracy)));
      if (against(found.value, point.response_limit, accuracy) === "close") rows.push(exactly("FixedBatchQueue", found.size, point));
    } else if (planned !== undefined) {
      rows.push(element("p", {}, `Fixed batches from B = ${planned} on are outside the table. Compute them:`), exactly("FixedBatchQueue", planned, point));
    }
    const [words, code] = ofGreedy(terms, point, accuracy);
    rows.push(element("p", {}, words), code);
    const head = chosen(found, tail, point.max_batch, point.response_limit, accuracy);
    return [head ? element("p", { class: "live-choice-made" }, head) : null, ...rows];
  };

  const fit = (verdict, point, spec) => {
    const setting = verdict.terms.count.of.map((one) => live.evaluate(one, point));
    const [model, accelerator, devices] = setting;
    const found = live.fit(...setting);
    const { models, accelerators } = live.data.catalog;
    const { name, context, layouts } = models[model];
    const windowed = layouts[devices].groups.some(([, , , window, encoder]) => window !== null && !encoder);
    const on = devices > 1 ? "on each device" : "on the device";
    const whole = accelerators[accelerator][1];
    const may = `of the ${bytes(found.usable)} that the engine may use of its ${bytes(whole)}`;
    const more = live.oneMore(...setting);
    const early = `${bytes(found.token)}${windowed ? " as long as no window is full" : ""}`;
    const growth = more < found.token ? `${more ? bytes(more) : "nothing"} at this length, and ${early}` : early;
    const rows = [
      `A sequence of ${count(point.tokens)} ${point.tokens === 1 ? "token" : "tokens"} of ${name} keeps ${bytes(found.sequence)} ${on}. One more token takes ${growth}.`,
      found.room
        ? `The weights take ${bytes(found.weights)} ${on}, ${may}. The cache has ${bytes(found.room)}.`
        : `The weights take ${bytes(found.weights)} ${on} and leave nothing ${may}: take more devices, or a smaller format.`,
    ];
    if (point.tokens > context) rows.push(`The model was made for ${count(context)} tokens.`);
    const fits = found.count === 1 ? "1 sequence fits." : `${count(found.count)} sequences fit.`;
    return [element("p", { class: "live-choice-made" }, fits), ...rows.map((one) => element("p", {}, one))];
  };

  live.verdicts = { batch, fit };

  /** The verdict of a chart with its terms; those that are curves stand there. */
  live.withTerms = ({ verdict, curves }) => ({
    ...verdict,
    terms: Object.fromEntries(Object.entries(verdict.terms).map(([name, term]) =>
      [name, term.curve === undefined ? term : curves.find(({ label }) => label === term.curve).term])),
  });

  /** The part of a chart that says what follows. */
  live.verdict = (chart) => {
    const verdict = live.withTerms(chart.spec);
    const made = element("div", { class: "live-verdict-words", role: "group", "aria-label": "What follows" });
    let last = null;
    const show = (point) => {
      if (point === last) return;
      last = point;
      made.replaceChildren(...live.verdicts[verdict.name](verdict, point, chart.spec).filter(Boolean));
    };
    return { made, show };
  };
}
