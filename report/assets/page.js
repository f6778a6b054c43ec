"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const root = document.documentElement;
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const charts = []; // functions that draw a chart anew

  // Numbers as the tables write them: three significant digits, or as many as tell apart what is a step from the next.
  const raised = (n) => String(n).replace(/[-0-9]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
  const number = (v, step) => {
    if (v == null || !isFinite(v)) return "–";
    if (v === 0 || Math.abs(v) < Math.abs(step) * 1e-6) return "0";
    let e = Math.floor(Math.log10(Math.abs(v)));
    const digits = Math.min(15, Math.max(3, step > 0 ? e - Math.floor(Math.log10(step)) + 2 : 3));
    if (Math.abs(Number(v.toPrecision(digits))) >= 10 ** (e + 1)) e++;
    if (e >= -3 && e < Math.max(5, digits)) return String(Number(v.toPrecision(digits))).replace("-", "−");
    const m = Number((v / 10 ** e).toPrecision(digits));
    return (m === 1 ? "" : String(m).replace("-", "−") + "×") + "10" + raised(e);
  };

  const decades = (u, splits) => splits.map((v) => (Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9 ? v : null));
  const axis = (label, log) => ({
    label, labelSize: label ? 20 : 0, labelGap: 0, labelFont: "13px " + getComputedStyle(document.body).fontFamily,
    font: "12px " + getComputedStyle(document.body).fontFamily,
    stroke: css("--ink"), grid: { stroke: css("--rule"), width: 1, ...(log ? { filter: decades } : {}) },
    ticks: { stroke: css("--rule"), width: 1, size: 5, ...(log ? { filter: decades } : {}) },
    values: (u, ticks) => ticks.map((v) => (v == null ? "" : number(v, log ? 0 : ticks[1] - ticks[0]))),
    size: log === undefined ? 30 : (u, labels) => Math.max(54, 14 + 6.5 * Math.max(0, ...(labels || []).map((s) => s.length))),
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
      const last = Math.max(...c.series.flatMap((s) => s.x));
      const tables = [...c.series.map((s) => [s.x, s.y]), ...(c.levels || []).map((l) => [[0, last], [l.value, l.value]])];
      const values = tables.length > 1 ? uPlot.join(tables) : tables[0];
      const lines = c.series.map((s) => ({
        label: s.label, stroke: css("--m" + s.color), width: s.raw ? 1 : 2, alpha: s.raw ? 0.28 : 1, ...(s.raw ? { class: "raw" } : {}),
        spanGaps: true, points: { show: s.x.length < 40, size: 5 }, value: (u, v) => number(v),
      }));
      for (const l of c.levels || []) lines.push({ label: l.label, stroke: css("--muted"), width: 1, dash: [5, 4], spanGaps: true, points: { show: false }, value: () => number(l.value) });
      return [{
        scales: { x: { time: false }, y: { distr: 3 } },
        axes: [axis("step"), axis("", true)],
        series: [{ label: "step", value: (u, v) => (v == null ? "–" : String(v)) }, ...lines],
        cursor: { drag: { x: true, y: true, uni: 30 }, focus: { prox: 24 } },
        focus: { alpha: 0.35 },
      }, values];
    });
  });
  document.querySelectorAll(".hint").forEach((e) => (e.hidden = false));

  // Tabs of the cases, their maps, and the profiles of the one that is shown.
  if ((data.cases || []).length) {
    const maps = fieldMaps(data, css, number), cases = maps.cases, section = $("fields");
    const slider = $("time"), when = $("when"), play = $("play"), [t, x] = data.axes.map((a) => a.values);
    let shown = 0, profile = null, timer = 0, drawnAt = 0;
    const room = () => { const s = getComputedStyle(section); return section.clientWidth - parseFloat(s.paddingLeft) - parseFloat(s.paddingRight); };
    const drawMaps = () => {
      drawnAt = room();
      const kind = document.querySelector("input[name=scale]:checked").value;
      cases.forEach((_, i) => maps.draw($("case-" + i).querySelector(".maps"), i, kind, drawnAt));
    };
    const row = () => [x, ...cases[shown].fields.map((f) => Array.from(f.u.subarray(+slider.value * x.length, (+slider.value + 1) * x.length), (v) => (isFinite(v) ? v : null)))];
    const move = () => {
      if (!profile) return;
      when.textContent = data.axes[0].name + " = " + number(t[+slider.value], t.length > 1 ? t[1] - t[0] : 0) + (data.axes[0].unit ? " " + data.axes[0].unit : "");
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
    drawMaps();
    charts.push(drawMaps);
    new ResizeObserver(() => { if (Math.abs(room() - drawnAt) > 1) drawMaps(); }).observe(section);
    if (cases.some((c) => c.truth && c.fields.length > 1)) $("scales").hidden = false;
    document.querySelectorAll("input[name=scale]").forEach((e) => (e.onchange = drawMaps));
    if (cases.length > 1) {
      section.classList.add("tabbed");
      document.querySelector(".tabs").hidden = false;
      cases.forEach((_, i) => {
        $("tab-" + i).onclick = () => show(i);
        $("tab-" + i).onkeydown = (e) => {
          const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: cases.length - 1 }[e.key];
          if (to >= 0 && to < cases.length) { show(to); $("tab-" + to).focus(); e.preventDefault(); }
        };
      });
    }
    if (data.axes.length === 2 && x.length > 1) {
      document.querySelector(".profile").hidden = false;
      slider.max = t.length - 1;
      slider.value = Math.round((t.length - 1) / 5);
      profile = chart($("profile"), 300, () => {
        const c = cases[shown];
        const lines = c.fields.map((f) => ({
          label: f.label, stroke: f.color < 0 ? css("--ink") : css("--m" + f.color), width: f.color < 0 ? 3 : 1.75,
          dash: f.color < 0 ? [] : [7, 3], points: { show: false }, value: (u, v) => number(v),
        }));
        const margin = 0.04 * (c.hi - c.lo);
        return [{
          scales: { x: { time: false }, y: { auto: false, range: [c.lo - margin, c.hi + margin] } },
          axes: [axis(data.axes[1].label), axis(c.value || data.value, false)],
          series: [{ label: data.axes[1].name, value: (u, v) => number(v) }, ...lines],
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
