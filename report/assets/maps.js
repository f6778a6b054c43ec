"use strict";
// Maps of the cases on canvases: fields on one scale, and their differences from the
// classical solution on a scale that the reader chooses.
const fieldMaps = (data, css, number) => {
  const axes = data.axes, planes = axes.length === 3, decades = 4;
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const palette = (hex) => Uint8Array.from(hex.match(/../g), (h) => parseInt(h, 16));
  const colors = { value: palette(data.colors.value), difference: palette(data.colors.difference) };
  const [t, x, y] = axes.map((a) => a.values);
  const width = planes ? x.length : t.length, height = planes ? y.length : x.length, size = width * height;
  const reading = document.getElementById("reading");

  // Fields are decoded once: values above the lowest of the scale, of predictions beside a solution differences from it.
  const cases = data.cases.map((c) => {
    const decode = (f, lo) => Float64Array.from(new Float32Array(bytes(f.data).buffer), (v) => v + lo);
    const fields = c.fields.map((f, i) => (c.truth && i ? { ...f, d: decode(f, 0) } : { ...f, u: decode(f, c.lo) }));
    fields.forEach((f) => { if (f.d) f.u = f.d.map((v, k) => v + fields[0].u[k]); });
    const inputs = (c.inputs || []).map((f) => ({ ...f, u: decode(f, f.lo) }));
    const worst = Math.max(0, ...fields.map((f) => (f.d ? largest(f.d) : 0))) || 1;
    return { ...c, inputs, fields, worst };
  });
  function largest(d) {
    let m = 0;
    for (const v of d) if (Math.abs(v) > m && isFinite(v)) m = Math.abs(v);
    return m;
  }

  // A scale maps values to [0, 1] of a palette, and has ticks.
  const linear = (lo, hi, colours) => ({ lo, hi, colours, at: (v) => (v - lo) / (hi - lo), ticks: ticks(lo, hi, 4) });
  const logarithmic = (hi) => ({
    lo: hi * 10 ** -decades, hi, colours: colors.value, at: (v) => 1 + Math.log10(Math.abs(v) / hi) / decades,
    ticks: [...Array(decades)].map((_, k) => 10 ** (Math.floor(Math.log10(hi)) - k)),
  });
  function ticks(lo, hi, count) {
    const span = hi - lo, power = 10 ** Math.floor(Math.log10(span / count));
    const step = power * ([1, 2, 2.5, 5].find((m) => span / (m * power) <= count * 1.001) || 10);
    const out = [];
    for (let k = Math.ceil(lo / step - 1e-9); k <= hi / step + 1e-9; k++) out.push(k * step);
    return out;
  }
  const labelled = (at) => at.map((v) => [v, number(v, at.length > 1 ? Math.abs(at[1] - at[0]) : 0)]);
  const near = (values) => (values.length > 1 ? Math.abs(values[1] - values[0]) : 0);
  const differenceScale = (kind, c, tile) =>
    kind === "log" ? logarithmic(c.worst) : linear(...((m) => [-m, m])(kind === "own" ? tile.largest || 1 : c.worst), colors.difference);

  const image = (u, scale) => {
    const canvas = new OffscreenCanvas(width, height), g = canvas.getContext("2d"), img = g.createImageData(width, height);
    const last = scale.colours.length / 3 - 1;
    for (let i = 0; i < width; i++) for (let j = 0; j < height; j++) {
      const v = u[i * height + j], to = 4 * ((height - 1 - j) * width + i);
      const k = Number.isNaN(v) ? -1 : 3 * Math.round(Math.min(Math.max(scale.at(v), 0), 1) * last);
      for (let b = 0; b < 3; b++) img.data[to + b] = k < 0 ? 156 : scale.colours[k + b];
      img.data[to + 3] = 255;
    }
    g.putImageData(img, 0, 0);
    return canvas;
  };

  // canvas of a size in CSS pixels.
  const canvas = (w, h, label) => {
    const e = document.createElement("canvas"), ratio = window.devicePixelRatio || 1;
    e.width = Math.round(w * ratio);
    e.height = Math.round(h * ratio);
    e.style.width = w + "px";
    e.style.height = h + "px";
    e.setAttribute("role", "img");
    e.setAttribute("aria-label", label);
    const g = e.getContext("2d");
    g.scale(ratio, ratio);
    g.font = "11px " + getComputedStyle(document.body).fontFamily;
    g.fillStyle = css("--ink");
    g.strokeStyle = css("--muted");
    return [e, g];
  };
  const text = (tag, content, name) => {
    const e = document.createElement(tag);
    e.textContent = content;
    if (name) e.className = name;
    return e;
  };
  const span = (values) => {
    const half = values.length > 1 ? (values[values.length - 1] - values[0]) / (values.length - 1) / 2 : 0.5;
    return [values[0] - half, values[values.length - 1] + half];
  };

  // tile draws one map with its axes and the borders between experts.
  const tile = (c, f, u, scale, w, title, at, of) => {
    const left = planes ? 0 : Math.max(34, 14 + 6 * Math.max(...labelled(ticks(...span(x), 3)).map(([, s]) => s.length))), bottom = planes ? 0 : 32, h = planes ? w * (spread(y) / spread(x)) : 0.72 * w;
    const [e, g] = canvas(w, h + bottom, title);
    const box = { x: left, y: 0, w: w - left - (planes ? 0 : 6), h: h - (planes ? 0 : 6) };
    if (!planes) box.y = 6;
    g.imageSmoothingEnabled = planes;
    g.drawImage(image(u, scale), box.x, box.y, box.w, box.h);
    const [h0, h1] = span(planes ? x : t), [v0, v1] = span(planes ? y : x);
    const toX = (v) => box.x + ((v - h0) / (h1 - h0)) * box.w, toY = (v) => box.y + box.h - ((v - v0) / (v1 - v0)) * box.h;
    (f.borders || []).slice(planes ? 1 : 0).forEach((ends, a) => ends.slice(1, -1).forEach((v) => {
      for (const [style, dash] of [["rgb(255 255 255 / .7)", []], ["rgb(17 24 39)", [4, 3]]]) {
        g.beginPath();
        g.setLineDash(dash);
        g.strokeStyle = style;
        if (a === 0) { g.moveTo(toX(v), box.y); g.lineTo(toX(v), box.y + box.h); } else { g.moveTo(box.x, toY(v)); g.lineTo(box.x + box.w, toY(v)); }
        g.stroke();
      }
    }));
    if (!planes) {
      g.textAlign = "center";
      g.textBaseline = "top";
      for (const [v, s] of labelled(ticks(h0, h1, 3))) if (v >= h0 && v <= h1) g.fillText(s, toX(v), box.y + box.h + 4);
      g.fillText(axes[0].label, box.x + box.w / 2, box.y + box.h + 17);
      g.textAlign = "right";
      g.textBaseline = "middle";
      for (const [v, s] of labelled(ticks(v0, v1, 3))) g.fillText(s, left - 4, toY(v));
      g.save();
      g.translate(6, box.y + box.h / 2);
      g.rotate(-Math.PI / 2);
      g.textAlign = "center";
      g.fillText(axes[1].label, 0, 0);
      g.restore();
    }
    e.onpointermove = (event) => {
      const i = Math.floor(((event.offsetX - box.x) / box.w) * width), j = Math.floor((1 - (event.offsetY - box.y) / box.h) * height);
      if (i < 0 || j < 0 || i >= width || j >= height) return;
      const place = planes ? [[axes[0], at], [axes[1], x[i]], [axes[2], y[j]]] : [[axes[0], t[i]], [axes[1], x[j]]];
      reading.textContent = place.map(([a, v]) => a.name + " = " + number(v, near(a.values)) + (a.unit ? " " + a.unit : "")).join(", ") + ": " + of + " " + number(u[i * height + j], (scale.hi - scale.lo) / 100);
    };
    return e;
  };
  const spread = (values) => { const [lo, hi] = span(values); return hi - lo; };

  // bar is the scale of one or several maps.
  const bar = (scale, w, label, names) => {
    const [e, g] = canvas(w, 44, label);
    const n = scale.colours.length / 3, from = 16, to = w - 24;
    for (let i = 0; i < to - from; i++) {
      const k = 3 * Math.round((i / (to - from - 1)) * (n - 1));
      g.fillStyle = `rgb(${scale.colours[k]} ${scale.colours[k + 1]} ${scale.colours[k + 2]})`;
      g.fillRect(from + i, 0, 1.5, 10);
    }
    g.fillStyle = css("--ink");
    g.textAlign = "center";
    g.textBaseline = "top";
    labelled(scale.ticks).forEach(([v, s], i) => g.fillText(names ? names[i] : s, from + scale.at(v) * (to - from), 13));
    g.fillText(label, (from + to) / 2, 28);
    e.className = "scale";
    return e;
  };
  const differenceBar = (kind, c, w) => {
    if (kind === "own") return bar(linear(-1, 1, colors.difference), w, "difference, over the largest of each map", ["−1", "−0.5", "0", "0.5", "1"]);
    return bar(differenceScale(kind, c), w, (kind === "log" ? "|difference| in " : "difference in ") + (c.value || data.value));
  };

  // draw fills the element of a case.
  const draw = (element, index, kind, available) => {
    const c = cases[index], values = linear(c.lo, c.hi, colors.value);
    const children = [];
    const difference = (f, u, w, title, at) => {
      const m = largest(u), e = text("div", "", "map");
      const scale = differenceScale(kind, c, { largest: m });
      e.append(tile(c, f, u, scale, w, title + ", largest " + number(m), at, f.label + " − " + c.fields[0].label), text("small", "largest " + number(m)));
      return e;
    };
    const barWidth = Math.min(380, available);
    if (!planes) {
      const n = c.fields.length, columns = available / n >= 190 ? n : Math.min(n, 2), w = Math.floor(Math.min(380, (available - 8 * (columns - 1)) / columns));
      const grid = () => { const e = text("div", "", "tiles"); e.style.gridTemplateColumns = `repeat(${columns}, ${w}px)`; children.push(e); return e; };
      if (c.inputs.length) {
        const given = grid();
        for (const f of c.inputs) {
          const e = text("div", "", "map"), scale = linear(f.lo, f.hi, colors.value);
          e.append(text("b", "input " + f.label), tile(c, f, f.u, scale, w, c.title + ": input " + f.label, 0, f.label), bar(scale, w, f.label));
          given.append(e);
        }
      }
      const upper = grid();
      for (const f of c.fields) {
        const e = text("div", "", "map");
        e.append(text("b", f.label), tile(c, f, f.u, values, w, c.title + ": " + f.label, 0, f.label));
        upper.append(e);
      }
      children.push(bar(values, barWidth, c.value || data.value));
      if (c.truth && n > 1) {
        const lower = grid();
        if (columns === n) lower.append(text("div", ""));
        for (const f of c.fields) if (f.d) {
          const e = difference(f, f.d, w, c.title + ": " + f.label + " minus the " + c.fields[0].label, 0);
          e.prepend(text("b", f.label + " − " + c.fields[0].label));
          lower.append(e);
        }
        children.push(differenceBar(kind, c, barWidth));
      }
    } else {
      let times = t.map((_, i) => i);
      const left = available < 600 ? 0 : 96;
      if ((available - left) / times.length < 96) times = times.filter((_, i) => (times.length - 1 - i) % 2 === 0);
      const w = Math.floor(Math.min(190, (available - left - 6 * times.length) / times.length));
      const row = (label, cells) => {
        const e = text("div", "", left ? "tiles planes" : "tiles planes narrow");
        e.style.gridTemplateColumns = (left ? left + "px " : "") + `repeat(${times.length}, ${w}px)`;
        e.append(text("b", label), ...cells);
        children.push(e);
      };
      row("", times.map((i) => text("span", axes[0].name + " = " + number(t[i]) + (axes[0].unit ? " " + axes[0].unit : ""))));
      const at = (u, i) => u.subarray(i * size, (i + 1) * size);
      for (const f of c.inputs) {
        const scale = linear(f.lo, f.hi, colors.value);
        row("input " + f.label, times.map((i) => tile(c, f, at(f.u, i), scale, w, c.title + ": input " + f.label + ", " + axes[0].name + " = " + number(t[i]), t[i], f.label)));
        children.push(bar(scale, barWidth, f.label));
      }
      for (const f of c.fields) {
        row(f.label, times.map((i) => tile(c, f, at(f.u, i), values, w, c.title + ": " + f.label + ", " + axes[0].name + " = " + number(t[i]), t[i], f.label)));
        if (f.d) row(f.label + " − " + c.fields[0].label, times.map((i) => difference(f, at(f.d, i), w, c.title + ": " + f.label + " minus the " + c.fields[0].label + ", " + axes[0].name + " = " + number(t[i]), t[i])));
      }
      children.push(bar(values, barWidth, c.value || data.value));
      if (c.truth && c.fields.length > 1) children.push(differenceBar(kind, c, barWidth));
    }
    element.replaceChildren(...children);
  };
  reading.hidden = false;
  return { draw, cases };
};
