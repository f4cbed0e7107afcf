// What stands under the picture: the equation with numbers put in, the sentence, reasons in words.
"use strict";

{
  const { element } = live;
  const MATHML = "http://www.w3.org/1998/Math/MathML";

  const sign = (name, words) => {
    const made = document.createElementNS(MATHML, name);
    made.textContent = words;
    return made;
  };

  /** A number as MathML, powers of ten written out. */
  const numeral = (x) => {
    const [digits, power] = live.digits(x).split(" × 10^");
    if (power === undefined) return sign("mn", digits);
    const row = document.createElementNS(MATHML, "mrow");
    const raised = document.createElementNS(MATHML, "msup");
    raised.append(sign("mn", "10"), sign("mn", power));
    row.append(sign("mn", digits), sign("mo", "·"), raised);
    return row;
  };

  /** Put the values of symbols into MathML; a symbol without a value stays. */
  const numbered = (math, value) => {
    const copy = math.cloneNode(true);
    for (const brace of copy.querySelectorAll("munder[class]")) {
      const term = brace.firstElementChild.firstElementChild;
      term.setAttribute("class", brace.getAttribute("class"));
      brace.replaceWith(term);
    }
    for (const symbol of copy.querySelectorAll("[data-symbol]")) {
      const x = value(symbol.dataset ? symbol.dataset.symbol : symbol.getAttribute("data-symbol"));
      if (x !== undefined) symbol.replaceChildren(numeral(x));
    }
    for (const times of copy.querySelectorAll(".times")) times.textContent = "·";
    return copy;
  };
  live.numbered = numbered;

  /** Arguments of an equation's formula at a point, and the formulas of them that it names. */
  const symbolsAt = (equation, point) => {
    const given = { ...point };
    for (const [name, term] of Object.entries(equation.term.at || {})) {
      given[name] = live.attempt(term, point).value;
    }
    return (name) =>
      equation.parameters.includes(name) ? given[name]
        : live.formulas[name] ? live.attempt({ formula: name }, given).value : undefined;
  };

  /** The equation in symbols, and below it in numbers. */
  live.equation = (equation) => {
    const right = live.parsed(equation.right);
    const symbols = element("p", {}, live.parsed(equation.left), " = ", right);
    const numbers = element("p");
    const made = element("div", { class: "live-equation", tabindex: 0, role: "group", "aria-label": "The equation, with the present numbers put in" }, symbols, numbers);
    const show = (point) => {
      const { value, outside } = live.attempt(equation.term, point);
      const result = outside ? live.reason(outside) : live.written(value, equation);
      numbers.replaceChildren(
        live.parsed(equation.left), " = ", numbered(right, symbolsAt(equation, point)), " = ",
        element("output", { class: outside ? "live-outside-words" : "" }, ...[result].flat()),
        element("span", { class: "live-unit" }, " (numbers in SI units)"),
      );
    };
    return { made, show };
  };

  /** Why there is no value, in words and numbers. */
  live.reason = (outside) => {
    const { kind, condition, left, right } = outside;
    if (outside.words) return outside.words;
    if (kind === "grid" && Number.isFinite(left + right)) return `outside the table (${live.digits(left)} to ${live.digits(right)})`;
    if (kind === "none" || kind === "grid") return live.reasons[kind];
    if (kind === "large") return "too large to be shown";
    const failure = kind === "unstable" ? "unstable" : "not defined";
    if (!condition || !Number.isFinite(left + right)) return failure;
    return [`${failure}: `, live.parsed(condition), ` does not hold, ${live.digits(left)} against ${live.digits(right)}`];
  };

  /** A sentence whose numbers can be dragged and whose results follow. */
  live.sentence = (chart) => {
    const { spec } = chart;
    const followers = [];
    const parts = spec.sentence.map(([kind, what]) => {
      if (kind === "text") return what;
      if (kind === "parameter") {
        const one = spec.parameters.find(({ name }) => name === what);
        const { made, show } = live.draggable(one, () => chart.point[what], (si) => chart.set(what, si));
        followers.push((point) => show(point[what]));
        return made;
      }
      const result = element("output");
      followers.push((point, values) => {
        const found = kind === "curve" ? values[what] : live.attempt(what.term, point);
        const of = kind === "curve" ? spec.y : what;
        result.textContent = found.outside ? live.reasons[found.outside.kind] : live.written(found.value, of);
      });
      return result;
    });
    const made = element("p", { class: "live-sentence" }, ...parts);
    return { made, show: (point, values) => followers.forEach((one) => one(point, values)) };
  };
}
