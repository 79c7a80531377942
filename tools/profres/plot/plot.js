'use strict';
// Draws the figure that stands as JSON in this page. What comes from files is put in as text,
// never as markup.
(() => {
  const figure = JSON.parse(document.getElementById('figure').textContent);
  const LEFT = 84, RIGHT = 14, TOP = 16, BOTTOM = 22, HEIGHT = 176, PHASES = 18;
  const state = { view: figure.first, range: null, cursor: null, shown: new Map() };
  const panels = []; // what is on the page now: { panel, svg, ... }
  const tip = make('div', { class: 'tip', hidden: '' });
  const spoken = make('div', { class: 'hidden', 'aria-live': 'polite' });

  // ---- making elements ----

  function make(name, attributes, ...children) {
    const element = name === 'svg' || attributes?.ns
      ? document.createElementNS('http://www.w3.org/2000/svg', name)
      : document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {}))
      if (key === 'style') element.style.cssText = value; // the page's policy allows this
      else if (key !== 'ns') element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  function draw(name, attributes, ...children) {
    return make(name, { ns: true, ...attributes }, ...children);
  }

  function colour(line) { return `var(--c${line.colour})`; }

  // ---- numbers ----

  function short(value) {
    const size = Math.abs(value);
    const text = value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
    return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  }

  function number(axis, value) {
    if (axis === 'bytes' || axis === 'rate') {
      const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
      let unit = 0;
      if (value === 0) return '0';
      while (value >= 999.5 && unit < 6) { value /= 1024; unit++; }
      return `${short(value)} ${units[unit]}${axis === 'rate' ? '/s' : ''}`;
    }
    return short(value) + (axis === 'share' && value !== 0 ? ' %' : '');
  }

  function time(seconds, step) {
    const two = (n) => String(n).padStart(2, '0');
    const whole = Math.round(seconds);
    if (step < 1 && seconds < 60) return seconds === 0 ? '0' : `${seconds.toFixed(1)} s`;
    if (seconds < 60) return whole === 0 ? '0' : `${whole} s`;
    if (whole < 3600) return `${Math.floor(whole / 60)}:${two(whole % 60)}`;
    const hours = Math.floor(whole / 3600), minutes = two(Math.floor(whole / 60) % 60);
    if (whole < 86400) return `${hours}:${minutes}:${two(whole % 60)}`;
    return `${Math.floor(hours / 24)}d ${two(hours % 24)}:${minutes}`;
  }

  function roundUp(least) {
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least * (1 - 1e-9));
  }

  function roundBytes(least) {
    let unit = 1;
    while (least > 512 * unit && unit < 2 ** 60) unit *= 1024;
    return unit * (unit === 1 ? Math.max(roundUp(least), 1) : roundUp(least / unit));
  }

  function scaleOf(axis, most) {
    const least = { bytes: 4096, rate: 4096, cores: 0.1, share: 1, count: 1 }[axis];
    const top = Math.max(most, least);
    let step = axis === 'bytes' || axis === 'rate' ? roundBytes(top / 4) : roundUp(top / 4);
    if (axis === 'count') step = Math.max(step, 1);
    const ticks = Math.ceil(top / step - 1e-9);
    return { step, ticks, top: step * ticks };
  }

  function timeStep(seconds, ticks) {
    const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
      10800, 21600, 43200, 86400];
    const least = seconds / ticks;
    return steps.find((step) => step >= least * (1 - 1e-9)) || 86400 * roundUp(least / 86400);
  }

  // ---- the data ----

  // Times and values are differences to the one before; null is a gap.
  function decode(differences, quantum) {
    let last = 0;
    return Float64Array.from(differences,
      (step) => step === null ? NaN : (last += step) * quantum);
  }

  function unpack(line, quantum) {
    if (line.times) return;
    line.times = decode(line.t, 0.001);
    line.values = decode(line.v, quantum);
    if (line.lv) line.lowers = decode(line.lv, quantum);
    line.most = line.values.reduce((most, v) => v > most ? v : most, 0);
  }

  function search(times, t) { // the last place whose time is not after t; gaps have none
    let low = 0, high = times.length;
    while (low < high) {
      let middle = (low + high) >> 1;
      const probe = Number.isNaN(times[middle]) ? times[middle + 1] : times[middle];
      if (probe <= t) low = middle + 1; else high = middle;
    }
    return low - 1;
  }

  function at(line, t, values = line.values) {
    const i = search(line.times, t);
    if (i < 0 || Number.isNaN(line.times[i])) return null;
    if (line.times[i] === t) return values[i];
    if (i + 1 >= line.times.length || Number.isNaN(line.times[i + 1])) return null;
    const share = (t - line.times[i]) / (line.times[i + 1] - line.times[i]);
    return values[i] + (values[i + 1] - values[i]) * share;
  }

  function isShown(panel, line) {
    return state.shown.get(`${panel.name}\n${line.key}\n${line.label}`) ?? !line.hidden;
  }

  function range() { return state.range || [0, Math.max(view().end, 0.1)]; }
  function view() { return figure.views[state.view]; }

  function mostIn(line, [from, to]) {
    let most = 0;
    for (let i = 0; i < line.times.length; i++)
      if (line.times[i] >= from && line.times[i] <= to && line.values[i] > most)
        most = line.values[i];
    return Math.max(most, at(line, from) || 0, at(line, to) || 0);
  }

  function panelMost(panel, span) {
    let most = 0, sums = null;
    for (const line of panel.lines) {
      if (!isShown(panel, line)) continue;
      if (line.style !== 'stack') { most = Math.max(most, mostIn(line, span)); continue; }
      sums = sums || new Float64Array(line.values.length);
      line.values.forEach((v, i) => { sums[i] += v; });
      line.values.forEach((v, i) => {
        if (line.times[i] >= span[0] && line.times[i] <= span[1]) most = Math.max(most, sums[i]);
      });
    }
    return most;
  }

  // ---- a panel ----

  function pathOf(line, x, y, values = line.values) {
    let text = '', pen = 'M';
    for (let i = 0; i < values.length; i++) {
      if (Number.isNaN(values[i])) { pen = 'M'; continue; }
      text += `${pen}${x(line.times[i]).toFixed(1)} ${y(values[i]).toFixed(1)}`;
      pen = 'L';
    }
    return text;
  }

  // Each stretch between gaps is closed by itself, down to zero.
  function areaOf(line, x, y) {
    let text = '', first = -1;
    for (let i = 0; i <= line.values.length; i++) {
      if (i < line.values.length && !Number.isNaN(line.values[i])) {
        text += `${first < 0 ? `M${x(line.times[i]).toFixed(1)} ${y(0).toFixed(1)}L` : 'L'}` +
          `${x(line.times[i]).toFixed(1)} ${y(line.values[i]).toFixed(1)}`;
        if (first < 0) first = i;
      } else if (first >= 0) {
        text += `L${x(line.times[i - 1]).toFixed(1)} ${y(0).toFixed(1)}Z`;
        first = -1;
      }
    }
    return text;
  }

  function between(line, lower, upper, x, y) {
    let text = '';
    for (let i = 0; i < upper.length; i++)
      text += `${i ? 'L' : 'M'}${x(line.times[i]).toFixed(1)} ${y(upper[i]).toFixed(1)}`;
    for (let i = lower.length - 1; i >= 0; i--)
      text += `L${x(line.times[i]).toFixed(1)} ${y(lower[i]).toFixed(1)}`;
    return text + 'Z';
  }

  function drawLines(panel, layer, x, y) {
    let sums = null, filled = false;
    for (const line of panel.lines) {
      if (!isShown(panel, line)) continue;
      const data = { 'data-key': line.key, 'data-label': line.label };
      if (line.style === 'stack') {
        const lower = sums || new Float64Array(line.values.length);
        const upper = line.values.map((v, i) => v + lower[i]);
        layer.append(draw('path', { ...data, d: between(line, lower, upper, x, y),
          style: `fill:${colour(line)}`, opacity: 0.8 }));
        sums = upper;
      } else if (line.style === 'band') {
        layer.append(draw('path', { ...data, d: between(line, line.lowers, line.values, x, y),
          style: `fill:${colour(line)}`, opacity: 0.24 }));
      } else {
        if (!filled && line.style === 'solid' && panel.lines[1]?.key !== line.key)
          layer.append(draw('path', { d: areaOf(line, x, y),
            style: `fill:${colour(line)}`, opacity: 0.1 }));
        filled = true;
        layer.append(draw('path', { ...data, class: `line ${line.style}`, d: pathOf(line, x, y),
          style: `stroke:${colour(line)}` }));
      }
    }
  }

  function drawMoments(entry, layer, x, height) {
    const [from, to] = range();
    let free = 0;
    view().moments.forEach((moment) => {
      if (moment.to < from || moment.from > to) return;
      const title = draw('title', {}, moment.text);
      if (moment.to === moment.from) {
        layer.append(draw('line', { class: `moment${moment.bad ? ' bad' : ''}`,
          x1: x(moment.from), x2: x(moment.from), y1: entry.top, y2: height }, title));
        return;
      }
      const x1 = Math.max(x(moment.from), LEFT), x2 = Math.min(x(moment.to), entry.width - RIGHT);
      layer.append(draw('rect', { class: 'phase', x: x1, width: Math.max(x2 - x1, 1), y: entry.top,
        height: height - entry.top, style: `fill:${colour(moment)}`, opacity: 0.07 }, title));
      if (!entry.phases) return;
      layer.append(draw('rect', { x: x1, width: Math.max(x2 - x1, 1), y: 2, height: 14, rx: 3,
        style: `fill:${colour(moment)}`, opacity: 0.3 }, title.cloneNode(true)));
      if (x2 - x1 > 24 && x1 >= free) {
        const letters = Math.floor((x2 - x1 - 6) / 6);
        layer.append(draw('text', { class: 'phase-name', x: x1 + 4, y: 13 },
          moment.text.length > letters ? `${moment.text.slice(0, letters)}…` : moment.text));
        free = x2;
      }
    });
  }

  function drawGrid(panel, layer, scale, x, y, height, width) {
    const [from, to] = range();
    const step = timeStep(to - from, Math.max(2, Math.floor((width - LEFT) / 110)));
    for (let i = 0; i <= scale.ticks; i++) {
      const at = y(i * scale.step);
      layer.append(draw('line', { class: i ? 'grid' : 'axis', x1: LEFT, x2: width - RIGHT, y1: at,
        y2: at }), draw('text', { x: LEFT - 8, y: at + 4, 'text-anchor': 'end' },
        number(panel.axis, i * scale.step)));
    }
    for (let i = Math.ceil(from / step - 1e-9); i * step <= to * (1 + 1e-9); i++)
      layer.append(draw('line', { class: 'grid', x1: x(i * step), x2: x(i * step),
        y1: TOP, y2: height }), draw('text', { class: 'time', y: height + 16,
        x: Math.min(x(i * step), width - 2),
        'text-anchor': x(i * step) > width - 40 ? 'end' : 'middle' }, time(i * step, step)));
  }

  function paint(entry) {
    const { panel, svg } = entry;
    const width = Math.max(svg.clientWidth || 800, 320), span = range();
    entry.phases = entry.index === 0 && view().moments.some((m) => m.to > m.from);
    entry.top = TOP + (entry.phases ? PHASES - TOP + 4 : 0);
    const height = HEIGHT + entry.top - BOTTOM;
    const scale = scaleOf(panel.axis, panelMost(panel, span));
    const x = (t) => LEFT + (width - LEFT - RIGHT) * (t - span[0]) / (span[1] - span[0]);
    const y = (v) => entry.top + (height - entry.top) * (1 - v / scale.top);
    const clip = `clip${entry.index}`;
    const layer = draw('g', { 'clip-path': `url(#${clip})` });

    Object.assign(entry, { width, x, y, height });
    svg.setAttribute('viewBox', `0 0 ${width} ${height + BOTTOM}`);
    svg.setAttribute('height', height + BOTTOM);
    svg.dataset.top = scale.top;
    svg.dataset.y0 = y(0);
    svg.dataset.y1 = y(scale.top);
    svg.replaceChildren(draw('clipPath', { id: clip }, draw('rect', { x: LEFT,
      width: width - LEFT - RIGHT, y: 0, height: height + 1 })));
    drawGrid(panel, svg, scale, x, y, height, width);
    drawMoments(entry, svg, x, height);
    drawLines(panel, layer, x, y);
    entry.range = draw('rect', { class: 'range', y: entry.top, height: height - entry.top,
      width: 0 });
    entry.cursor = draw('line', { class: 'cursor', y1: entry.top, y2: height,
      visibility: 'hidden' });
    svg.append(layer, entry.range, entry.cursor);
  }

  // ---- what the pointer or the keys are at ----

  function valueText(panel, line, t) {
    const value = at(line, t);
    if (value === null) return '–';
    return line.lowers ? `${number(panel.axis, at(line, t, line.lowers))} – ` +
      number(panel.axis, value) : number(panel.axis, value);
  }

  function readOut(entry) {
    for (const { line, value, most } of entry.legend)
      value.textContent = state.cursor === null ? most : valueText(entry.panel, line, state.cursor);
  }

  function showCursor() {
    for (const entry of panels) {
      const there = state.cursor !== null;
      entry.cursor.setAttribute('visibility', there ? 'visible' : 'hidden');
      if (there) {
        entry.cursor.setAttribute('x1', entry.x(state.cursor));
        entry.cursor.setAttribute('x2', entry.x(state.cursor));
      }
      readOut(entry);
    }
  }

  function near(t) {
    const slack = (range()[1] - range()[0]) / 150;
    return view().moments.filter((m) => t >= m.from - slack && t <= m.to + slack).slice(0, 4);
  }

  function showTip(entry, clientX, clientY) {
    const rows = entry.panel.lines.filter((line) => isShown(entry.panel, line)).slice(0, 14)
      .map((line) => {
        const dot = make('span', { class: 'dot', style: `background:${colour(line)}` });
        return make('tr', {}, make('td', {}, dot, line.label),
          make('td', {}, valueText(entry.panel, line, state.cursor)));
      });
    for (const moment of near(state.cursor))
      rows.push(make('tr', {}, make('td', { colspan: 2, class: 'moment' }, moment.text)));
    tip.replaceChildren(make('div', { class: 'when' }, time(state.cursor, 0.1)),
      make('table', {}, ...rows));
    placeTip(clientX, clientY);
  }

  function placeTip(clientX, clientY) {
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = clientX + 16 + box.width > innerWidth ? clientX - 16 - box.width : clientX + 16;
    tip.style.left = `${Math.max(left, 4)}px`;
    tip.style.top = `${Math.min(Math.max(clientY + 14, 4), innerHeight - box.height - 4)}px`;
  }

  function timeAt(entry, clientX) {
    const box = entry.svg.getBoundingClientRect();
    const inside = (clientX - box.left) * entry.width / box.width;
    const share = (inside - LEFT) / (entry.width - LEFT - RIGHT);
    const [from, to] = range();
    return from + Math.min(Math.max(share, 0), 1) * (to - from);
  }

  function setRange(from, to) {
    const end = Math.max(view().end, 0.1);
    from = Math.max(from, 0);
    to = Math.min(to, end);
    if (to - from < end / 5000) return;
    state.range = from <= 0 && to >= end ? null : [from, to];
    document.getElementById('reset').disabled = !state.range;
    repaint();
  }

  function listen(entry) {
    let dragged = null;
    const { svg } = entry;
    svg.addEventListener('pointerdown', (event) => {
      dragged = timeAt(entry, event.clientX);
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener('pointermove', (event) => {
      state.cursor = timeAt(entry, event.clientX);
      showCursor();
      showTip(entry, event.clientX, event.clientY);
      if (dragged === null) return;
      const [a, b] = [dragged, state.cursor].sort((p, q) => p - q).map(entry.x);
      for (const other of panels) {
        other.range.setAttribute('x', a);
        other.range.setAttribute('width', b - a);
      }
    });
    svg.addEventListener('pointerup', (event) => {
      const from = dragged, to = timeAt(entry, event.clientX);
      dragged = null;
      for (const other of panels) other.range.setAttribute('width', 0);
      if (from !== null && Math.abs(entry.x(to) - entry.x(from)) > 6)
        setRange(Math.min(from, to), Math.max(from, to));
    });
    svg.addEventListener('pointerleave', leave);
    svg.addEventListener('dblclick', () => setRange(0, Infinity));
    svg.addEventListener('keydown', (event) => keyed(entry, event));
    svg.addEventListener('blur', leave);
  }

  function leave() {
    state.cursor = null;
    tip.hidden = true;
    showCursor();
  }

  function keyed(entry, event) {
    const [from, to] = range(), step = (to - from) / (event.shiftKey ? 10 : 100);
    const here = state.cursor ?? from, width = to - from;
    const moves = { ArrowLeft: here - step, ArrowRight: here + step, Home: from, End: to };
    if (event.key in moves) {
      state.cursor = Math.min(Math.max(moves[event.key], from), to);
      showCursor();
      const box = entry.svg.getBoundingClientRect();
      showTip(entry, box.left + entry.x(state.cursor) * box.width / entry.width, box.top + 30);
      spoken.textContent = `${time(state.cursor, 0.1)}: ` + entry.panel.lines
        .filter((line) => isShown(entry.panel, line))
        .map((line) => `${line.label} ${valueText(entry.panel, line, state.cursor)}`).join(', ');
    } else if (event.key === '+' || event.key === '=') {
      setRange(here - width / 4, here + width / 4);
    } else if (event.key === '-') {
      setRange(from - width / 2, to + width / 2);
    } else if (event.key === '0' || event.key === 'Escape') {
      setRange(0, Infinity);
      leave();
    } else {
      return;
    }
    event.preventDefault();
  }

  // ---- the parts of the page ----

  function legendOf(entry) {
    const { panel } = entry;
    entry.legend = [];
    return make('div', { class: 'legend', role: 'group', 'aria-label': `${panel.title}: lines` },
      ...panel.lines.map((line) => {
        const paintIt = line.style === 'stack' || line.style === 'band'
          ? `background:${colour(line)}` : `border-color:${colour(line)}`;
        const value = make('b', {});
        const button = make('button', { type: 'button', title: line.key, 'data-key': line.key,
          'data-most': line.most, 'aria-pressed': isShown(panel, line) },
        make('span', { class: `swatch ${line.style}`, style: paintIt }),
        make('span', { class: 'name' }, line.label), value);
        button.addEventListener('click', () => {
          const shown = !isShown(panel, line);
          state.shown.set(`${panel.name}\n${line.key}\n${line.label}`, shown);
          button.setAttribute('aria-pressed', shown);
          paint(entry);
          showCursor();
        });
        entry.legend.push({ line, value, most: number(panel.axis, line.most) });
        return button;
      }));
  }

  function panelOf(panel, index) {
    const svg = draw('svg', { class: 'plot', tabindex: 0, role: 'img',
      'aria-label': `${panel.title} over time; arrow keys read values, plus and minus zoom` });
    const entry = { panel, svg, index };
    panel.lines.forEach((line) => unpack(line, panel.quantum));
    panels.push(entry);
    const section = make('section', { 'data-panel': panel.name }, make('h2', {}, panel.title),
      make('span', { class: 'note' }, panel.note), legendOf(entry), svg);
    listen(entry);
    return section;
  }

  function warmth(share) {
    const stops = document.documentElement.dataset.theme === 'dark'
      ? [[32, 40, 52], [38, 74, 130], [58, 122, 214], [125, 178, 255], [226, 238, 255]]
      : [[240, 244, 250], [158, 196, 240], [66, 128, 216], [24, 70, 156], [10, 26, 74]];
    const place = Math.min(Math.max(share, 0), 1) * 4, i = Math.min(Math.floor(place), 3);
    return `rgb(${stops[i].map((c, k) => Math.round(c + (stops[i + 1][k] - c) * (place - i)))})`;
  }

  function fillHeat(heat, canvas, key) {
    const rows = heat.names.length, context = canvas.getContext('2d');
    const height = Math.max(3, Math.min(18, Math.floor(520 / rows)));
    canvas.width = heat.columns * 8;
    canvas.height = rows * height;
    canvas.style.height = `${rows * height}px`;
    context.clearRect(0, 0, canvas.width, canvas.height);
    heat.cells.forEach((cell, i) => {
      if (cell < 0) return;
      context.fillStyle = warmth(cell / 1000);
      context.fillRect(i % heat.columns * 8, Math.floor(i / heat.columns) * height, 8,
        height - (height > 6 ? 1 : 0));
    });
    key.width = 110;
    key.height = 10;
    for (let i = 0; i < 110; i++) {
      key.getContext('2d').fillStyle = warmth(i / 109);
      key.getContext('2d').fillRect(i, 0, 1, 10);
    }
    return height;
  }

  function heatAt(heat, row, column, x, y) {
    const cell = heat.cells[row * heat.columns + column];
    const from = column * heat.seconds / heat.columns;
    const text = cell < 0 ? 'not measured' : `${number(heat.axis, cell / 1000 * heat.most)}`;
    tip.replaceChildren(make('div', { class: 'when' }, time(from, 0.1)),
      make('div', {}, `${heat.names[row]}: `, make('b', {}, text)));
    spoken.textContent = `${heat.names[row]}, ${time(from, 0.1)}: ${text}`;
    placeTip(x, y);
  }

  function heatOf(heat) {
    const canvas = make('canvas', { tabindex: 0, role: 'img',
      'aria-label': `${heat.title}; arrow keys read cells` });
    const key = make('canvas', { 'aria-hidden': 'true' }), names = make('div', { class: 'names' });
    const repaintHeat = () => {
      const height = fillHeat(heat, canvas, key), every = Math.ceil(12 / height);
      names.replaceChildren(...heat.names.map((name, i) => i % every ? '' : make('span', {
        style: `top:${i * height + (height - 11) / 2}px`, title: name }, name)));
    };
    let row = 0, column = 0;
    const point = (event) => {
      const box = canvas.getBoundingClientRect();
      column = Math.min(heat.columns - 1,
        Math.max(0, Math.floor((event.clientX - box.left) / box.width * heat.columns)));
      row = Math.min(heat.names.length - 1,
        Math.max(0, Math.floor((event.clientY - box.top) / box.height * heat.names.length)));
      heatAt(heat, row, column, event.clientX, event.clientY);
    };
    canvas.addEventListener('pointermove', point);
    canvas.addEventListener('pointerleave', leave);
    canvas.addEventListener('blur', leave);
    canvas.addEventListener('keydown', (event) => {
      const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
      if (!(event.key in moves)) return;
      row = Math.min(Math.max(row + moves[event.key][0], 0), heat.names.length - 1);
      column = Math.min(Math.max(column + moves[event.key][1], 0), heat.columns - 1);
      const box = canvas.getBoundingClientRect();
      heatAt(heat, row, column, box.left + (column + 0.5) / heat.columns * box.width,
        box.top + (row + 0.5) / heat.names.length * box.height);
      event.preventDefault();
    });
    repaintHeat();
    heats.push(repaintHeat);
    return make('section', { class: 'heat' }, make('span', { class: 'key' }, '0', key,
      number(heat.axis, heat.most)), make('h2', {}, heat.title),
    make('span', { class: 'note' }, heat.note), make('div', { class: 'rows',
      style: 'margin-top:8px' }, names, make('div', { class: 'cells' }, canvas)));
  }
  const heats = [];

  function eventsOf(moments) {
    return make('section', { class: 'moments' }, make('h2', {}, 'Events'),
      make('table', { class: 'events' }, ...moments.map((moment) => make('tr', {},
        make('td', {}, time(moment.from, 0.1) +
          (moment.to > moment.from ? ` to ${time(moment.to, 0.1)}` : '')),
        make('td', { class: moment.bad ? 'bad' : '' }, moment.text)))));
  }

  function factsOf(facts) {
    return make('dl', { class: 'facts' }, ...facts.map((fact) =>
      make('div', { class: `fact${fact.bad ? ' bad' : ''}` }, make('dt', {}, fact.name),
        make('dd', { class: 'value' }, fact.value), make('dd', { class: 'note' }, fact.note))));
  }

  // ---- choosing ----

  function options(select, texts, chosen) {
    select.replaceChildren(...texts.map((text, i) => {
      const option = make('option', { value: i }, text);
      option.selected = i === chosen;
      return option;
    }));
    select.parentElement.hidden = texts.length < 2;
  }

  function chooser(id, text) {
    const select = make('select', { id });
    return make('label', {}, text, select);
  }

  function fillChoosers() {
    const groups = [...new Set(figure.views.map((v) => v.group))];
    const inGroup = figure.views.map((v, i) => [v, i]).filter(([v]) => v.group === view().group);
    const step = document.getElementById('step'), node = document.getElementById('node');
    options(step, groups, groups.indexOf(view().group));
    options(node, inGroup.map(([v]) => v.name), inGroup.findIndex(([, i]) => i === state.view));
    step.onchange = () => choose(figure.views.findIndex((v) => v.group === groups[step.value]));
    node.onchange = () => choose(inGroup[node.value][1]);
  }

  function choose(index) {
    state.view = index;
    state.range = state.cursor = null;
    show();
  }

  function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    const button = document.getElementById('theme');
    if (button) button.textContent = theme === 'dark' ? 'Light' : 'Dark';
    heats.forEach((repaintHeat) => repaintHeat());
  }

  function wantedTheme() {
    let kept = null;
    try { kept = localStorage.getItem('profres-theme'); } catch { /* not from file:// everywhere */ }
    return kept || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  }

  function toggleTheme() {
    const theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    try { localStorage.setItem('profres-theme', theme); } catch { /* then not for the next time */ }
    setTheme(theme);
  }

  // ---- the page ----

  function repaint() {
    panels.forEach(paint);
    showCursor();
  }

  function show() {
    const now = view();
    panels.length = heats.length = 0;
    document.querySelector('h1').textContent = `${now.group} · ${now.name}`;
    document.querySelector('.command').textContent = now.command;
    document.getElementById('reset').disabled = true;
    document.getElementById('notes').replaceChildren(
      ...now.notes.map((note) => make('li', { class: note.bad ? 'bad' : '' }, note.text)));
    const parts = now.panels.map(panelOf);
    parts.push(...now.heats.map(heatOf));
    if (now.moments.length) parts.push(eventsOf(now.moments));
    if (!now.panels.length) parts.push(make('section', {}, 'There is nothing to draw yet.'));
    document.getElementById('figures').replaceChildren(factsOf(now.facts), ...parts);
    fillChoosers();
    repaint();
    document.body.dataset.ready = state.view;
  }

  function build() {
    const theme = make('button', { type: 'button', id: 'theme', title: 'light or dark' });
    const reset = make('button', { type: 'button', id: 'reset', title: 'all of the time' },
      'Whole run');
    document.getElementById('page').append(make('header', {}, make('div', { class: 'bar' },
      make('h1', {}), make('div', { class: 'bar controls' }, chooser('step', 'Step'),
        chooser('node', 'Node'), reset, theme)), make('p', { class: 'command' }),
    make('ul', { class: 'notes', id: 'notes' })), make('main', { id: 'figures' }),
    make('footer', {}, make('p', {}, `${figure.made}. Time is since the run began. Lines of ` +
      'different keys were measured in different ways; point at a name to see its key.'),
    make('p', { class: 'keys' }, 'Drag to zoom, double click for the whole run. On a panel: ',
      ...['←', '→', 'Home', 'End', '+', '−', '0'].flatMap((key) => [make('kbd', {}, key), ' ']))),
    tip, spoken);
    theme.addEventListener('click', toggleTheme);
    reset.addEventListener('click', () => setRange(0, Infinity));
  }

  function begin() {
    build();
    setTheme(wantedTheme());
    if (figure.views.length) show();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change',
      () => setTheme(wantedTheme()));
    let before = null;
    addEventListener('beforeprint', () => {
      before = document.documentElement.dataset.theme;
      setTheme('light');
    });
    addEventListener('afterprint', () => setTheme(before || wantedTheme()));
    addEventListener('resize', repaint);
  }

  begin();
})();
