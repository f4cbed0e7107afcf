// Sliders, number fields and draggable numbers: three ways to the same parameters.
"use strict";

{
  const { element } = live;
  const STEPS = 1000;
  let count = 0;

  /** Place of a value on its slider, 0 to STEPS. */
  const position = ({ low, high, log }, si) =>
    STEPS * (log ? Math.log(si / low) / Math.log(high / low) : (si - low) / (high - low));

  /** Value at a place of the slider: whole, or of three digits in the unit shown. */
  const valueAt = (one, place) => {
    const u = Math.min(1, Math.max(0, place / STEPS));
    const raw = one.log ? one.low * (one.high / one.low) ** u : one.low + (one.high - one.low) * u;
    if (one.whole) return Math.round(raw);
    if (u === 0) return one.low;
    if (u === 1) return one.high;
    const [p, q] = one.scale;
    const si = live.fromShown(Number(((raw * q) / p).toPrecision(3)), one);
    return Math.min(one.high, Math.max(one.low, si));
  };

  /** Slider steps for one key press; whole parameters move by one. */
  const keyStep = (one) => (one.whole && !one.log ? STEPS / (one.high - one.low) : STEPS / 100);

  /** The next value in a direction, which differs from the present one. */
  const moved = (one, si, steps) => {
    const next = valueAt(one, position(one, si) + steps * keyStep(one));
    return one.whole && next === si ? Math.min(one.high, Math.max(one.low, si + Math.sign(steps))) : next;
  };
  /** The value that the slider could show next to one. */
  const near = (one, si) => valueAt(one, position(one, si));
  Object.assign(live, { position, valueAt, moved, near });

  const KEYS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
  /** What a key asks of a slider: steps, an end, or nothing. */
  live.keyed = (one, si, key) =>
    key === "Home" ? one.low : key === "End" ? one.high : KEYS[key] ? moved(one, si, KEYS[key]) : undefined;

  const allowed = (one) => {
    const [low, high] = [one.low, one.high].map((si) => live.digits(live.toShown(si, one)));
    return `${one.whole ? "a whole number " : ""}from ${low} to ${high}${one.unit ? ` ${one.unit}` : ""}`;
  };

  /** Read a field: the value in SI units, or what is wrong with it. */
  live.read = (one, written) => {
    const words = written.trim().replace("−", "-");
    const may = `Allowed is ${allowed(one)}.`;
    if (!words) return { fault: `A number is missing. ${may}` };
    if (!/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(words)) {
      return { fault: `“${written.trim()}” is not a number. ${may}` };
    }
    const si = live.fromShown(words, one);
    if (one.whole && !Number.isInteger(si)) return { fault: `${words} is not whole. ${may}` };
    if (!(si >= one.low && si <= one.high)) return { fault: `${words} is out of range. ${may}` };
    return { si };
  };

  /**
   * One row: symbol and meaning, slider, field, unit, and a place for a message.
   * @param {object} one  The parameter.
   * @param {(si: number) => string} set  Sets it and says what is wrong, if anything is.
   */
  live.control = (one, set) => {
    const id = `live-field-${++count}`;
    const slider = element("input", { type: "range", min: 0, max: STEPS, step: "any", "aria-label": one.meaning });
    const field = element("input", {
      type: "text", id, inputmode: "decimal", autocomplete: "off", spellcheck: "false",
      "aria-describedby": `${id}-fault`, "data-parameter": one.name,
    });
    const fault = element("p", { class: "live-fault", id: `${id}-fault`, role: "alert" });
    const label = element("label", { for: id }, live.parsed(one.symbol), ` ${one.meaning}`);
    const unit = element("span", { class: "live-unit" }, one.unit);
    const row = element("div", { class: "live-control" }, label, slider, field, unit, fault);
    let shown = null;
    const complain = (words) => {
      fault.textContent = words;
      if (words) field.setAttribute("aria-invalid", "true");
      else field.removeAttribute("aria-invalid");
    };
    let refused = null;
    const ask = (si) => {
      const words = set(si);
      if (!words) show(si);
      complain(words);
      refused = words ? si : null;
    };
    slider.addEventListener("input", () => ask(valueAt(one, Number(slider.value))));
    slider.addEventListener("keydown", (event) => {
      const next = live.keyed(one, shown, event.key);
      if (next === undefined) return;
      event.preventDefault();
      ask(next);
    });
    field.addEventListener("input", () => {
      const { si, fault: words } = live.read(one, field.value);
      refused = null;
      if (words) complain(words);
      else ask(si);
    });
    field.addEventListener("keydown", (event) => {
      const steps = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (!steps) return;
      event.preventDefault();
      ask(moved(one, shown, steps));
    });
    /** Show a value that was set, here or elsewhere; anew, whatever is in the field. */
    const show = (si, anew = false) => {
      if (si === shown && !anew) return; // what is written in the field, right or wrong, stays
      shown = si;
      refused = null;
      slider.value = position(one, si);
      slider.setAttribute("aria-valuetext", live.written(si, one));
      const typed = document.activeElement === field && live.read(one, field.value).si === si;
      if (!typed || anew) field.value = live.toShown(si, one);
      complain("");
    };
    /** What stands in the field and does not count, as the chart has refused it. */
    const wanted = () => (refused === null ? {} : { [one.name]: refused });
    return { row, show, wanted, pending: () => refused !== null, accept: () => show(refused, true) };
  };

  /** A name as it stands in the address. */
  const slug = (words) => words.toLowerCase().replace(/[^a-z0-9.]+/g, "-").replace(/^-|-$/g, "");

  /**
   * A choice that sets several parameters at once, such as a model.
   * @param {{label: string, options: {label: string, values: Object<string, number>}[]}} choice
   * @param {(values: Object<string, number>) => string} take  Sets them and says what is wrong.
   */
  live.choice = ({ label, options }, take) => {
    const id = `live-field-${++count}`;
    const select = element("select", { id, "aria-describedby": `${id}-fault` }, ...options.map((one, k) => element("option", { value: k }, one.label)));
    const fault = element("p", { class: "live-fault", id: `${id}-fault`, role: "alert" });
    const row = element("div", { class: "live-control live-choice" }, element("label", { for: id }, label), select, fault);
    let taken = 0;
    const complain = (words) => {
      fault.textContent = words;
      if (words) select.setAttribute("aria-invalid", "true");
      else select.removeAttribute("aria-invalid");
    };
    const asked = () => Number(select.value);
    /** What is chosen counts from now on. */
    const accept = () => { taken = asked(); complain(""); };
    select.addEventListener("change", () => {
      const words = take(options[asked()].values);
      if (words) complain(words);
      else accept();
    });
    /** Choose an option by its name in the address, the first where there is none. */
    const choose = (name) => {
      select.value = Math.max(0, options.findIndex((one) => slug(one.label) === name));
      accept();
      return options[taken].values;
    };
    return {
      row, accept, choose,
      key: slug(label),
      chosen: () => (taken ? slug(options[taken].label) : ""),
      values: () => options[taken].values,
      pending: () => taken !== asked(),
      /** What the reader has chosen, counting or not. */
      wanted: () => options[asked()].values,
    };
  };

  /** A number in a sentence that is dragged left and right, or moved by arrow keys. */
  live.draggable = (one, get, set) => {
    const made = element("span", {
      class: "live-drag", role: "slider", tabindex: 0, "aria-label": one.meaning,
      "aria-valuemin": live.toShown(one.low, one), "aria-valuemax": live.toShown(one.high, one),
    });
    let from = null;
    made.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, place: position(one, get()) };
      made.setPointerCapture(event.pointerId);
      made.focus();
      event.preventDefault();
    });
    made.addEventListener("pointermove", (event) => {
      if (from) set(valueAt(one, from.place + (event.clientX - from.x) * 3));
    });
    for (const end of ["pointerup", "pointercancel"]) made.addEventListener(end, () => { from = null; });
    made.addEventListener("keydown", (event) => {
      const next = live.keyed(one, get(), event.key);
      if (next === undefined) return;
      event.preventDefault();
      set(next);
    });
    const show = (si) => {
      made.textContent = live.written(si, one);
      made.setAttribute("aria-valuenow", live.toShown(si, one));
      made.setAttribute("aria-valuetext", live.written(si, one));
    };
    return { made, show };
  };
}
