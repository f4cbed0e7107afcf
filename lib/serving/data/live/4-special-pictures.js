// Pictures that are no curves: bars, a region of what is allowed, requests on a time axis.
"use strict";

{
  const { shape } = live;
  const { text, line, color } = live.shapes;

  /** Curves and stacks over the horizontal axis: only other parameters change the picture. */
  const plain = {
    compute: live.computed,
    frame: live.frame,
    draw: live.draw,
    redraws: (spec, name) => name !== spec.x,
    cursor: (frame, point) => [frame.across(point[frame.spec.x])],
    where: (spec) => [spec.parameters[0]],
  };

  const start = (svg, frame) => {
    svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
    svg.setAttribute("height", frame.height);
    svg.replaceChildren();
    return svg;
  };

  /** One bar a curve, at the present parameters. */
  const bars = {
    redraws: () => true,
    cursor: () => [],
    where: () => [],
    compute: (spec, point) => {
      const found = live.values(spec, point, true);
      return { found, finite: Object.values(found).map((one) => one.value).filter(Number.isFinite) };
    },
    frame: (spec, x, computed, width) => {
      const [left, right, upper] = [8, width - 12, 8];
      const lower = upper + 44 * spec.curves.length;
      const high = spec.y.top ?? Math.max(...computed.finite) * 1.05;
      const positive = computed.finite.filter((one) => one > 0);
      const low = spec.y.bottom ?? (spec.y.log ? Math.min(...positive) / 2 : 0);
      const across = live.scale(low, high, left, right, spec.y.log);
      return { spec, width, height: lower + 40, left, right, upper, lower, low, high, across };
    },
    draw: (svg, frame, computed) => {
      const { spec, left, right, upper, lower, low, high, across } = frame;
      start(svg, frame);
      for (const at of live.ticked(low, high, spec.y, spec.y.log, right - left < 400 ? 4 : 6)) {
        svg.append(line(across(at), upper, across(at), lower, "live-grid"));
        svg.append(text(across(at), lower + 15, live.written(at, { ...spec.y, unit: "" }, 3), { "text-anchor": "middle" }));
      }
      svg.append(text((left + right) / 2, lower + 33, live.named(spec.y.label, spec.y.unit), { "text-anchor": "middle" }));
      spec.curves.forEach((curve, k) => {
        const { value, outside } = computed.found[curve.label];
        const y = upper + 44 * k;
        const width = outside ? 0 : Math.max(0, Math.min(right, across(value)) - left);
        svg.append(shape("rect", { x: left, y: y + 16, width, height: 22, class: "live-area", style: color(curve.color) }));
        const shown = outside ? live.reasons[outside.kind] : live.written(value, spec.y);
        svg.append(text(left, y + 12, `${curve.label}: ${shown}`, { class: "live-label" }));
      });
    },
  };

  /** Which limit is closest or most exceeded: the one of the largest ratio, before one without. */
  const binding = (spec, point, fast) => {
    let worst = { ratio: -Infinity };
    let without = null;
    for (const curve of spec.curves) {
      const { value, outside } = live.attempt(curve.term, point, fast);
      if (outside) without ??= { ratio: Infinity, curve };
      else if (value > worst.ratio) worst = { ratio: value, curve };
    }
    return without && !(worst.ratio > 1) ? without : worst;
  };
  live.binding = binding;

  const COLUMNS = 96;
  const ROWS = 72;

  /** Where every ratio is at most one, over two parameters; elsewhere the limit most exceeded. */
  const region = {
    redraws: (spec, name) => name !== spec.x && name !== spec.vertical,
    compute: (spec, point, x) => {
      const other = spec.parameters.find(({ name }) => name === spec.vertical);
      const cut = (one, count) => {
        const places = live.places(one, count);
        const middle = (a, b) => (one.log ? Math.sqrt(a * b) : (a + b) / 2);
        const ends = places.map((place, k) => (k ? middle(places[k - 1], place) : one.low));
        return { places, ends: [...ends, one.high] };
      };
      const [columns, rows] = [cut(x, COLUMNS), cut(other, ROWS)];
      const there = { ...point }; // one object for all cells: thousands of copies take a while
      const cells = rows.places.map((row) => {
        there[spec.vertical] = row;
        return columns.places.map((column) => {
          there[spec.x] = column;
          return binding(spec, there, true);
        });
      });
      return { columns, rows, cells, other, finite: cells.flat().map(({ ratio }) => ratio).filter(Number.isFinite) };
    },
    frame: (spec, x, { other }, width) => {
      const made = live.paper({ ...spec, y: { ...other, label: other.meaning } }, x, other.low, other.high, width, other.log);
      return { ...made, other };
    },
    draw: (svg, frame, { columns, rows, cells }) => {
      start(svg, frame);
      const { across, up } = frame;
      const areas = new Map();
      cells.forEach((row, j) => {
        const [top, bottom] = [up(rows.ends[j + 1]), up(rows.ends[j])].map((y) => y.toFixed(1));
        for (let k = 0; k < row.length; k++) {
          const first = k;
          const kind = ({ ratio, curve }) => (ratio <= 1 ? null : curve);
          while (k + 1 < row.length && kind(row[k + 1]) === kind(row[first])) k++;
          const curve = kind(row[first]);
          if (!curve) continue;
          const [left, right] = [first, k + 1].map((one) => across(columns.ends[one]).toFixed(1));
          areas.set(curve, `${areas.get(curve) || ""}M${left} ${top}H${right}V${bottom}H${left}Z`);
        }
      });
      for (const [curve, d] of areas) svg.append(shape("path", { d, class: "live-forbidden", style: color(curve.color) }));
      live.axes(svg, frame);
    },
    cursor: (frame, point) => [frame.across(point[frame.spec.x]), frame.up(point[frame.other.name])],
    where: (spec) => spec.parameters.filter(({ name }) => name === spec.x || name === spec.vertical),
    said: (spec, point) => {
      const { ratio, curve } = binding(spec, point);
      return ratio <= 1
        ? `allowed; closest to its limit: ${curve.label}, at ${live.digits(100 * ratio, 3)} %`
        : `not allowed: ${curve.label}`;
    },
  };

  /** Requests on a time axis: a line while one waits, a block while its batch is served. */
  const gantt = {
    redraws: () => true,
    cursor: () => [],
    where: () => [],
    compute: (spec, point) => {
      const lanes = spec.curves.map((curve) => {
        const setting = curve.term.of.map((one) => live.evaluate(one, point));
        const batches = live.replay(...setting).filter(({ arrivals }) => arrivals[0] <= 1);
        return { curve, batches, most: Math.max(1, ...batches.map(({ arrivals }) => arrivals.length)) };
      });
      return { lanes, finite: lanes.map(({ batches }) => batches.length) };
    },
    frame: (spec, x, { lanes }, width) => {
      const [left, right, upper, lane] = [8, width - 8, 4, 104];
      const lower = upper + lane * lanes.length;
      return { spec, width, height: lower + 38, left, right, upper, lower, lane, across: live.scale(0, 1, left, right, false) };
    },
    draw: (svg, frame, { lanes }) => {
      start(svg, frame);
      const { across, left, right, upper, lower, lane } = frame;
      for (let tenth = 0; tenth <= 10; tenth += right - left < 400 ? 5 : 2) {
        svg.append(line(across(tenth / 10), upper, across(tenth / 10), lower, "live-grid"));
        svg.append(text(across(tenth / 10), lower + 15, `${tenth * 100}`, { "text-anchor": tenth === 10 ? "end" : "middle" }));
      }
      svg.append(text((left + right) / 2, lower + 33, "time (ms)", { "text-anchor": "middle" }));
      lanes.forEach(({ curve, batches, most }, k) => {
        const bottom = upper + lane * (k + 1) - 6;
        const row = Math.min(10, (lane - 28) / most);
        for (const { arrivals, start: begin, end } of batches) {
          const [from, to] = [Math.min(begin, 1), Math.min(end, 1)].map(across);
          const waits = arrivals
            .filter((one) => one <= 1)
            .map((one, n) => `M${across(one).toFixed(1)} ${(bottom - row * (n + 0.5)).toFixed(1)}H${from.toFixed(1)}`)
            .join("");
          svg.append(shape("path", { d: waits, class: "live-waits" }));
          if (to > from) {
            const height = row * arrivals.length;
            svg.append(shape("rect", { x: from, y: bottom - height, width: to - from, height, class: "live-area", style: color(curve.color) }));
          }
        }
        svg.append(line(left, bottom, right, bottom, "live-axis"));
        svg.append(text(left + 4, bottom - lane + 18, curve.label, { class: "live-label", style: `color: var(--t-${curve.color})` }));
      });
    },
  };

  live.kinds = { line: plain, stack: plain, bars, region, gantt };
}
