"use strict";
// The page of mercer play. Points live in units of the page ("world"); a server on this machine, or fits computed
// beforehand (window.MERCER_PLAY), say what the machine makes of them.

const FITS = window.MERCER_PLAY || null;
const LETTERS = "ABCDEFGH";
const COARSE = 64, FINE = 150;          // nodes across, while something moves and at rest
const REST = 220;                       // milliseconds without a change
const MAP = { across: 13, up: 9 };
const $ = (id) => document.getElementById(id);
const plane = $("plane"), map = $("map");

const state = {
  about: null, points: [], labels: [], names: null, axes: [], example: "",
  machine: "svc", kernel: "rbf", settings: {}, current: 0, erasing: false,
  view: { x: 0, y: 0, half: 2 }, cross: null, carried: -1, dragged: -1, table: null, columns: null, source: null, past: [],
};
let shown = null;                       // the last answer
let surface = { key: "", values: new Map(), xs: [], ys: [], done: false };

// ---------------------------------------------------------------- asking

async function ask(what, more, signal) {
  const question = { ask: what, ...more };
  if (FITS) return stored(what, question);
  let answer;
  try {
    answer = await fetch("ask", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question), signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer; start mercer play again.");
  }
  if (!answer.ok) throw new Error(await answer.text());
  const found = await answer.json();
  if (typeof found.error === "string") throw new Error(found.error);
  return found;
}

function keyOf(settings) {
  const said = Object.keys(FITS.about.steps).filter((name) => name in settings).map((name) => `${name}=${settings[name]}`);
  return [state.example, state.machine, state.kernel, ...said].join(" ");
}

function stored(what, question) {
  if (what === "about") return FITS.about;
  const answerOf = (settings) => FITS.answers[keyOf(pick(settings, moved()))];
  if (what === "surface") {
    return { values: question.cells.map((cell) => answerOf({ ...question.settings, ...cell }).value) };
  }
  const found = answerOf(question.settings);
  if (what === "error") return found.error;
  const [before, data, after] = found.code;
  return { ...found, code: [before, FITS.data[data], after] };
}

function pick(object, names) {
  return Object.fromEntries(names.filter((name) => name in object).map((name) => [name, object[name]]));
}

function names() {
  return [...state.about.machines[state.machine].settings, ...state.about.kernels[state.kernel].settings];
}

function moved() {                      // settings that sliders move: of stored fits only some
  return FITS ? names().filter((name) => name in state.about.steps) : names();
}

function question() {
  return {
    points: state.points, labels: state.labels, names: state.names, machine: state.machine, kernel: state.kernel,
    settings: pick(state.settings, names()),
  };
}

function pointsAsText() { return JSON.stringify([state.points, state.labels]); }
function source() {                     // the file that the points are of, and whether they are so still
  if (!state.source) return null;
  const { text, ...rest } = state.source;
  return { ...rest, whole: text === pointsAsText() };
}

// ---------------------------------------------------------------- the round of questions

let wanted = false, busy = false, restTimer = 0, later = null, round = 0;

function changed() {
  round += 1;
  wanted = true;
  later?.abort();
  clearTimeout(restTimer);
  draw();
  if (!busy) pump();
}

async function pump() {
  busy = true;
  while (wanted) {
    wanted = false;
    await picture(COARSE);
  }
  busy = false;
  restTimer = setTimeout(rest, REST);
}

async function rest() {
  const asked = round;
  later = new AbortController();
  busy = true;
  await picture(FINE, later.signal);
  busy = false;
  if (wanted) return pump();
  if (asked !== round || !shown) return;
  await leftOut(later.signal);
  if (asked === round) await follow(later.signal);
}

async function picture(across, signal) {
  if (!plane.clientWidth || !plane.clientHeight) return;    // not laid out yet; that asks again
  const asked = round, box = bounds();
  const ratio = (box[3] - box[2]) / (box[1] - box[0]);
  const count = new Set(state.labels).size;
  const nodes = count > 4 ? Math.min(across, 90) : across;
  const slow = setTimeout(() => { $("state").textContent = "fitting …"; }, 150);
  try {
    const up = Math.max(2, Math.min(Math.round(nodes * ratio), Math.floor(state.about.most_nodes / nodes)));
    const found = await ask("picture", { ...question(), source: source(), view: box, grid: [nodes, up], moves: across === COARSE }, signal);
    shown = unpacked(found);
    if (asked > told.round) tell("");
    report(found);
  } catch (error) {
    if (error.name === "AbortError") return;
    shown = null;
    tell(error.message, -1);
    report(null);
  } finally {
    clearTimeout(slow);
    if (asked === round && $("state").textContent === "fitting …") $("state").textContent = "";
  }
  draw();
}

async function leftOut(signal) {
  try {
    const found = await ask("error", question(), signal);
    $("numbers").querySelector(".main")?.replaceWith(row(found.title, found.value, true));
  } catch (error) {
    if (error.name !== "AbortError") $("numbers").querySelector(".main")?.replaceWith(row("Error left out", "–", true));
  }
}

const told = { round: -1 };             // what is no fault of a fit stays until something is changed
function tell(sentence, since = round) {
  told.round = sentence ? since : -1;
  $("problem").hidden = !sentence;
  if ($("sentence").textContent !== sentence) $("sentence").textContent = sentence;
}
function dismiss() {
  if ($("problem").contains(document.activeElement)) plane.focus({ preventScroll: true });
  tell("");
}

function report(found) {
  if (!found) {
    $("numbers").replaceChildren();
    $("note").hidden = true;
    $("code").textContent = "";
    $("copy").disabled = true;
    $("state").textContent = $("scale").textContent = "";
    surface = { key: "", values: new Map(), xs: [], ys: [], done: false };
    map.hidden = true;
    legend([]);
    return;
  }
  const title = $("numbers").querySelector(".main dt")?.textContent || "Error left out";
  $("numbers").replaceChildren(row(title, "…", true), ...found.numbers.map(([name, value]) => row(name, value, false)));
  $("note").textContent = found.note;
  $("note").hidden = !found.note;
  $("code").textContent = found.code.join("\n");
  $("copy").disabled = false;
  $("state").textContent = FITS ? "" : `fitted in ${found.milliseconds} ms`;
  legend([...new Set(found.support.map((one) => one[1]))]);
}

function row(title, value, main) {
  const line = document.createElement("div"), term = document.createElement("dt"), said = document.createElement("dd");
  if (main) line.className = "main";
  term.textContent = title;
  said.textContent = value;
  line.append(term, said);
  return line;
}

function unpacked(found) {
  if (!found.fields) return found;
  const fields = found.fields.map(({ unit, data }) => {
    const text = atob(data), bytes = new Uint8Array(text.length);
    for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
    return Float32Array.from(new Int16Array(bytes.buffer), (count) => unit * count * Math.abs(count));
  });
  return { ...found, fields };
}

// ---------------------------------------------------------------- places

function size() { return [plane.clientWidth, plane.clientHeight]; }
function zoom() { const [w, h] = size(); return Math.min(w, h) / (2 * state.view.half); }   // pixels to a unit
function bounds() {
  const [w, h] = size(), z = zoom(), round4 = (v) => Math.round(v * 1e4) / 1e4;
  return [state.view.x - w / 2 / z, state.view.x + w / 2 / z, state.view.y - h / 2 / z, state.view.y + h / 2 / z].map(round4);
}
function toScreen(x, y) {
  const [w, h] = size(), z = zoom();
  return [w / 2 + (x - state.view.x) * z, h / 2 - (y - state.view.y) * z];
}
function toWorld(px, py) {
  const [w, h] = size(), z = zoom(), far = state.about.farthest, round3 = (v) => Math.max(-far, Math.min(far, Math.round(v * 1e3) / 1e3));
  return [round3(state.view.x + (px - w / 2) / z), round3(state.view.y - (py - h / 2) / z)];
}
function frame() {                      // the view around all points
  if (!state.points.length) { state.view = { x: 0, y: 0, half: 2 }; return; }
  const xs = state.points.map((p) => p[0]), ys = state.points.map((p) => p[1]);
  const low = [Math.min(...xs), Math.min(...ys)], high = [Math.max(...xs), Math.max(...ys)];
  const [w, h] = size(), short = Math.min(w, h), room = 1.18;
  const half = Math.max((high[0] - low[0]) / 2 * short / w, (high[1] - low[1]) / 2 * short / h, 0.5) * room;
  state.view = { x: (low[0] + high[0]) / 2, y: (low[1] + high[1]) / 2, half };
}
function nearest(px, py, reach) {
  let best = -1, least = reach;
  state.points.forEach((point, k) => {
    const [x, y] = toScreen(...point), far = Math.hypot(x - px, y - py);
    if (far < least) { least = far; best = k; }
  });
  return best;
}

// ---------------------------------------------------------------- drawing

const ink = () => getComputedStyle(document.documentElement);
function paint(name) { return ink().getPropertyValue(`--${name}`).trim(); }
function color(k) { return state.about.colors[k % state.about.colors.length]; }
function rgb(text) {
  const hex = text.replace("#", "");
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
}
function prepared(canvas, w, h) {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, w, h);
  return pen;
}

let waiting = false;
function draw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; if (state.about) drawPlane(); });
}

function drawPlane() {
  const [w, h] = size(), pen = prepared(plane, w, h);
  pen.fillStyle = paint("paper");
  pen.fillRect(0, 0, w, h);
  if (shown?.fields) drawRegions(pen, w, h);
  drawTicks(pen, w, h);
  if (shown?.fields) drawLines(pen);
  if (shown?.curve) drawCurve(pen);
  drawPoints(pen);
  if (document.activeElement === plane && state.cross) drawCross(pen);
}

function cornersOf(found) {             // where its grid lies on the screen
  const [left, right, bottom, top] = found.view;
  return [...toScreen(left, top), ...toScreen(right, bottom)];
}

let scratch = null;
function drawRegions(pen, w, h) {
  const { fields, rule, classes, grid: [across, up], task, margin } = shown;
  const [x0, y0, x1, y1] = cornersOf(shown), step = fields.length > 6 ? 2 : 1;
  const wide = Math.ceil(w / step), high = Math.ceil(h / step);
  if (!scratch || scratch.width !== wide || scratch.height !== high) scratch = new ImageData(wide, high);
  const out = scratch.data, colors = state.about.colors.map(rgb), n = fields.length, values = new Float32Array(n);
  const votes = new Int8Array(classes.length), pairs = pairsOf(classes.length);
  const bayes = state.machine === "rvc";
  for (let py = 0; py < high; py++) {
    const gy = clip(((y1 - (py + 0.5) * step) / (y1 - y0)) * (up - 1), up - 1), j = Math.min(gy | 0, up - 2), v = gy - j;
    for (let px = 0; px < wide; px++) {
      const gx = clip((((px + 0.5) * step - x0) / (x1 - x0)) * (across - 1), across - 1), i = Math.min(gx | 0, across - 2), u = gx - i;
      const at = j * across + i;
      for (let k = 0; k < n; k++) {
        const f = fields[k];
        values[k] = (1 - v) * ((1 - u) * f[at] + u * f[at + 1]) + v * ((1 - u) * f[at + across] + u * f[at + across + 1]);
      }
      let region, strength = 0.24;
      if (rule === "sign") {
        const f = values[0];
        if (task === "region") { region = 0; strength = f >= 0 ? 0.26 : 0; }
        else {
          region = classes[f > 0 ? 1 : 0];
          if (margin) strength = 0.1 + 0.2 * Math.min(1, Math.abs(f));
          else if (bayes) strength = 0.04 + 0.28 * Math.abs(Math.tanh(f / 2));
        }
      } else region = classes[winner(rule, values, pairs, votes)];
      const c = colors[region % colors.length], to = 4 * (py * wide + px);
      out[to] = c[0]; out[to + 1] = c[1]; out[to + 2] = c[2]; out[to + 3] = 255 * strength;
    }
  }
  const layer = new OffscreenCanvas(wide, high);
  layer.getContext("2d").putImageData(scratch, 0, 0);
  pen.imageSmoothingEnabled = true;
  pen.drawImage(layer, 0, 0, wide * step, high * step);
}

function clip(value, most) { return value < 0 ? 0 : value > most ? most : value; }
function pairsOf(count) {
  const found = [];
  for (let a = 0; a < count; a++) for (let b = a + 1; b < count; b++) found.push([a, b]);
  return found;
}
function winner(rule, values, pairs, votes) {
  if (rule === "argmax") {
    let best = 0;
    for (let k = 1; k < values.length; k++) if (values[k] > values[best]) best = k;
    return best;
  }
  votes.fill(0);
  for (let k = 0; k < pairs.length; k++) votes[values[k] > 0 ? pairs[k][0] : pairs[k][1]] += 1;
  let best = 0;
  for (let k = 1; k < votes.length; k++) if (votes[k] > votes[best]) best = k;
  return best;
}

// Pieces of the line where a function on the grid crosses a level, cell by cell: [x, y, x, y] in nodes.
function crossings(f, across, up, level) {
  const found = [];
  for (let j = 0; j < up - 1; j++) {
    for (let i = 0; i < across - 1; i++) {
      const at = j * across + i, a = f[at] - level, b = f[at + 1] - level, c = f[at + across + 1] - level, d = f[at + across] - level;
      const ends = [];
      if ((a > 0) !== (b > 0)) ends.push(i + a / (a - b), j);
      if ((b > 0) !== (c > 0)) ends.push(i + 1, j + b / (b - c));
      if ((d > 0) !== (c > 0)) ends.push(i + d / (d - c), j + 1);
      if ((a > 0) !== (d > 0)) ends.push(i, j + a / (a - d));
      if (ends.length === 4) found.push(ends);
      else if (ends.length === 8) {      // a saddle: its middle tells which ends belong together
        const middle = (a + b + c + d) / 4 > 0, [p, q, r, s] = [0, 2, 4, 6].map((k) => [ends[k], ends[k + 1]]);
        if (middle === (a > 0)) found.push([...p, ...q], [...r, ...s]);
        else found.push([...p, ...s], [...q, ...r]);
      }
    }
  }
  return found;
}

function drawLines(pen) {
  const { fields, rule, classes, grid: [across, up], margin } = shown;
  const [x0, y0, x1, y1] = cornersOf(shown);
  const trace = (pieces, width, dash) => {
    pen.beginPath();
    for (const [a, b, c, d] of pieces) {
      pen.moveTo(x0 + (a / (across - 1)) * (x1 - x0), y1 - (b / (up - 1)) * (y1 - y0));
      pen.lineTo(x0 + (c / (across - 1)) * (x1 - x0), y1 - (d / (up - 1)) * (y1 - y0));
    }
    pen.lineWidth = width;
    pen.strokeStyle = paint("ink");
    pen.setLineDash(dash);
    pen.stroke();
    pen.setLineDash([]);
  };
  pen.lineCap = "round";
  if (rule === "sign") {
    if (margin) for (const level of [-1, 1]) traceJoined(pen, crossings(fields[0], across, up, level), shown);
    trace(crossings(fields[0], across, up, 0), 2, []);
    return;
  }
  const pairs = pairsOf(classes.length), votes = new Int8Array(classes.length);
  const count = rule === "argmax" ? classes.length : pairs.length;
  const valuesAt = (x, y) => {
    const i = Math.min(x | 0, across - 2), j = Math.min(y | 0, up - 2), u = x - i, v = y - j, at = j * across + i;
    return Float32Array.from({ length: count }, (_, k) => {
      const f = fields[k];
      return (1 - v) * ((1 - u) * f[at] + u * f[at + 1]) + v * ((1 - u) * f[at + across] + u * f[at + across + 1]);
    });
  };
  pairs.forEach(([a, b], k) => {
    const f = rule === "argmax" ? fields[a].map((value, at) => value - fields[b][at]) : fields[k];
    const real = crossings(f, across, up, 0).filter(([p, q, r, s]) => {
      const values = valuesAt((p + r) / 2, (q + s) / 2);
      if (rule === "argmax") { const top = winner(rule, values, pairs, votes); return top === a || top === b; }
      values[k] = 1;
      const one = winner(rule, values, pairs, votes);
      values[k] = -1;
      return one !== winner(rule, values, pairs, votes);
    });
    trace(real, 2, []);
  });
}

// Dashes need lines that go on from cell to cell.
function traceJoined(pen, pieces, { grid: [across, up], view }) {
  const key = (x, y) => `${Math.round(x * 512)},${Math.round(y * 512)}`, ends = new Map();
  const add = (k, piece) => (ends.get(k) || ends.set(k, []).get(k)).push(piece);
  const left = new Set(pieces);
  for (const piece of pieces) { add(key(piece[0], piece[1]), piece); add(key(piece[2], piece[3]), piece); }
  const follow = (x, y) => {
    const found = [];
    for (;;) {
      const next = (ends.get(key(x, y)) || []).find((one) => left.has(one));
      if (!next) return found;
      left.delete(next);
      [x, y] = key(next[0], next[1]) === key(x, y) ? [next[2], next[3]] : [next[0], next[1]];
      found.push([x, y]);
    }
  };
  const [x0, y0, x1, y1] = cornersOf({ view });
  pen.lineWidth = 1.4;
  pen.strokeStyle = paint("ink");
  pen.setLineDash([6, 5]);
  for (const piece of pieces) {
    if (!left.delete(piece)) continue;
    const [a, b, c, d] = piece, line = [...follow(a, b).reverse(), [a, b], [c, d], ...follow(c, d)];
    pen.beginPath();
    line.forEach(([x, y], k) => {
      const to = [x0 + (x / (across - 1)) * (x1 - x0), y1 - (y / (up - 1)) * (y1 - y0)];
      if (k) pen.lineTo(...to); else pen.moveTo(...to);
    });
    pen.stroke();
  }
  pen.setLineDash([]);
}

function drawCurve(pen) {
  const [middle, low, high] = shown.curve, [left, right] = shown.view, n = middle.length;
  const at = (values, k) => toScreen(left + ((right - left) * k) / (n - 1), clamp(values[k]));
  const clamp = (value) => Math.max(-1e5, Math.min(1e5, value));
  pen.beginPath();
  for (let k = 0; k < n; k++) pen.lineTo(...at(high, k));
  for (let k = n - 1; k >= 0; k--) pen.lineTo(...at(low, k));
  pen.closePath();
  pen.globalAlpha = 0.2;
  pen.fillStyle = color(0);
  pen.fill();
  pen.globalAlpha = 1;
  pen.strokeStyle = paint("ink");
  for (const [values, width, dash] of [[middle, 2.2, []], [low, 1.2, [6, 5]], [high, 1.2, [6, 5]]]) {
    pen.beginPath();
    for (let k = 0; k < n; k++) pen.lineTo(...at(values, k));
    pen.lineWidth = width;
    pen.setLineDash(dash);
    pen.stroke();
  }
  pen.setLineDash([]);
}

function steps(low, high, most) {       // round numbers between two ends
  const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((f) => f * power).find((one) => one >= raw), found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(+(k * step).toPrecision(10));
  return found;
}

function drawTicks(pen, w, h) {
  const [left, right, bottom, top] = bounds();
  const axes = state.axes.length ? state.axes : [{ name: "", center: 0, scale: 1 }, { name: "", center: 0, scale: 1 }];
  pen.font = '12px system-ui, "Segoe UI", Roboto, Arial, sans-serif';
  pen.fillStyle = paint("soft");
  pen.strokeStyle = paint("soft");
  pen.lineWidth = 1;
  const write = (text, x, y) => {
    pen.lineWidth = 3; pen.strokeStyle = paint("paper"); pen.globalAlpha = 0.75; pen.strokeText(text, x, y);
    pen.globalAlpha = 1; pen.lineWidth = 1; pen.strokeStyle = paint("soft"); pen.fillText(text, x, y);
  };
  const said = (value) => String(+value.toPrecision(6)).replace("-", "−");
  const [a, b] = axes, raw = (axis, value) => axis.center + axis.scale * value;
  pen.textAlign = "center"; pen.textBaseline = "bottom";
  for (const value of steps(raw(a, left), raw(a, right), Math.max(3, w / 90))) {
    const [x] = toScreen((value - a.center) / a.scale, 0);
    if (x < 44 || x > w - 20) continue;
    pen.beginPath(); pen.moveTo(x, h); pen.lineTo(x, h - 5); pen.stroke();
    if (x < w - 150) write(said(value), x, h - 6);
  }
  pen.textAlign = "left"; pen.textBaseline = "middle";
  let widest = 0;                       // of the numbers, beside which the name stands
  for (const value of steps(raw(b, bottom), raw(b, top), Math.max(3, h / 70))) {
    const [, y] = toScreen(0, (value - b.center) / b.scale);
    if (y < 12 || y > h - 26) continue;
    pen.beginPath(); pen.moveTo(0, y); pen.lineTo(5, y); pen.stroke();
    write(said(value), 8, y);
    widest = Math.max(widest, pen.measureText(said(value)).width);
  }
  if (a.name) { pen.textAlign = "center"; pen.textBaseline = "bottom"; write(`${a.name} →`, w / 2, h - 22); }
  if (b.name) {
    pen.save(); pen.translate(widest + 26, h / 2); pen.rotate(-Math.PI / 2); pen.textAlign = "center"; pen.textBaseline = "bottom";
    write(`${b.name} →`, 0, 0); pen.restore();
  }
}

const SHAPES = [
  (pen, r) => pen.arc(0, 0, r, 0, 7),
  (pen, r) => pen.rect(-0.88 * r, -0.88 * r, 1.76 * r, 1.76 * r),
  (pen, r) => polygon(pen, 1.25 * r, 3, 0),
  (pen, r) => polygon(pen, 1.25 * r, 4, 0),
  (pen, r) => polygon(pen, 1.25 * r, 3, Math.PI),
  (pen, r) => polygon(pen, 1.15 * r, 5, 0),
  (pen, r) => polygon(pen, 1.15 * r, 6, 0),
  (pen, r) => star(pen, 1.4 * r),
];
function polygon(pen, r, corners, turn) {
  for (let k = 0; k < corners; k++) pen.lineTo(r * Math.sin(turn + (2 * Math.PI * k) / corners), -r * Math.cos(turn + (2 * Math.PI * k) / corners));
  pen.closePath();
}
function star(pen, r) {
  for (let k = 0; k < 10; k++) { const at = k % 2 ? 0.45 * r : r; pen.lineTo(at * Math.sin((Math.PI * k) / 5), -at * Math.cos((Math.PI * k) / 5)); }
  pen.closePath();
}
function sign(pen, x, y, label, kind, r, faint) {
  pen.save();
  pen.translate(x, y);
  pen.globalAlpha = faint ? 0.45 : 1;
  pen.beginPath();
  SHAPES[label % SHAPES.length](pen, r);
  const heavy = kind === "bound" || kind === "slack" || kind === "mistake";
  pen.lineWidth = heavy ? 4.5 : 2.5;
  pen.strokeStyle = heavy ? paint("ink") : paint("paper");
  pen.lineJoin = "round";
  pen.stroke();
  pen.fillStyle = color(label);
  pen.fill();
  if (kind === "margin" || kind === "relevance") {
    pen.beginPath(); pen.arc(0, 0, r + 4.5, 0, 7); pen.lineWidth = 2; pen.strokeStyle = paint("ink"); pen.stroke();
  }
  pen.restore();
}
function drawPoints(pen) {
  const kinds = new Map(shown ? shown.support : []), r = state.points.length > 250 ? 3.6 : 5;
  const order = state.points.map((_, k) => k).sort((a, b) => kinds.has(a) - kinds.has(b));
  const alone = state.machine === "one_class";
  for (const k of order) {
    const label = shown?.curve ? 0 : state.labels[k];
    sign(pen, ...toScreen(...state.points[k]), label, kinds.get(k), k === state.carried || k === state.dragged ? r + 2 : r, alone && label > 0);
  }
}
function drawCross(pen) {
  const [x, y] = toScreen(...state.cross), length = state.carried < 0 ? 12 : 18;
  for (const [style, width] of [[paint("paper"), 4], [paint("ink"), 1.6]]) {
    pen.strokeStyle = style; pen.lineWidth = width; pen.beginPath();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) { pen.moveTo(x + 4 * dx, y + 4 * dy); pen.lineTo(x + length * dx, y + length * dy); }
    pen.stroke();
  }
}

function legend(kinds) {
  const said = {
    margin: "support vector on the margin", bound: "support vector at the bound C", slack: "support vector, with slack",
    relevance: "relevance vector", mistake: "learned from by mistake",
  };
  if (shown && shown.task === "region") Object.assign(said, { margin: "support vector on the boundary", bound: "support vector at the bound" });
  if (shown && shown.task === "curve") Object.assign(said, { margin: "support vector on the tube", bound: "support vector outside the tube" });
  const entries = kinds.filter((kind) => kind in said).map((kind) => [said[kind], (pen) => sign(pen, 13, 10, 0, kind, 5)]);
  if (shown?.margin) entries.push(["margin, f = ±1", (pen) => dash(pen, [4, 3])]);
  $("legend").replaceChildren(...entries.map(([text, paintIt]) => {
    const item = document.createElement("li"), mark = document.createElement("canvas");
    paintIt(prepared(mark, 26, 20));
    item.append(mark, text);
    return item;
  }));
}
function dash(pen, pattern) {
  pen.strokeStyle = paint("ink"); pen.lineWidth = 1.6; pen.setLineDash(pattern);
  pen.beginPath(); pen.moveTo(1, 10); pen.lineTo(25, 10); pen.stroke();
}

// ---------------------------------------------------------------- the surface of a criterion

function axesOfMap() {
  const setting = (name) => state.about.settings[name], own = moved();
  const scale = (name, count) => {
    if (!name) return [null];
    if (FITS) return state.about.steps[name];
    const { low, high } = setting(name), values = [];
    for (let k = 0; k < count; k++) values.push(+(low * (high / low) ** (k / (count - 1))).toPrecision(3));
    return values;
  };
  const across = own.find((name) => name === "C" || name === "nu") || null, up = own.includes("gamma") ? "gamma" : null;
  return { across, up, xs: scale(across, MAP.across), ys: scale(up, MAP.up) };
}

async function follow(signal) {
  const axes = axesOfMap(), criterion = $("criterion").value;
  const free = pick(question().settings, names().filter((name) => name !== axes.across && name !== axes.up));
  const key = JSON.stringify([state.points, state.labels, state.machine, state.kernel, free, criterion]);
  map.hidden = !(axes.across || axes.up);
  if (map.hidden) { $("scale").textContent = "This machine has no price or width to choose with this kernel."; return; }
  if (surface.key === key && surface.done) { drawMap(); return; }
  if (surface.key !== key) surface = { key, ...axes, values: new Map(), done: false, problem: "" };
  const todo = [];
  axes.ys.forEach((_, j) => axes.xs.forEach((_, i) => { if (!surface.values.has(`${i},${j}`)) todo.push([i, j]); }));
  $("stop").hidden = Boolean(FITS);
  let chunk = FITS ? todo.length : 2;
  try {
    while (todo.length && !signal.aborted) {
      const part = todo.splice(0, chunk), cells = part.map(([i, j]) => cellOf(axes, i, j)), begun = performance.now();
      const found = await ask("surface", { ...question(), criterion, cells }, signal);
      part.forEach(([i, j], k) => surface.values.set(`${i},${j}`, found.values[k]));
      chunk = Math.max(1, Math.min(13, Math.round((chunk * 120) / (performance.now() - begun + 1))));
      drawMap();
    }
    surface.done = !todo.length;
  } catch (error) {
    if (error.name !== "AbortError") surface.problem = error.message;
  }
  $("stop").hidden = true;
  drawMap();
}
function cellOf(axes, i, j) {
  const cell = {};
  if (axes.across) cell[axes.across] = axes.xs[i];
  if (axes.up) cell[axes.up] = axes.ys[j];
  return cell;
}

const EDGE = { left: 44, right: 8, top: 8, bottom: 30 };
function placesOfMap() {
  const w = map.clientWidth, h = map.clientHeight, columns = surface.xs.length, rows = surface.ys.length;
  return { w, h, columns, rows, cw: (w - EDGE.left - EDGE.right) / columns, ch: (h - EDGE.top - EDGE.bottom) / rows };
}
function placeOf(values, value, count) {  // of a setting between the middles of cells, in cells
  if (values[0] === null) return 0.5;
  const logs = values.map(Math.log), at = Math.log(value);
  for (let k = 0; k < count - 1; k++) if (at <= logs[k + 1]) return clip((at - logs[k]) / (logs[k + 1] - logs[k]) + k + 0.5, count);
  return count - 0.5;
}
function drawMap() {
  if (map.hidden || !surface.xs.length) return;
  map.style.height = surface.ys.length > 1 ? "" : "5rem";
  const { w, h, columns, rows, cw, ch } = placesOfMap(), pen = prepared(map, w, h);
  const values = [...surface.values.values()].filter((v) => v !== null), low = Math.min(...values), high = Math.max(...values);
  const deep = rgb(paint("blue")), pale = mixed(rgb(paint("paper")), deep, 0.1);
  let best = null;
  for (let j = 0; j < rows; j++) for (let i = 0; i < columns; i++) {
    const value = surface.values.get(`${i},${j}`), x = EDGE.left + i * cw, y = h - EDGE.bottom - (j + 1) * ch;
    if (value === undefined) continue;
    if (value === null) { hatch(pen, x, y, cw, ch); continue; }
    const good = high > low ? 1 - ranked(value, low, high) : 1;
    pen.fillStyle = `rgb(${mixed(pale, deep, good).map(Math.round).join()})`;
    pen.fillRect(x, y, cw + 0.5, ch + 0.5);
    if (!best || value < best.value) best = { value, x: x + cw / 2, y: y + ch / 2, i, j };
  }
  pen.strokeStyle = paint("line"); pen.lineWidth = 1;
  pen.strokeRect(EDGE.left, EDGE.top, cw * columns, ch * rows);
  pen.font = '12px system-ui, "Segoe UI", Roboto, Arial, sans-serif';
  pen.fillStyle = paint("soft");
  labelsOf(pen, surface.across, surface.xs, cw, (k) => [EDGE.left + (k + 0.5) * cw, h - EDGE.bottom + 4], false, w, h);
  labelsOf(pen, surface.up, surface.ys, ch, (k) => [EDGE.left - 5, h - EDGE.bottom - (k + 0.5) * ch], true, w, h);
  const x = EDGE.left + placeOf(surface.xs, state.settings[surface.across], columns) * cw;
  const y = h - EDGE.bottom - placeOf(surface.ys, state.settings[surface.up], rows) * ch;
  if (best && surface.done) {
    pen.save();
    pen.translate(best.x, best.y);
    pen.beginPath();
    star(pen, 7);
    pen.lineWidth = 3;
    pen.strokeStyle = paint("ink");
    pen.stroke();
    pen.fillStyle = paint("paper");
    pen.fill();
    pen.restore();
  }
  for (const [style, width] of [[paint("paper"), 5], [paint("ink"), 2.2]]) {
    pen.beginPath();
    pen.arc(x, y, 7, 0, 7);
    pen.strokeStyle = style;
    pen.lineWidth = width;
    pen.stroke();
  }
  explainMap(values, low, high, columns * rows);
}
function explainMap(values, low, high, total) {
  const said = (v) => (Math.abs(v) >= 1e-3 || v === 0 ? String(+v.toPrecision(3)) : v.toExponential(1));
  const lead = surface.done ? "" : `${surface.values.size} of ${total}. `;
  const star = surface.done ? ", the star the least" : "", gaps = values.length < surface.values.size ? ", hatched has no value" : "";
  const words = `Strong blue is low, from ${said(low)} to ${said(high)}. The ring is where you are${star}${gaps}; click to go there.`;
  $("scale").textContent = surface.problem || (values.length ? lead + words : lead);
}
function mixed(a, b, share) { return a.map((v, k) => v + (b[k] - v) * share); }
function ranked(value, low, high) {      // by logarithm where values span decades
  return low > 0 && high / low > 30 ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}
function hatch(pen, x, y, w, h) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, w, h);
  pen.clip();
  pen.strokeStyle = paint("soft");
  pen.globalAlpha = 0.6;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let d = -h; d < w; d += 6) { pen.moveTo(x + d, y + h); pen.lineTo(x + d + h, y); }
  pen.stroke(); pen.restore();
}
function labelsOf(pen, name, values, step, place, upright, w, h) {
  if (!name) return;
  const decades = [];
  for (let power = 1e-3; power < 2e4; power *= 10) if (power > values[0] * 0.99 && power < values.at(-1) * 1.01) decades.push(+power.toPrecision(1));
  let last = -1e9;
  pen.textAlign = upright ? "right" : "center";
  pen.textBaseline = upright ? "middle" : "top";
  for (const value of FITS ? values : decades) {
    const k = placeOf(values, value, values.length) - 0.5;
    if (k * step - last < (upright ? 16 : 34)) continue;
    last = k * step;
    pen.fillText(String(value), ...place(k));
  }
  const title = { C: "C", gamma: "γ", nu: "ν" }[name];
  pen.font = 'italic 13px system-ui, "Segoe UI", Roboto, Arial, sans-serif';
  [pen.textAlign, pen.textBaseline] = upright ? ["left", "top"] : ["right", "bottom"];
  pen.fillText(title, upright ? 2 : w - 2, upright ? EDGE.top : h);
  pen.font = '12px system-ui, "Segoe UI", Roboto, Arial, sans-serif';
}
map.addEventListener("click", (event) => {
  if (!surface.xs.length) return;
  const { h, columns, rows, cw, ch } = placesOfMap();
  const i = Math.floor((event.offsetX - EDGE.left) / cw), j = Math.floor((h - EDGE.bottom - event.offsetY) / ch);
  if (i < 0 || j < 0 || i >= columns || j >= rows) return;
  Object.assign(state.settings, cellOf(surface, i, j));
  sliders();
  changed();
});

// ---------------------------------------------------------------- points: pointer, keys, undo

const MEANING = ["names", "axes", "source", "table", "columns"];   // of the points, beside their places

function remember() {
  state.past.push([pointsAsText(), pick(state, MEANING)]);
  if (state.past.length > 60) state.past.shift();
  $("undo").disabled = false;
}
function undo() {
  if (!state.past.length || FITS) return;
  const [text, meaning] = state.past.pop();
  [state.points, state.labels] = JSON.parse(text);
  const before = state.axes;
  Object.assign(state, meaning, { carried: -1 });
  if (state.axes !== before) frame();
  showColumns();
  $("undo").disabled = !state.past.length;
  touched();
}
function add(x, y) {
  if (state.points.length >= state.about.most_points) { tell(`At most ${state.about.most_points} points can be played with.`); return -1; }
  state.points.push([x, y]);
  state.labels.push(state.current);
  return state.points.length - 1;
}
function remove(k) {
  remember();
  state.points.splice(k, 1);
  state.labels.splice(k, 1);
  state.carried = -1;
  touched();
}
function touched() {                    // the points are no longer those of the example
  state.example = "";
  if (!FITS) $("example").value = "";
  classButtons();
  changed();
}

// A finger on a point drags it. Elsewhere it may be about to scroll: only where it has not moved was it a tap.
const REACH = { mouse: 11, finger: 20 }, STILL = 10;
let tap = null;
plane.addEventListener("touchstart", (event) => {
  if (FITS || !state.about || state.erasing || event.touches.length > 1) return;
  const box = plane.getBoundingClientRect(), [finger] = event.touches;
  const x = finger.clientX - box.x - plane.clientLeft, y = finger.clientY - box.y - plane.clientTop;
  if (nearest(x, y, REACH.finger) >= 0) event.preventDefault();
}, { passive: false });
function tapped() {
  const { x, y } = tap, k = nearest(x, y, REACH.finger);
  if (state.erasing) { if (k >= 0) remove(k); return; }
  remember();
  if (add(...toWorld(x, y)) >= 0) touched();
}
plane.addEventListener("pointerdown", (event) => {
  if (FITS || !state.about || event.button === 1) return;
  if (!event.isPrimary) { tap = null; return; }
  plane.focus({ preventScroll: true });
  state.cross = null;
  const finger = event.pointerType !== "mouse";
  const k = nearest(event.offsetX, event.offsetY, finger ? REACH.finger : REACH.mouse);
  if (finger && (state.erasing || k < 0)) {
    tap = { x: event.offsetX, y: event.offsetY, left: event.clientX, top: event.clientY };
    return;
  }
  if (event.button === 2 || state.erasing) { if (k >= 0) remove(k); return; }
  remember();
  state.dragged = k >= 0 ? k : add(...toWorld(event.offsetX, event.offsetY));
  if (state.dragged < 0) return;
  plane.setPointerCapture(event.pointerId);
  if (k < 0) touched();
});
plane.addEventListener("pointermove", (event) => {
  if (FITS || !state.about) return;
  if (tap && event.isPrimary && Math.hypot(event.clientX - tap.left, event.clientY - tap.top) > STILL) tap = null;
  if (state.dragged < 0) {
    const over = event.pointerType === "mouse" && nearest(event.offsetX, event.offsetY, 11) >= 0;
    plane.style.cursor = over ? (state.erasing ? "not-allowed" : "grab") : "crosshair";
    return;
  }
  const [w, h] = size();
  state.points[state.dragged] = toWorld(clip(event.offsetX, w), clip(event.offsetY, h));
  touched();
});
for (const name of ["pointerup", "pointercancel"]) {
  plane.addEventListener(name, (event) => {
    if (tap && name === "pointerup" && event.isPrimary) tapped();
    tap = null;
    state.dragged = -1;
    draw();
  });
}
plane.addEventListener("contextmenu", (event) => { if (!FITS) event.preventDefault(); });
plane.addEventListener("focus", draw);
plane.addEventListener("blur", () => { state.carried = -1; draw(); });

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
plane.addEventListener("keydown", (event) => {
  if (FITS || event.ctrlKey || event.metaKey || event.altKey) return;
  const here = state.cross || [state.view.x, state.view.y], [px, py] = toScreen(...here), under = nearest(px, py, 10);
  if (event.key in ARROWS) {
    const far = event.shiftKey ? 40 : 8, [dx, dy] = ARROWS[event.key], [w, h] = size();
    state.cross = toWorld(clip(px + far * dx, w), clip(py + far * dy, h));
    if (state.carried >= 0) { state.points[state.carried] = [...state.cross]; touched(); }
  } else if (event.key === "Enter" || event.key === " ") {
    if (state.carried >= 0) state.carried = -1;
    else {
      remember();
      if (under >= 0) { state.carried = under; state.cross = [...state.points[under]]; } else if (add(...toWorld(px, py)) >= 0) touched();
    }
    state.cross ||= toWorld(px, py);
  } else if (event.key === "Escape" && state.carried >= 0) state.carried = -1;
  else if ((event.key === "Delete" || event.key === "Backspace") && under >= 0) remove(under);
  else if (event.key.toLowerCase() === "n" && state.points.length) {
    const k = (under + 1) % state.points.length;
    state.cross = [...state.points[k]];
    if (toScreen(...state.cross).some((v) => v < 0)) frame();
  } else if (/^[1-8]$/.test(event.key)) choose(+event.key - 1);
  else return;
  event.preventDefault();
  draw();
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !event.shiftKey) { event.preventDefault(); undo(); }
  else if (event.key === "Escape" && !event.defaultPrevented) dismiss();
});
$("dismiss").addEventListener("click", dismiss);
$("undo").addEventListener("click", undo);
$("clear").addEventListener("click", () => { remember(); state.points = []; state.labels = []; touched(); });
$("erase").addEventListener("click", () => erase(!state.erasing));
function erase(on) { state.erasing = on; $("erase").setAttribute("aria-pressed", String(on)); }

// ---------------------------------------------------------------- controls

function choose(k) {
  if (k >= state.about.most_classes) return;
  state.current = k;
  erase(false);
  classButtons();
}
function classButtons() {
  const used = Math.max(0, ...state.labels.map((k) => k + 1), state.current + 1, state.names?.length || 0);
  const count = Math.min(state.about.most_classes, Math.max(3, used + (used > 2 ? 1 : 0)));
  const focused = document.activeElement?.closest?.("#classes") !== null;
  $("classes").replaceChildren(...Array.from({ length: count }, (_, k) => {
    const button = document.createElement("button"), mark = document.createElement("canvas"), word = document.createElement("span");
    button.type = "button";
    button.setAttribute("role", "radio");
    button.setAttribute("aria-checked", String(k === state.current));
    button.tabIndex = k === state.current ? 0 : -1;
    word.textContent = state.names?.[k] || LETTERS[k];
    button.title = `Class of new points (key ${k + 1})`;
    sign(prepared(mark, 16, 16), 8, 8.5, k, "", 5, false);
    button.append(mark, word);
    button.addEventListener("click", () => { choose(k); $("classes").children[k].focus(); });
    button.addEventListener("keydown", (event) => {
      const turn = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!turn) return;
      event.preventDefault();
      choose((k + turn + count) % count);
      $("classes").children[state.current]?.focus();
    });
    return button;
  }));
  if (focused) $("classes").children[state.current]?.focus();
}

function fill(select, entries, value) {
  select.replaceChildren(...entries.map(([name, title]) => new Option(title, name)));
  select.value = value;
}

function sliders() {
  const all = moved().map((name) => {
    const setting = state.about.settings[name], stops = FITS ? state.about.steps[name] : null;
    const box = document.createElement("div"), head = document.createElement("div"), label = document.createElement("label");
    const output = document.createElement("output"), input = document.createElement("input"), hint = document.createElement("p");
    box.className = "slider";
    input.type = "range";
    input.id = `set-${name}`;
    label.htmlFor = input.id;
    output.htmlFor = input.id;
    label.textContent = setting.title;
    hint.className = "aside";
    hint.textContent = setting.hint;
    const logs = setting.scale === "log", whole = setting.scale === "whole";
    const toValue = (at) => {
      if (stops) return stops[at];
      if (whole) return at;
      const share = at / 240, { low, high } = setting;
      return Math.max(low, Math.min(high, +(logs ? low * (high / low) ** share : low + share * (high - low)).toPrecision(3)));
    };
    const toPlace = (value) => {
      if (stops) return stops.reduce((best, one, k) => (Math.abs(Math.log(one / value)) < Math.abs(Math.log(stops[best] / value)) ? k : best), 0);
      if (whole) return value;
      const { low, high } = setting;
      return Math.round(240 * (logs ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low)));
    };
    [input.min, input.max, input.step] = stops ? [0, stops.length - 1, 1] : whole ? [setting.low, setting.high, 1] : [0, 240, 1];
    input.value = toPlace(state.settings[name]);
    if (stops) state.settings[name] = stops[+input.value];
    const say = () => { output.textContent = String(state.settings[name]); input.setAttribute("aria-valuetext", output.textContent); };
    input.addEventListener("input", () => { state.settings[name] = toValue(+input.value); say(); drawMap(); changed(); });
    say();
    head.append(label, output);
    box.append(head, input, hint);
    return box;
  });
  $("sliders").replaceChildren(...all);
}

function machineChanged() {
  const machine = state.about.machines[state.machine];
  $("machine").value = state.machine;
  $("hint").textContent = machine.hint;
  fill($("criterion"), machine.criteria.map((name) => [name, state.about.criteria[name]]), machine.criteria[0]);
  $("criterion").disabled = Boolean(FITS);
  surface = { key: "", values: new Map(), xs: [], ys: [], done: false };
  sliders();
  changed();
}
function offered() {                    // of stored fits each example has its machines
  const known = FITS ? state.about.offered[state.example] : Object.keys(state.about.machines);
  fill($("machine"), known.map((name) => [name, state.about.machines[name].title]), state.machine);
}
function load(found) {
  state.points = found.points.map((point) => [...point]);
  state.labels = [...found.labels];
  state.names = found.names;
  state.axes = found.axes;
  state.carried = state.dragged = -1;
  state.current = 0;
  state.cross = null;
  if (found.machine) state.machine = found.machine;
  offered();
  frame();
  classButtons();
  machineChanged();
}
function loadExample(name) {
  const found = state.about.examples.find((one) => one.name === name);
  if (!found) return;
  if (!FITS && state.points.length) remember();
  state.example = name;
  Object.assign(state, { table: null, columns: null, source: null });
  showColumns();
  $("example").value = name;
  load(found);
}
function start() {                      // the table that the command was given
  if (state.points.length) remember();
  loadTable(state.about.start, null);
  state.example = $("example").value = "start";
}
function loadTable(found, table) {
  const { task } = state.about.machines[state.machine], several = new Set(found.labels).size > 1;
  const suits = several ? task === "classes" : task === "region";
  state.example = $("example").value = "";
  state.table = table;
  state.columns = pick(found, ["columns", "targets", "across", "up", "target", "notice"]);
  state.source = { ...found.source, text: JSON.stringify([found.points, found.labels]) };
  showColumns();
  load({ ...found, machine: suits ? state.machine : several ? "svc" : "svdd" });
}
function showColumns() {
  const { columns = [], targets = [], across, up, target, notice } = state.columns || {};
  const pairs = (list) => list.map((name) => [name, name]);
  fill($("across"), pairs(columns), across);
  fill($("up"), pairs(columns), up);
  fill($("target"), [["", "none"], ...pairs(targets)], target || "");
  $("columns").hidden = !state.table;
  $("notice").textContent = notice || "";
  $("notice").hidden = !notice;
}
let reading = 0;
async function readTable(table, choice) {  // what cannot be read changes nothing
  const own = ++reading;
  try {
    const found = await ask("table", { ...table, ...choice });
    if (own !== reading) return;
    if (state.points.length) remember();
    loadTable(found, table);
  } catch (error) {
    if (own !== reading) return;
    showColumns();
    tell(error.message);
  }
}

$("example").addEventListener("change", (event) => (event.target.value === "start" ? start() : loadExample(event.target.value)));
$("machine").addEventListener("change", (event) => { state.machine = event.target.value; machineChanged(); });
$("kernel").addEventListener("change", (event) => { state.kernel = event.target.value; surface.key = ""; sliders(); changed(); });
$("criterion").addEventListener("change", () => { surface.key = ""; changed(); });
$("stop").addEventListener("click", () => { later?.abort(); $("stop").hidden = true; });
$("file").addEventListener("change", async (event) => {
  const file = event.target.files[0];
  event.target.value = "";
  if (!file) return;
  if (file.size > 900000) { tell("The table may have at most 900,000 bytes here; mercer play FILE.csv takes larger ones."); return; }
  readTable({ name: file.name, ...textOf(await file.arrayBuffer()) }, {});
});
function textOf(bytes) {                // as files are written: UTF-8, or what Windows wrote before
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { text: new TextDecoder("windows-1252").decode(bytes), encoding: "cp1252" };
  }
}
for (const id of ["across", "up", "target"]) {
  $(id).addEventListener("change", () => {
    readTable(state.table, { across: $("across").value, up: $("up").value, target: $("target").value });
  });
}
$("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText($("code").textContent);
    $("copy").textContent = "Copied";
  } catch {
    getSelection().selectAllChildren($("code"));
    $("copy").textContent = "Marked: copy it now";
  }
  setTimeout(() => { $("copy").textContent = "Copy"; }, 2000);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  classButtons();
  if (shown) legend([...new Set(shown.support.map((one) => one[1]))]);
  draw();
  drawMap();
});
const narrow = matchMedia("(max-width: 54rem)");   // there the sliders stand under the picture, which they move
function arrange() { (narrow.matches ? $("legend") : $("numbers")).before($("sliders")); }
narrow.addEventListener("change", arrange);
arrange();
new ResizeObserver(() => { if (state.about) { draw(); drawMap(); if (!FITS) changed(); } }).observe(plane);

// ---------------------------------------------------------------- the beginning, and once more after a reload

const KEY = `mercer play ${location.pathname}`, KEPT = ["points", "labels", ...MEANING, "example", "machine", "kernel", "settings", "current"];
addEventListener("pagehide", () => {
  if (!state.about) return;
  try { sessionStorage.setItem(KEY, JSON.stringify(pick(state, KEPT))); } catch { /* the browser keeps nothing, or not so much */ }
});
function restored() {
  let kept = null;
  if (performance.getEntriesByType("navigation")[0]?.type === "navigate") return false;
  try { kept = JSON.parse(sessionStorage.getItem(KEY)); } catch { /* as above */ }
  const { machines, kernels, offered: offers } = state.about;
  if (!kept?.points || !(kept.machine in machines) || !(kept.kernel in kernels)) return false;
  if (FITS && !offers[kept.example]?.includes(kept.machine)) return false;
  Object.assign(state, kept, { settings: { ...state.settings, ...kept.settings } });
  $("example").value = state.example;
  $("kernel").value = state.kernel;
  offered();
  frame();
  showColumns();
  classButtons();
  machineChanged();
  return true;
}

(async function begin() {
  try { state.about = await ask("about", {}); } catch (error) { tell(error.message); return; }
  for (const [name, setting] of Object.entries(state.about.settings)) state.settings[name] = setting.start;
  const blank = FITS ? [] : [["", "your own"]];
  if (state.about.start) blank.push(["start", state.about.start.title]);
  fill($("example"), [...blank, ...state.about.examples.map((one) => [one.name, one.title])], "");
  fill($("kernel"), Object.entries(state.about.kernels).map(([name, one]) => [name, one.title]), state.kernel);
  $("undo").disabled = true;
  if (FITS) {
    document.body.classList.add("still");
    for (const id of ["tools", "open", "help"]) $(id).hidden = true;
    $("lead").textContent = "Fits computed beforehand: each example with some of the machines, two kernels and a few settings."
      + " mercer play, on your own machine, has all of them, and points that can be moved.";
    state.settings.C = 10;
    state.settings.gamma = 0.8;
  }
  if (restored()) return;
  if (state.about.start) start(); else loadExample(state.about.examples[0].name);
})();
