"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const root = document.documentElement;
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const charts = []; // functions that draw a chart anew

  // Numbers as the tables write them: three significant digits.
  const raised = (n) => String(n).replace(/[-0-9]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
  const number = (v) => {
    if (v == null || !isFinite(v)) return "–";
    if (v === 0) return "0";
    const e = Math.floor(Math.log10(Math.abs(v)) + 1e-9);
    if (e >= -3 && e < 5) return String(Number(v.toPrecision(3))).replace("-", "−");
    const m = Number((v / 10 ** e).toPrecision(3));
    return (m === 1 ? "" : String(m).replace("-", "−") + "×") + "10" + raised(e);
  };

  const decades = (u, splits) => splits.map((v) => (Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9 ? v : null));
  const axis = (label, log) => ({
    label, labelSize: label ? 20 : 0, labelGap: 0, labelFont: "13px " + getComputedStyle(document.body).fontFamily,
    font: "12px " + getComputedStyle(document.body).fontFamily,
    stroke: css("--ink"), grid: { stroke: css("--rule"), width: 1, ...(log ? { filter: decades } : {}) },
    ticks: { stroke: css("--rule"), width: 1, size: 5, ...(log ? { filter: decades } : {}) },
    values: (u, ticks) => ticks.map((v) => (v == null ? "" : number(v))), size: log === undefined ? 30 : 54,
  });

  // chart keeps a uPlot as wide as its element and in the colours of the scheme.
  const chart = (element, height, options) => {
    let plot = null;
    const draw = () => {
      if (plot) plot.destroy();
      const [o, values] = options();
      plot = new uPlot({ width: element.clientWidth, height, ...o }, values, element);
    };
    draw();
    charts.push(draw);
    new ResizeObserver(() => {
      if (element.clientWidth && Math.abs(element.clientWidth - plot.width) > 1) plot.setSize({ width: element.clientWidth, height });
    }).observe(element);
    return { get plot() { return plot; }, draw };
  };

  // Curves of the training.
  (data.curves || []).forEach((c, i) => {
    const element = $("curve-" + i);
    element.parentElement.querySelector(".static").remove();
    chart(element, 280, () => {
      const tables = c.series.map((s) => [s.x, s.y]);
      const values = tables.length > 1 ? uPlot.join(tables) : tables[0];
      const lines = c.series.map((s) => ({
        label: s.label, stroke: css("--m" + s.color), width: s.raw ? 1 : 2, alpha: s.raw ? 0.28 : 1, ...(s.raw ? { class: "raw" } : {}),
        spanGaps: true, points: { show: s.x.length < 40, size: 5 }, value: (u, v) => number(v),
      }));
      return [{
        scales: { x: { time: false }, y: c.linear ? {} : { distr: 3 } },
        axes: [axis("step"), axis("", !c.linear)],
        series: [{ label: "step", value: (u, v) => (v == null ? "–" : String(v)) }, ...lines],
        cursor: { drag: { x: true, y: true, uni: 30 }, focus: { prox: 24 } },
        focus: { alpha: 0.35 },
      }, values];
    });
  });
  document.querySelectorAll(".hint").forEach((e) => (e.hidden = false));

  // Tabs of the cases, and the profiles of the one that is shown.
  const cases = data.cases || [];
  let shown = 0;
  const floats = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  if (cases.length) {
    const decoded = cases.map((c) => (c.fields || []).map((f) => floats(f.data)));
    const slider = $("time"), when = $("when"), play = $("play");
    let profile = null, timer = 0;
    const row = () => {
      const c = cases[shown], n = c.x.length, i = +slider.value;
      return [c.x, ...decoded[shown].map((f) => Array.from(f.subarray(i * n, (i + 1) * n), (v) => (isFinite(v) ? v : null)))];
    };
    const move = () => {
      const c = cases[shown];
      if (!profile) return;
      when.textContent = c.time + " = " + number(c.t[+slider.value]) + (c.timeUnit ? " " + c.timeUnit : "");
      profile.plot.setData(row(), false);
    };
    const show = (i) => {
      shown = i;
      cases.forEach((_, j) => {
        $("case-" + j).hidden = j !== i;
        $("tab-" + j).setAttribute("aria-selected", String(j === i));
        $("tab-" + j).tabIndex = j === i ? 0 : -1;
      });
      if (profile) profile.draw();
      move();
    };
    if (cases.length > 1) {
      $("fields").classList.add("tabbed");
      document.querySelector(".tabs").hidden = false;
      cases.forEach((_, i) => {
        $("tab-" + i).onclick = () => show(i);
        $("tab-" + i).onkeydown = (e) => {
          const to = { ArrowRight: i + 1, ArrowLeft: i - 1 }[e.key];
          if (to >= 0 && to < cases.length) { show(to); $("tab-" + to).focus(); }
        };
      });
    }
    if (cases[0].x && cases[0].x.length > 1) {
      document.querySelector(".profile").hidden = false;
      slider.max = cases[0].t.length - 1;
      slider.value = Math.round((cases[0].t.length - 1) / 5);
      profile = chart($("profile"), 300, () => {
        const c = cases[shown];
        const lines = c.fields.map((f) => ({
          label: f.label, stroke: f.color < 0 ? css("--ink") : css("--m" + f.color), width: f.color < 0 ? 3 : 1.75,
          dash: f.color < 0 ? [] : [7, 3], points: { show: false }, value: (u, v) => number(v),
        }));
        const margin = 0.04 * (c.hi - c.lo);
        return [{
          scales: { x: { time: false }, y: { auto: false, range: [c.lo - margin, c.hi + margin] } },
          axes: [axis(c.space), axis(c.value, false)],
          series: [{ label: c.spaceName, value: (u, v) => number(v) }, ...lines],
          cursor: { drag: { x: false, y: false } },
        }, row()];
      });
      slider.oninput = move;
      const stop = () => { clearInterval(timer); timer = 0; play.textContent = "Play"; };
      play.onclick = () => {
        if (timer) return stop();
        if (+slider.value >= +slider.max) slider.value = 0;
        play.textContent = "Pause";
        timer = setInterval(() => {
          if (+slider.value >= +slider.max) return stop();
          slider.value = +slider.value + 1;
          move();
        }, 80);
      };
    }
    show(0);
  }

  // The colour scheme: the system's until the reader chooses.
  const scheme = $("scheme");
  const isDark = () => (root.dataset.scheme ? root.dataset.scheme === "dark" : dark.matches);
  const label = () => { scheme.textContent = isDark() ? "Light" : "Dark"; };
  const redraw = () => { label(); charts.forEach((draw) => draw()); };
  scheme.hidden = false;
  scheme.onclick = () => { root.dataset.scheme = isDark() ? "light" : "dark"; redraw(); };
  dark.addEventListener("change", redraw);
  label();
})();
