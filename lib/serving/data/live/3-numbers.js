// Numbers for people: units, digits, axis ticks; and elements.
"use strict";

{
  const exact = live.exact;
  const scaleOf = ({ scale: [p, q] }) => exact.of(p, q);

  /** From the SI unit to the one shown, without rounding on the way. */
  live.toShown = (si, of) => exact.number(exact.div(exact.decimal(si), scaleOf(of)));

  /** From the unit shown to the SI unit. */
  live.fromShown = (shown, of) => exact.number(exact.mul(exact.decimal(shown), scaleOf(of)));

  /** Up to so many digits, thousands apart, no exponent where it can be read without. */
  live.digits = (x, count = 4) => {
    if (x === 0) return "0";
    const size = Math.floor(Math.log10(Math.abs(x)));
    if (size < -4 || size > 8) {
      const [digits, power] = x.toExponential(count - 1).split("e");
      return `${Number(digits)} × 10^${Number(power)}`.replaceAll("-", "−");
    }
    const rounded = size >= count ? Math.round(x) : Number(x.toPrecision(count));
    const decimals = Math.max(0, count - 1 - Math.floor(Math.log10(Math.abs(rounded))));
    return rounded
      .toLocaleString("en-US", { maximumFractionDigits: decimals })
      .replace("-", "−");
  };

  /** A value in SI units as text with its unit. */
  live.written = (si, of, count = 4) => {
    const [p, q] = of.scale;
    const amount = live.digits((si * q) / p, count);
    const unit = amount === "1" ? of.unit.replace(/^(request|token|byte)s\b/, "$1") : of.unit;
    return unit ? `${amount} ${unit}` : amount;
  };

  /** Places of ticks between two ends. */
  live.ticks = (low, high, log, wanted = 6) => {
    if (log) {
      const decades = Math.log10(high / low);
      const steps = decades > 5 ? [1] : decades > 2 ? [1, 3] : [1, 2, 5];
      const found = [];
      for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
        for (const s of steps) {
          const x = Number(`${s}e${e}`);
          if (x >= low * 0.999999 && x <= high * 1.000001) found.push(x);
        }
      }
      return found;
    }
    const raw = (high - low) / wanted;
    const unit = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].find((one) => one * unit >= raw * 0.999) * unit;
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-9); k++) {
      found.push(Number((k * step).toPrecision(12)));
    }
    return found;
  };

  const SVG = "http://www.w3.org/2000/svg";
  const filled = (made, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.filter((one) => one !== null && one !== undefined));
    return made;
  };
  /** @returns {HTMLElement} */
  live.element = (tag, attributes = {}, ...children) =>
    filled(document.createElement(tag), attributes, children);
  /** @returns {SVGElement} */
  live.shape = (tag, attributes = {}, ...children) =>
    filled(document.createElementNS(SVG, tag), attributes, children);

  /** An element from markup that the package itself has printed. */
  live.parsed = (markup) => {
    const holder = document.createElement("template");
    holder.innerHTML = markup;
    return holder.content.firstElementChild;
  };
}
