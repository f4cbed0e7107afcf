// A guess before the curves are shown, which stays on the chart afterwards.
"use strict";

{
  const { element, shape } = live;

  /**
   * Ask for a guess; the chart hides its curves until it is made.
   * @returns {{made: HTMLElement, draw: (svg: SVGElement, frame: object) => void}}
   */
  live.guess = (chart) => {
    const { spec } = chart;
    const asked = spec.guess;
    const at = { ...chart.defaults, [spec.x]: asked.at };
    const unit = spec.y.unit;
    const field = element("input", { type: "text", inputmode: "decimal", autocomplete: "off", "aria-label": `Your guess (${unit})` });
    const fault = element("p", { class: "live-fault", role: "alert" });
    const button = element("button", { type: "button" }, "Show the curve");
    const answer = element("p", { class: "live-answer", role: "status" });
    const ask = element("div", { class: "live-ask" }, element("p", {}, asked.question), field, ` ${unit} `, button, fault);
    const made = element("div", { class: "live-guess" }, ask, answer);
    let guessed = null;
    const show = (si) => {
      guessed = si;
      field.value = live.digits(live.toShown(si, spec.y), 3).replaceAll(",", "");
      chart.redraw();
    };
    field.addEventListener("input", () => {
      const { si, fault: words } = live.read({ ...spec.y, low: 0, high: 1e30, whole: false }, field.value);
      fault.textContent = words ? "Write a number above 0, or drag the point." : "";
      if (!words) { guessed = si; chart.redraw(); }
    });
    const reveal = () => {
      if (guessed === null) { fault.textContent = "Guess first: write a number, or drag the point."; return; }
      const truth = live.values(spec, at)[asked.curve].value;
      const off = guessed / truth - 1;
      answer.textContent =
        `You guessed ${live.written(guessed, spec.y, 3)}; it is ${live.written(truth, spec.y)}: ` +
        (Math.abs(off) < 0.005 ? "right." : `${live.digits(100 * Math.abs(off), 2)} % too ${off > 0 ? "high" : "low"}.`);
      ask.remove();
      chart.reveal();
    };
    button.addEventListener("click", reveal);
    field.addEventListener("keydown", (event) => { if (event.key === "Enter") reveal(); });
    const draw = (svg, frame) => {
      const x = frame.across(asked.at);
      const si = guessed ?? (frame.spec.y.log ? Math.sqrt(frame.low * frame.high) : (frame.low + frame.high) / 2);
      const y = Math.min(frame.lower, Math.max(frame.upper, frame.up(si)));
      if (chart.hidden) svg.append(shape("line", { x1: x, x2: x, y1: frame.lower, y2: frame.upper, class: "live-mark" }));
      const words = guessed === null ? "drag me" : "your guess";
      svg.append(
        shape("path", { d: `M${x - 6} ${y}L${x} ${y - 6}L${x + 6} ${y}L${x} ${y + 6}Z`, class: "live-guessed" }),
        shape("text", { x: live.beside(x + 3, words, frame), y: y + 4, class: "live-label" }, words),
      );
    };
    return { made, draw, drag: (frame, pixel) => show(frame.upBack(pixel)) };
  };
}
