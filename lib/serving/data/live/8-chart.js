// One chart: its state, its parts, and how a change runs through them in one frame.
"use strict";

{
  const { element, shape } = live;
  let count = 0;

  /** Settings of a chart in the page's address, under its name. */
  const address = (name) => {
    const read = () => {
      const words = new URLSearchParams(location.search).get(name) || "";
      return Object.fromEntries(words.split(",").filter(Boolean).map((one) => one.split(":")));
    };
    const write = (settings) => {
      const query = new URLSearchParams(location.search);
      const words = Object.entries(settings).map(([key, value]) => `${key}:${value}`).join(",");
      if (words) query.set(name, words);
      else query.delete(name);
      const asked = String(query).replaceAll("%3A", ":").replaceAll("%2C", ",");
      try {
        history.replaceState(history.state, "", `${location.pathname}${asked ? `?${asked}` : ""}${location.hash}`);
      } catch { /* some browsers keep the address of a page on a disk as it is */ }
    };
    return { read, write };
  };

  class Chart {
    /** @param {HTMLElement} root  The figure that holds the data. */
    constructor(root) {
      this.root = root;
      this.spec = JSON.parse(root.dataset.live);
      this.name = root.id.replace(/^live-/, "");
      this.kind = live.kinds[this.spec.kind];
      this.strict = Boolean(this.spec.verdict && this.spec.verdict.strict);
      Object.assign(live.data, this.spec.data);
      this.x = this.spec.parameters[0];
      this.defaults = { ...this.spec.fixed };
      for (const one of this.spec.parameters) this.defaults[one.name] = one.value;
      this.point = { ...this.defaults };
      this.address = root.closest(".jp-OutputArea, .jp-Notebook") ? null : address(this.name);
      const given = this.address ? this.address.read() : {};
      // Who follows an address with settings is shown what its sender saw, and not asked first.
      this.hidden = Boolean(this.spec.guess) && !Object.keys(given).length;
      this.build();
      this.restore();
      this.computed = this.compute(this.point);
      if (!this.computed) { // what the address asks for is refused
        this.point = { ...this.defaults };
        for (const select of this.selects) select.choose("");
        this.computed = this.compute(this.point);
      }
      this.redraw();
    }

    /** Put the parts into the figure. */
    build() {
      const { spec } = this;
      this.svg = shape("svg", { class: "live-picture", id: `live-svg-${++count}`, role: "img", width: "100%" });
      this.legend = element("ul", { class: "live-legend" });
      this.status = element("p", { class: "live-status", role: "status", "aria-live": "polite" });
      this.controls = new Map(spec.parameters.map((one) => [one.name, live.control(one, (si) => this.set(one.name, si))]));
      const reset = element("button", { type: "button", class: "live-reset" }, "Reset to the text’s values");
      reset.addEventListener("click", () => this.reset());
      this.selects = spec.presets.map((choice) => live.choice(choice, (values) => this.take(values)));
      const rows = [...this.selects, ...this.controls.values()].map(({ row }) => row);
      this.below = [this.legend, element("div", { class: "live-controls", role: "group", "aria-label": "Parameters" }, ...rows, reset)];
      this.followers = [];
      const parts = { verdict: live.verdict, sentence: live.sentence, equation: ({ spec: { equation } }) => live.equation(equation) };
      for (const [part, make] of Object.entries(parts)) {
        if (!spec[part]) continue;
        const made = make(this);
        this.below.push(made.made);
        this.followers.push(made.show);
      }
      if (spec.note) this.below.push(element("p", { class: "live-note" }, spec.note));
      this.guess = this.hidden ? live.guess(this) : null;
      this.root.append(this.svg, ...(this.guess ? [this.guess.made] : []), ...this.below, this.status);
      for (const part of this.below) part.hidden = this.hidden;
      this.listen();
      this.root.dataset.ready = "";
    }

    /** Pointing at the picture reads values off; pressing and dragging moves the parameter. */
    listen() {
      const { svg } = this;
      let pressed = false;
      const at = (event) => {
        const box = svg.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
      };
      const place = (pixel) => live.near(this.x, this.frame.back(pixel));
      svg.addEventListener("pointerdown", (event) => {
        pressed = true;
        svg.setPointerCapture(event.pointerId);
        this.pressedAt(at(event), place);
      });
      svg.addEventListener("pointermove", (event) => {
        if (pressed) this.pressedAt(at(event), place);
        else if (!this.hidden && event.pointerType === "mouse" && this.frame.back) this.hover(place(at(event)[0]));
      });
      for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { pressed = false; });
      svg.addEventListener("pointerleave", () => this.hover(null));
      if (globalThis.ResizeObserver) new ResizeObserver(() => this.redraw()).observe(this.root);
    }

    pressedAt([x, y], place) {
      if (this.hidden) this.guess.drag(this.frame, y);
      else if (this.frame.back) this.set(this.x.name, place(x));
      if (this.frame.other) this.set(this.frame.other.name, live.near(this.frame.other, this.frame.upBack(y)));
    }

    hover(x) {
      this.hovered = x;
      this.redraw();
    }

    /** Take over settings of the page's address, those that are allowed. */
    restore() {
      if (!this.address) return;
      const settings = this.address.read();
      for (const select of this.selects) Object.assign(this.point, select.choose(settings[select.key]));
      for (const [name, words] of Object.entries(settings)) {
        const one = this.spec.parameters.find((other) => other.name === name);
        const si = Number(words);
        if (one && words.trim() && si >= one.low && si <= one.high && (!one.whole || Number.isInteger(si))) this.point[name] = si;
      }
    }

    /** Compute a picture, or nothing where no curve has a value anywhere. */
    compute(point) {
      if (this.strict && Object.values(live.values(this.spec, point)).some((one) => one.outside)) return null;
      const computed = this.kind.compute(this.spec, point, this.x);
      return computed.finite.length ? computed : null;
    }

    /**
     * Set a parameter, in SI units.
     * @returns {string} What is wrong, if no curve has a value; then everything stays as it was.
     */
    set(name, si) {
      return this.kind.redraws(this.spec, name) || this.strict || this.pending().length
        ? this.take({ [name]: si })
        : this.move({ ...this.point, [name]: si });
    }

    /** Set several parameters at once. @returns {string} What is wrong, as for one. */
    take(values) {
      const pending = this.pending();
      const wanted = Object.assign({}, this.point, ...pending.map((one) => one.wanted()), values);
      const computed = this.compute(wanted);
      if (computed) { // with this, what was refused before may count
        for (const one of pending) one.accept();
        return this.move(wanted, computed);
      }
      const point = { ...this.point, ...values };
      const without = pending.length ? this.compute(point) : null;
      return without ? this.move(point, without) : this.complaint(point);
    }

    /** Choices and fields that hold what does not count, or not yet. */
    pending() {
      return [...this.selects, ...this.controls.values()].filter((one) => one.pending());
    }

    move(point, computed = this.computed) {
      Object.assign(this, { computed, point, hovered: null });
      this.redraw();
      this.remember();
      return "";
    }

    complaint(point) {
      const kinds = Object.values(live.values(this.spec, point)).filter((one) => one.outside);
      const { kind, words } = kinds[0].outside;
      if (words) return `${words} The picture shows the last values.`;
      return kind === "unstable"
        ? `Beyond capacity: with this, nothing on the chart is stable. The picture shows the last values that are.`
        : `With this, nothing on the chart is defined (${live.reasons[kind]}). The picture shows the last values.`;
    }

    reset() {
      this.point = { ...this.defaults };
      this.computed = this.compute(this.point);
      this.hovered = null;
      for (const select of this.selects) select.choose("");
      for (const [name, { show }] of this.controls) show(this.point[name], true);
      this.redraw();
      this.remember();
    }

    /** Write into the address what differs from the text's values, once nothing moves any more. */
    remember() {
      if (!this.address) return;
      clearTimeout(this.remembering);
      this.remembering = setTimeout(() => {
        this.remembering = 0; // nothing is left to write
        const chosen = this.selects.map((select) => [select.key, select.chosen()]).filter(([, one]) => one);
        const start = Object.assign({}, this.defaults, ...this.selects.map((select) => select.values()));
        const moved = this.spec.parameters.map(({ name }) => [name, this.point[name]]).filter(([name, si]) => si !== start[name]);
        this.address.write(Object.fromEntries([...chosen, ...moved]));
      }, 200);
    }

    reveal() {
      this.hidden = false;
      for (const part of this.below) part.hidden = false;
      this.redraw();
      this.controls.get(this.x.name).row.querySelector("input").focus();
    }

    /** Ask for a new picture in the next frame; several changes in one frame make one picture. */
    redraw() {
      if (this.waiting) return;
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.render();
      });
    }

    render() {
      const { spec, x, point } = this;
      const width = Math.max(280, Math.round(this.root.clientWidth) || 640);
      const values = live.values(spec, point);
      this.frame = this.kind.frame(spec, x, this.computed, width);
      this.kind.draw(this.svg, this.frame, this.computed, { hidden: this.hidden });
      if (this.guess) this.guess.draw(this.svg, this.frame);
      const seen = this.hovered === null || this.hovered === undefined ? point : { ...point, [x.name]: this.hovered };
      if (!this.hidden) this.cursor(seen);
      this.readout(seen, seen === point ? values : live.values(spec, seen));
      for (const [name, { show }] of this.controls) show(point[name]);
      for (const follow of this.followers) follow(point, values);
    }

    cursor(point) {
      const [x, y] = this.kind.cursor(this.frame, point);
      const { upper, lower, left, right } = this.frame;
      if (x !== undefined) this.svg.append(shape("line", { x1: x, x2: x, y1: upper, y2: lower, class: "live-cursor" }));
      if (y !== undefined) this.svg.append(shape("line", { x1: left, x2: right, y1: y, y2: y, class: "live-cursor" }));
    }

    /** Say the values at the cursor: in the legend at once, to listeners when all is quiet. */
    readout(point, values) {
      const { spec } = this;
      const said = (found) => (found.outside ? live.reasons[found.outside.kind] : live.written(found.value, spec.y));
      const rows = spec.curves.map((curve) =>
        element("li", { class: `live-key${curve.line ? " live-key-line" : ""}${curve.dashed ? " live-key-dashed" : ""}`, style: live.shapes.color(curve.color) },
          element("span", {}, `${curve.label} `, element("output", {}, said(values[curve.label])))));
      if (values.total) rows.push(element("li", {}, element("span", {}, "total ", element("output", {}, said(values.total)))));
      const without = spec.curves.map(({ label }) => values[label].outside).find(Boolean);
      if (without) rows.push(element("li", { class: "live-verdict" }, ...[live.reason(without)].flat()));
      const verdict = this.kind.said ? this.kind.said(spec, point) : "";
      if (verdict) rows.push(element("li", { class: "live-verdict" }, element("output", {}, verdict)));
      const where = this.kind.where(spec).map((one) => live.written(point[one.name], one)).join(" and ");
      const head = where ? [element("li", { class: "live-where" }, `at ${where}:`)] : [];
      this.legend.replaceChildren(...head, ...rows);
      const words = `${where ? `At ${where}: ` : ""}${spec.curves.map(({ label }) => {
        const found = values[label];
        return `${label} ${found.outside ? live.reasons[found.outside.kind] : live.written(found.value, spec.y)}`;
      }).join(", ")}.${verdict ? ` There: ${verdict}.` : ""}`;
      this.svg.setAttribute("aria-label", `${this.root.querySelector("figcaption").textContent}. ${this.hidden ? "The curves are hidden until you guess." : words}`);
      clearTimeout(this.speaking);
      this.speaking = setTimeout(() => { if (!this.hidden && this.said) this.status.textContent = words; this.said = true; }, 400);
    }

    /** All values at a point, exactly as shown; for tests and for other scripts. */
    evaluate(point) {
      const whole = { ...this.defaults, ...point };
      const found = live.values(this.spec, whole);
      if (this.spec.equation) found.equation = live.attempt(this.spec.equation.term, whole);
      return found;
    }
  }

  /** Of the data in a figure: that of a page made by another version is not understood. */
  live.LAYOUT = 1; // as in lib/serving/live.py

  const STANDS = "This picture stands still: it was made by another version of the book’s programs than the page.";

  const mount = () => {
    for (const root of document.querySelectorAll("figure.live[data-live]:not([data-ready], [data-stands])")) {
      if (JSON.parse(root.dataset.live).layout === live.LAYOUT) {
        root.live = new Chart(root);
      } else {
        root.dataset.stands = "";
        root.append(element("p", { class: "live-note" }, STANDS));
      }
    }
  };

  /** Bring every chart of the page to life, now and, in a notebook, whenever one appears. */
  live.start = () => {
    mount();
    if (live.watching || !document.querySelector(".jp-LabShell, .jp-Notebook, [data-jupyter-api-version], #ipython_notebook")) return;
    live.watching = true;
    new MutationObserver(mount).observe(document.body, { childList: true, subtree: true });
  };
}
