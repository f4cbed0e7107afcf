// Two arithmetics for the printed formulas: floats for curves, exact fractions for single values.
"use strict";
globalThis.live = globalThis.live || {};

{
  /** @typedef {{n: bigint, d: bigint}} Fraction  An exact number; d is positive. */
  /** @typedef {Fraction | number} Mixed  A float once a root or a logarithm has been taken. */

  /** log(sinh(x) / x) with all its digits near 0. @param {number} x @returns {number} */
  const logSinhc = (x) =>
    x < 0.1
      ? x ** 2 / 6 - x ** 4 / 180 + x ** 6 / 2835 - x ** 8 / 37800
      : x + Math.log(-Math.expm1(-2 * x)) - Math.log(2 * x);

  /** 1 - (1 - exp(-x)) / x with all its digits near 0. @param {number} x @returns {number} */
  const forgotten = (x) =>
    x < 0.1
      ? x / 2 - x ** 2 / 6 + x ** 3 / 24 - x ** 4 / 120 + x ** 5 / 720 - x ** 6 / 5040 + x ** 7 / 40320
      : 1 + Math.expm1(-x) / x;

  /** @param {number} a @param {number} b @param {string} relation @returns {boolean} */
  const compared = (a, b, relation) =>
    relation === "<" ? a < b : relation === "<=" ? a <= b : relation === ">" ? a > b : a >= b;

  const shared = {
    exp: Math.exp, log: Math.log, expm1: Math.expm1, sinh: Math.sinh, log_sinhc: logSinhc,
    forgotten,
  };

  live.floats = {
    ...shared,
    of: (p, q = 1) => p / q,
    number: (x) => x,
    add: (a, b, ...more) => more.reduce((sum, x) => sum + x, a + b),
    mul: (a, b, ...more) => more.reduce((product, x) => product * x, a * b),
    neg: (x) => -x,
    div: (a, b) => a / b,
    pow: (x, n) => x ** n,
    power: (x, p, q) => x ** (p / q),
    sqrt: Math.sqrt,
    max: Math.max,
    min: Math.min,
    log1p: (x) => (x < -0.5 ? Math.log(1 + x) : Math.log1p(x)),
    holds: compared,
  };

  /** @param {bigint} x @returns {number} Count of binary digits. */
  const bits = (x) => x.toString(16).length * 4;

  /** @param {bigint} n @param {bigint} d @returns {Fraction} */
  const reduced = (n, d) => {
    let [a, b] = [n < 0n ? -n : n, d];
    while (b) [a, b] = [b, a % b];
    const sign = d < 0n ? -1n : 1n;
    a = a < 0n ? -a : a || 1n;
    return { n: (sign * n) / a, d: (sign * d) / a };
  };

  /** The decimal that a number prints as. @param {number|string} x @returns {Fraction} */
  const decimal = (x) => {
    const [, sign, whole, part = "", power = "0"] =
      /^(-?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(String(x)) || [];
    if (whole === undefined || whole + part === "") throw new RangeError(`${x} is no number`);
    const shift = Number(power) - part.length;
    const digits = BigInt(sign + whole + part);
    return shift < 0 ? reduced(digits, 10n ** BigInt(-shift)) : { n: digits * 10n ** BigInt(shift), d: 1n };
  };

  /** The nearest float. @param {Mixed} x @returns {number} */
  const number = (x) => {
    if (typeof x === "number") return x;
    const size = x.n < 0n ? -x.n : x.n;
    const shift = bits(x.d) - bits(size) + 72;
    const scaled = shift > 0 ? size << BigInt(shift) : size;
    const divisor = shift > 0 ? x.d : x.d << BigInt(-shift);
    const left = scaled % divisor ? 1n : 0n; // no tie where digits are left
    const near = Number(((scaled / divisor) << 1n) | left);
    const half = Math.trunc(-(shift + 1) / 2);
    const result = near * 2 ** half * 2 ** (-(shift + 1) - half);
    return x.n < 0n ? -result : result;
  };

  /** Make an operation of one that needs fractions and one for floats. */
  const mixed = (exactly, roughly) => (a, b) =>
    typeof a === "number" || typeof b === "number"
      ? roughly(number(a), number(b))
      : exactly(a, b);
  const add = mixed((a, b) => reduced(a.n * b.d + b.n * a.d, a.d * b.d), (a, b) => a + b);
  const mul = mixed((a, b) => reduced(a.n * b.n, a.d * b.d), (a, b) => a * b);
  const less = mixed((a, b) => a.n * b.d < b.n * a.d, (a, b) => a < b);
  const neg = (x) => (typeof x === "number" ? -x : { n: -x.n, d: x.d });
  const one = { n: 1n, d: 1n };

  live.exact = {
    ...Object.fromEntries(
      Object.entries(shared).map(([name, f]) => [name, (/** @type {Mixed} */ x) => f(number(x))]),
    ),
    of: (p, q = 1) => ({ n: BigInt(p), d: BigInt(q) }),
    number,
    decimal,
    add: (...terms) => terms.reduce(add),
    mul: (...factors) => factors.reduce(mul),
    neg,
    div: mixed(
      (a, b) => (b.n ? reduced(a.n * b.d, a.d * b.n) : NaN),
      (a, b) => a / b,
    ),
    pow: (x, n) => (typeof x === "number" ? x ** n : { n: x.n ** BigInt(n), d: x.d ** BigInt(n) }),
    power: (x, p, q) => number(x) ** (p / q),
    sqrt: (x) => Math.sqrt(number(x)),
    max: (...all) => all.reduce((a, b) => (less(a, b) ? b : a)),
    min: (...all) => all.reduce((a, b) => (less(b, a) ? b : a)),
    log1p: (x) =>
      less(x, { n: -1n, d: 2n }) ? Math.log(number(add(one, x))) : Math.log1p(number(x)),
    holds: (a, b, relation) =>
      relation === "<" ? less(a, b)
        : relation === ">" ? less(b, a)
          : relation === "<=" ? !less(b, a) : !less(a, b),
  };
}
