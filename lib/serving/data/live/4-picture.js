// The picture: axes, curves, stacked areas, marks, and where there is nothing to draw.
"use strict";

{
  const { shape } = live;
  const MOST = 240;

  /** Places on the horizontal axis: every integer, or enough to look smooth. */
  live.places = ({ low, high, whole, log }, most = MOST) => {
    const count = whole ? Math.min(most, high - low) : most;
    const places = [];
    for (let k = 0; k <= count; k++) {
      const x = log ? low * (high / low) ** (k / count) : low + ((high - low) * k) / count;
      const place = whole ? Math.round(x) : x;
      if (place !== places.at(-1)) places.push(place);
    }
    return places;
  };

  /**
   * Values of all curves, and of the stack, at one point.
   * @returns {Object<string, {value: number} | {outside: live.Outside}>}
   */
  live.values = (spec, point, fast = false) => {
    const found = {};
    let total = { value: 0 };
    for (const curve of spec.curves) {
      const one = live.attempt(curve.term, point, fast);
      found[curve.label] = one;
      if (curve.line) continue;
      if (!total.outside) total = one.outside ? one : { value: total.value + one.value };
    }
    if (spec.kind === "stack") found.total = total;
    return found;
  };

  /** Where the stack has no top, its parts are not drawn either. */
  const emptied = (spec) => (column) => {
    if (!column.total.outside) return;
    for (const curve of spec.curves) if (!curve.line) column[curve.label] = column.total;
  };

  /** Everything that is drawn for one setting of the parameters. */
  live.computed = (spec, point, x) => {
    const places = live.places(x);
    const columns = places.map((place) => live.values(spec, { ...point, [spec.x]: place }, true));
    if (spec.kind === "stack") columns.forEach(emptied(spec));
    const along = (label) => columns.map((column) => column[label].value);
    const labels = Object.keys(columns[0]);
    const lines = Object.fromEntries(labels.map((label) => [label, along(label)]));
    const finite = Object.values(lines).flat().filter(Number.isFinite);
    return { places, columns, lines, finite, marks: marked(spec, point, x, places, lines) };
  };

  /** Where the marks are: at a quantity's value, or where a curve is least. */
  const marked = (spec, point, x, places, lines) =>
    spec.marks.map((mark) => {
      const line = lines[mark.curve];
      if (mark.at !== null) {
        const at = live.attempt(mark.at, point).value;
        if (at === undefined || !(at >= x.low && at <= x.high)) return { ...mark };
        const there = mark.curve && live.values(spec, { ...point, [spec.x]: at }, true)[mark.curve];
        return { ...mark, place: at, height: there ? there.value : undefined };
      }
      let best;
      line.forEach((y, k) => {
        if (Number.isFinite(y) && (best === undefined || y < line[best])) best = k;
      });
      return best === undefined ? { ...mark } : { ...mark, place: places[best], height: line[best] };
    });

  /** Ends of the vertical axis, in SI units. */
  const ends = ({ y }, { finite }) => {
    const sorted = [...finite].sort((a, b) => a - b);
    const most = sorted.at(-1);
    if (y.log) {
      const positive = sorted.filter((one) => one > 0);
      return [y.bottom ?? (positive[0] ?? 1) / 1.2, y.top ?? (positive.at(-1) ?? 10) * 1.2];
    }
    const typical = sorted[Math.floor(sorted.length / 2)];
    const high = y.top ?? (typical > 0 ? Math.min(most, 4 * typical) : most) * 1.05;
    return [y.bottom ?? 0, high || 1];
  };

  /** From a value to a place on the paper. */
  const scale = (low, high, from, to, log) => {
    const at = log ? Math.log : (one) => one;
    return (value) => from + ((at(value) - at(low)) / (at(high) - at(low))) * (to - from);
  };

  live.scale = scale;

  const color = (name) => `color: var(--c-${name})`;
  const line = (x1, y1, x2, y2, kind) => shape("line", { x1, y1, x2, y2, class: kind });
  const text = (x, y, words, more = {}) => shape("text", { x, y, ...more }, words);
  const short = (x) => x.toFixed(1);

  /** A path through points, broken where there is none. */
  const path = (points) => {
    let pen = "M";
    return points
      .map(([x, y]) => {
        if (!Number.isFinite(y)) { pen = "M"; return ""; }
        const piece = `${pen}${short(x)} ${short(y)}`;
        pen = "L";
        return piece;
      })
      .join("");
  };

  /** Areas between two lines, one for each stretch without a gap. */
  const area = (xs, lower, upper) => {
    let made = "";
    for (let k = 0; k < xs.length; k++) {
      if (!Number.isFinite(upper[k])) continue;
      const first = k;
      while (k + 1 < xs.length && Number.isFinite(upper[k + 1])) k++;
      const stretch = [];
      for (let j = first; j <= k; j++) stretch.push([xs[j], upper[j]]);
      for (let j = k; j >= first; j--) stretch.push([xs[j], lower[j]]);
      made += `${path(stretch)}Z`;
    }
    return made;
  };

  /** Stretches of the axis where no curve has a value, and why. */
  const empty = ({ columns }) => {
    const found = [];
    columns.forEach((column, k) => {
      const all = column.total ? [column.total] : Object.values(column);
      if (all.some((one) => !one.outside)) return;
      const { kind } = all[0].outside;
      const last = found.at(-1);
      if (last && last.to === k - 1 && last.kind === kind) last.to = k;
      else found.push({ from: k, to: k, kind });
    });
    return found;
  };

  const REASONS = {
    unstable: "unstable", domain: "not defined", large: "too large", grid: "outside the table",
    none: "none meets the limits",
  };
  live.reasons = REASONS;

  /** Places of ticks in SI units, at round numbers of the unit shown. */
  live.ticked = (a, b, { scale: [p, q] }, log, wanted) =>
    live.ticks((a * q) / p, (b * q) / p, log, wanted).map((one) => (one * p) / q);
  live.named = (what, unit) => (unit ? `${what} (${unit})` : what);

  const WIDE = 6.7; // of a letter, about
  const EDGE = 10; // room to the right of the axes
  const ABOVE = 26; // room above the axes and the labels, for the name of the vertical axis
  const ROW = 14; // height of a mark's label

  const axes = (group, frame) => {
    const { spec, x, across, up, left, right, upper, lower, low, high } = frame;
    const shownX = (si) => live.digits((si * x.scale[1]) / x.scale[0], 3);
    const shownY = (si) => live.digits((si * spec.y.scale[1]) / spec.y.scale[0], 3);
    const { ticked, named } = live;
    for (const y of ticked(low, high, spec.y, spec.y.log, 5)) {
      group.append(line(left, up(y), right, up(y), "live-grid"));
      group.append(text(left - 6, up(y) + 4, shownY(y), { "text-anchor": "end" }));
    }
    let free = 0; // numbers of an axis do not touch
    for (const at of ticked(x.low, x.high, x, x.log, right - left < 400 ? 4 : 7)) {
      const shown = shownX(at), half = shown.length * WIDE / 2;
      const middle = Math.min(across(at), right + EDGE - half);
      group.append(line(across(at), lower, across(at), lower + 4, "live-axis"));
      if (middle - half < free) continue;
      group.append(text(middle, lower + 17, shown, { "text-anchor": "middle" }));
      free = middle + half + WIDE;
    }
    group.append(line(left, lower, right, lower, "live-axis"), line(left, upper, left, lower, "live-axis"));
    const what = named(x.meaning.split(":")[0], x.unit);
    const room = right + EDGE - 4; // a longer label is pressed together, so that it is not cut off
    const wide = Math.min(what.length * WIDE, room);
    const pressed = wide === room ? { textLength: room, lengthAdjust: "spacingAndGlyphs" } : {};
    const middle = Math.min(Math.max((left + right) / 2, wide / 2 + 2), right + EDGE - 2 - wide / 2);
    group.append(text(middle, lower + 35, what, { "text-anchor": "middle", ...pressed }));
    group.append(text(left - 44, ABOVE - 10, named(spec.y.label, spec.y.unit)));
  };

  const curves = (group, frame, { places, lines }) => {
    const { spec, across, up } = frame;
    const xs = places.map(across);
    const clipped = (y) => (Number.isFinite(y) ? Math.max(up(y), frame.upper - 2000) : NaN);
    let base = places.map(() => 0);
    for (const curve of spec.curves) {
      const heights = lines[curve.label];
      if (curve.line) {
        const points = xs.map((x, k) => [x, clipped(heights[k])]);
        const kind = curve.dashed ? "live-line live-dashed" : "live-line";
        group.append(shape("path", { d: path(points), class: kind, style: color(curve.color) }));
      } else {
        const top = base.map((one, k) => one + (heights[k] ?? NaN));
        const d = area(xs, base.map(clipped), top.map(clipped));
        group.append(shape("path", { d, class: "live-area", style: color(curve.color) }));
        base = top;
      }
    }
    if (!spec.curves.every((one) => !one.line)) return;
    if (spec.kind === "stack") {
      const points = xs.map((x, k) => [x, clipped(base[k])]);
      group.append(shape("path", { d: path(points), class: "live-line", style: color("total") }));
    }
  };

  const LETTER = 7.2;
  /** Where words begin beside a place: right of it, left of it, or as far left as they need. */
  live.beside = (x, words, { left, right }) => {
    const width = LETTER * words.length;
    if (x + 6 + width <= right) return x + 6;
    return x - 6 - width >= left ? x - 6 - width : Math.max(left, right - width);
  };

  /**
   * Where the labels of marks stand: above the axes, one below the other from left to right, and
   * how far up the line of each may go without crossing the label of another.
   */
  live.labelled = (found, frame) => {
    const placed = found
      .filter(({ place }) => place !== undefined)
      .sort((one, other) => one.place - other.place)
      .map((mark, row) => {
        const words = `${mark.label}: ${live.written(mark.place, frame.x, 3)}`;
        const x = frame.across(mark.place);
        return { mark, words, x, begin: live.beside(x, words, frame), top: ABOVE + ROW * row };
      });
    return placed.map((one, row) => {
      const covers = ({ begin, words }) => one.x > begin - 3 && one.x < begin + LETTER * words.length + 3;
      const under = placed.slice(row + 1).filter(covers).pop() ?? one;
      return { ...one, from: under === one ? one.top + 2 : under.top + ROW };
    });
  };

  const marks = (group, frame, found) => {
    const { up, upper, lower } = frame;
    for (const { mark, words, x, begin, top, from } of live.labelled(found, frame)) {
      group.append(shape("line", { x1: x, x2: x, y1: lower, y2: from, class: "live-mark", style: color(mark.color) }));
      if (mark.height !== undefined) {
        const cy = Math.max(up(mark.height), upper);
        group.append(shape("circle", { cx: x, cy, r: 5, class: "live-dot", style: color(mark.color) }));
      }
      group.append(text(begin, top + 11, words, { class: "live-label", style: `color: var(--t-${mark.color})` }));
    }
  };

  const gaps = (group, frame, computed) => {
    const { across, upper, lower, left, right } = frame;
    const { places } = computed;
    for (const { from, to, kind } of empty(computed)) {
      const a = from ? across((places[from - 1] + places[from]) / 2) : left;
      const b = to + 1 < places.length ? across((places[to] + places[to + 1]) / 2) : right;
      group.append(shape("rect", { x: a, y: upper, width: b - a, height: lower - upper, class: "live-outside" }));
      const middle = (a + b) / 2;
      const upright = b - a < 70 ? { transform: `rotate(-90 ${middle} ${(upper + lower) / 2})` } : {};
      group.append(text(middle, (upper + lower) / 2 + 4, REASONS[kind], { "text-anchor": "middle", class: "live-reason", ...upright }));
    }
  };

  /** Lay out the paper for a width in pixels. */
  live.frame = (spec, x, computed, width) => live.paper(spec, x, ...ends(spec, computed), width, spec.y.log);

  /** The same, from given ends of the vertical axis. */
  live.paper = (spec, x, low, high, width, log) => {
    const above = ABOVE + ROW * spec.marks.length;
    const height = Math.round(Math.min(380, Math.max(240, width * 0.55))) + above - ABOVE;
    const [left, right, upper, lower] = [56, width - 12, above, height - 44];
    const across = scale(x.low, x.high, left, right, x.log);
    const up = scale(low, high, lower, upper, log);
    const back = (pixel) => {
      const u = Math.min(1, Math.max(0, (pixel - left) / (right - left)));
      return x.log ? x.low * (x.high / x.low) ** u : x.low + (x.high - x.low) * u;
    };
    const upBack = (pixel) => {
      const u = Math.min(1, Math.max(0, (lower - pixel) / (lower - upper)));
      return log ? low * (high / low) ** u : low + (high - low) * u;
    };
    return { spec, x, width, height, left, right, upper, lower, low, high, across, up, back, upBack };
  };

  /** Draw everything but the cursor into an svg element. */
  live.draw = (svg, frame, computed, { hidden = false } = {}) => {
    const clip = `${svg.id}-clip`;
    svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
    svg.setAttribute("height", frame.height);
    const { left, right, upper, lower } = frame;
    const inside = shape("g", { "clip-path": `url(#${clip})` });
    const outer = shape("g");
    axes(outer, frame);
    if (!hidden) {
      gaps(inside, frame, computed);
      curves(inside, frame, computed);
      marks(outer, frame, computed.marks);
    }
    svg.replaceChildren(
      shape("clipPath", { id: clip }, shape("rect", { x: left, y: upper, width: right - left, height: lower - upper + 1 })),
      inside,
      outer,
    );
  };
  live.shapes = { line, text, color };
  live.axes = axes;
}
