// How many sequences fit: the arithmetic of serving.kvcache over layouts that the page is given.
"use strict";

{
  live.data = {};

  /** Refuse, in words. */
  const refuse = (words) => { throw new live.Outside("domain", "fit", { words }); };

  /** Bytes of numbers that are kept side by side, in a format of the list. */
  const rowBytes = (numbers, [name, together, size]) =>
    numbers % together
      ? refuse(`${name} stores ${together} numbers together, so a row of ${numbers} numbers cannot be stored.`)
      : (numbers / together) * size;

  /** Tokens that a group keeps of a sequence. */
  const kept = ([, , , window, encoder], tokens) =>
    encoder ? window : window === null ? tokens : Math.min(tokens, window);

  /** Quotients of whole numbers that floats may not hold, rounded down or up. */
  const over = (a, b) => Number(a / b);
  const overUp = (a, b) => Number((a + b - 1n) / b);

  /**
   * All that is to be known of a choice, in bytes on each device; throws Outside where it is refused.
   * @returns {{token: number, sequence: number, weights: number, usable: number, room: number, count: number}}
   */
  live.fit = (model, accelerator, devices, cacheFormat, weightFormat, share, tokens) => {
    const { models, accelerators, formats } = live.data.catalog;
    const { parameters, layouts } = models[model];
    const layout = layouts[devices];
    if (typeof layout === "string") refuse(`${layout}.`);
    if (!Number.isInteger(tokens) || tokens < 1) refuse("The tokens of a sequence are a whole number, at least 1.");
    if (layout.context !== null && tokens > layout.context) {
      refuse(`The configuration of ${models[model].name} states ${layout.context.toLocaleString("en-US")} tokens as the longest sequence.`);
    }
    const rows = layout.groups.map((group) => {
      const [layers, keys, values, , , own] = group;
      const format = formats[own ?? cacheFormat];
      return { group, bytes: layers * (rowBytes(keys, format) + rowBytes(values, format)) };
    });
    const all = (block) => rows.reduce((sum, { group, bytes }) =>
      sum + Math.ceil(kept(group, tokens) / block) * block * bytes, layout.states);
    const [, together, size] = formats[weightFormat];
    const weights = overUp(BigInt(parameters) * BigInt(size), BigInt(together) * BigInt(devices));
    const { n, d } = live.exact.decimal(share);
    const usable = over(n * BigInt(accelerators[accelerator][1]), d);
    const room = Math.max(0, usable - weights);
    return {
      token: rows.reduce((sum, { group, bytes }) => sum + (group[4] ? 0 : bytes), 0),
      sequence: all(1),
      weights,
      usable,
      room,
      count: over(BigInt(room), BigInt(all(16))),
    };
  };

  /** Bytes that one more token takes on each device; where a sequence may not grow, what its last one took. */
  live.oneMore = (...setting) => {
    const tokens = setting[setting.length - 1];
    const [model, , devices] = setting;
    const { context } = live.data.catalog.models[model].layouts[devices];
    const before = tokens === context ? tokens - 1 : tokens;
    const sequence = (length) => live.fit(...setting.slice(0, -1), length).sequence;
    return sequence(before + 1) - sequence(before);
  };
}
