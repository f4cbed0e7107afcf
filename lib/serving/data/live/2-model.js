// What a chart computes: formulas inside their domains, tables inside their grids.
"use strict";

{
  /** Why there is no value at a point. */
  class Outside {
    /**
     * @param {"unstable"|"domain"|"large"|"grid"|"none"} kind
     * @param {string} name  The formula, or the quantity that leaves the grid.
     * @param {object} [more]  condition: its MathML; left, right: its sides.
     */
    constructor(kind, name, more = {}) { Object.assign(this, { kind, name }, more); }
  }
  live.Outside = Outside;

  /** Decide a condition by floats, or exactly where they cannot tell. */
  const holds = (made, floats, args, k) => {
    const [left, right] = floats.sides[k]();
    const relation = made.domain[k][0];
    const size = Math.max(Math.abs(left), Math.abs(right));
    if (Number.isFinite(size) && Math.abs(left - right) > 1e-9 * size) {
      return live.floats.holds(left, right, relation);
    }
    const exactly = made.at(live.exact, ...args.map(live.exact.decimal));
    return live.exact.holds(...exactly.sides[k](), relation);
  };

  /**
   * The value of a formula, as serving.formulas.value has it; throws Outside where it has none.
   * @param {string} name
   * @param {Object<string, number>} given  Arguments by Python name, in SI units.
   * @param {boolean} [fast]  In floats, for a curve.
   * @returns {number}
   */
  live.value = (name, given, fast = false) => {
    const made = live.formulas[name];
    const args = made.parameters.map((one) => given[one]);
    if (!args.every(Number.isFinite)) throw new Outside("domain", name);
    const floats = made.at(live.floats, ...args);
    made.domain.forEach(([, stability, condition], k) => {
      if (holds(made, floats, args, k)) return;
      const [left, right] = floats.sides[k]();
      throw new Outside(stability ? "unstable" : "domain", name, { condition, left, right });
    });
    const value = fast
      ? floats.value()
      : live.exact.number(made.at(live.exact, ...args.map(live.exact.decimal)).value());
    if (!Number.isFinite(value)) throw new Outside("large", name);
    return value;
  };

  /** Place of a number among grid lines and how far it is to the next one. */
  const place = (lines, x, name) => {
    const last = lines.length - 1;
    if (!(x >= lines[0] && x <= lines[last])) {
      throw new Outside("grid", name, { left: lines[0], right: lines[last] });
    }
    let [k, above] = [0, Math.max(last, 1)]; // lines[k] <= x, and lines[above] is beyond or the last
    while (above - k > 1) {
      const middle = (k + above) >> 1;
      if (lines[middle] > x) above = middle;
      else k = middle;
    }
    return [k, last ? (x - lines[k]) / (lines[k + 1] - lines[k]) : 0];
  };

  /** The entries around a place, weighed by how near they are. */
  const between = (table, places, axis, at) => {
    if (axis === places.length) {
      const entry = table.values[at];
      if (entry === null) throw new Outside(table.empty || "unstable", table.names[0]);
      return table.log ? Math.log(entry) : entry;
    }
    const [k, u] = places[axis];
    const there = at * table.lines[axis].length + k;
    const lower = u < 1 ? (1 - u) * between(table, places, axis + 1, there) : 0;
    return u > 0 ? lower + u * between(table, places, axis + 1, there + 1) : lower;
  };

  /** Interpolate a table between the grid lines of its quantities, and only there. */
  live.lookup = (table, point) => {
    const places = table.lines.map((lines, axis) => place(lines, point[axis], table.names[axis]));
    const sum = between(table, places, 0, 0);
    return table.log ? Math.exp(sum) : sum;
  };

  /** Whether a ratio is at most one: by floats, or exactly where they are too close to tell. */
  const within = (term, point) => {
    const { value } = live.attempt(term, point, true);
    return Math.abs(value - 1) > 1e-9 ? value < 1 : live.attempt(term, point).value <= 1;
  };

  /** The whole number at which the objective is least while no limit's ratio exceeds one. */
  const best = ({ best: name, range: [low, high], objective, limits }, point) => {
    let found;
    for (let x = low; x <= high; x++) {
      const there = { ...point, [name]: x };
      const { value } = live.attempt(objective, there, true);
      if (value === undefined || (found && value >= found.value)) continue;
      if (limits.every((one) => within(one, there))) found = { x, value };
    }
    if (!found) throw new Outside("none", name);
    return found.x;
  };

  const operations = {
    sum: (...all) => all.reduce((a, b) => a + b),
    product: (...all) => all.reduce((a, b) => a * b),
    ratio: (a, b) => a / b,
    difference: (a, b) => a - b,
    least: Math.min,
    largest: Math.max,
  };

  /**
   * The value of a term at a point; throws Outside where it has none.
   * @param {number|string|object} term  A number, a parameter, or {formula, at} and its like.
   * @param {Object<string, number>} point  Parameters by Python name, in SI units.
   * @param {boolean} [fast]
   * @returns {number}
   */
  live.evaluate = (term, point, fast = false) => {
    if (typeof term === "number") return term;
    if (typeof term === "string") return point[term];
    const inner = (one) => live.evaluate(one, point, fast);
    if (term.formula) {
      const given = { ...point };
      for (const [name, one] of Object.entries(term.at || {})) given[name] = inner(one);
      return live.value(term.formula, given, fast);
    }
    if (term.best) return best(term, point);
    if (term.lines) return live.lookup(term, term.at.map(inner));
    if (term.special) return live.specials[term.special](...term.of.map(inner));
    const value = operations[term.op](...term.of.map(inner));
    if (!Number.isFinite(value)) throw new Outside("large", term.op);
    return value;
  };

  /** The same, as a value or the reason why there is none. */
  live.attempt = (term, point, fast = false) => {
    try {
      return { value: live.evaluate(term, point, fast) };
    } catch (reason) {
      if (reason instanceof Outside) return { outside: reason };
      throw reason;
    }
  };
}
