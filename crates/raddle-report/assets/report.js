"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const ROW = 26;
  const make = (tag, className, text) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const color = (thread) => `var(--t${thread % 6})`;

  // ---- what is shown: one violation, some of its steps, one of them the present one

  let run = null;      // the violation
  let shown = [];      // rows: { step } | { fold: [steps] } | { end }
  let here = 0;        // index into `shown`
  let rowNodes = [];   // for each row
  let laneOf = new Map();
  let pasts = [];      // for each step the set of steps that happen before it

  function show(index) {
    run = data.violations[index] || null;
    document.body.classList.toggle("plain", !run);
    at("headline").textContent = run ? run.headline : data.summary;
    at("explanation").replaceChildren(...(run ? run.explanation : data.hints).map((line) => make("li", "", line)));
    if (!run) { openFile(0); return; }
    laneOf = new Map(run.threads.map((thread, lane) => [thread.id, lane]));
    pasts = [];
    drawState();
    layout();
  }

  /// Which rows there are. Steps that only their own thread sees are folded where there are many.
  function layout(keep) {
    const all = at("all").checked;
    const fold = !all && run.steps.filter((step) => step.weight > 0).length > 60;
    shown = [];
    run.steps.forEach((step, index) => {
      if (all || step.weight === 2 || (step.weight === 1 && !fold)) {
        shown.push({ step: index, thread: step.thread });
      } else if (step.weight === 1) {
        const before = shown[shown.length - 1];
        if (before && before.fold && before.thread === step.thread) before.fold.push(index);
        else shown.push({ fold: [index], thread: step.thread });
      }
    });
    // Steps that are not shown belong to the row before them.
    shown.forEach((row, index) => {
      row.first = row.fold ? row.fold[0] : row.step;
      const next = shown[index + 1];
      row.until = (next ? next.fold?.[0] ?? next.step : run.steps.length) - 1;
    });
    run.end.forEach((end, index) => shown.push({ end: index, thread: end.thread, until: run.steps.length - 1 }));
    drawRows();
    const found = keep === undefined ? -1 : shown.findIndex((row) => stepOf(row) >= keep);
    go(found < 0 ? shown.length - 1 : found);
  }

  /// The last step that has been done when a row is the present one.
  function stepOf(row) {
    if (row.step !== undefined) return row.step;
    return row.fold ? row.fold[row.fold.length - 1] : run.steps.length;
  }

  // ---- timeline

  function drawRows() {
    const columns = `6ch repeat(${run.threads.length}, minmax(170px, 1fr))`;
    const lanes = at("lanes");
    lanes.style.gridTemplateColumns = columns;
    lanes.replaceChildren(make("span"), ...run.threads.map((thread, lane) => {
      const title = make("span");
      title.append(make("b", "", thread.name));
      title.title = thread.name;
      title.style.setProperty("--c", color(lane));
      return title;
    }));
    const rows = at("rows");
    rows.querySelectorAll(".row").forEach((row) => row.remove());
    const fragment = document.createDocumentFragment();
    shown.forEach((row, index) => fragment.append(drawRow(row, index, columns)));
    rows.append(fragment);
    rowNodes = [...rows.querySelectorAll(".row")];
    fitLanes();
    here = Math.min(here, shown.length - 1);
    drawArrows();
  }

  /// Lanes are as wide as their widest cell where that fits. Else they are cut, and so is the text in them, but for the last one, which has no
  /// neighbour: the present row, and the one under the mouse, show all of it.
  function fitLanes() {
    const widest = run.threads.map(() => 0);
    at("rows").querySelectorAll(".event").forEach((cell) => cell.style.removeProperty("--room"));
    at("rows").querySelectorAll(".event").forEach((cell) => {
      const lane = Number(cell.dataset.lane);
      widest[lane] = Math.max(widest[lane], cell.offsetWidth + 8);
    });
    const titles = [...at("lanes").children].slice(1).map((title) => title.firstElementChild.scrollWidth + 34);
    const room = at("timeline").clientWidth - 62;
    const sum = (list) => list.reduce((all, one) => all + one, 0);
    let widths = widest.map((width, lane) => Math.max(width, titles[lane]));
    if (sum(widths) > room && widths.length > 1) {
      const pitch = Math.max(280, room / widths.length);
      widths = widths.map((width, lane) => (lane === widths.length - 1 ? width : Math.min(width, pitch)));
    }
    at("rows").querySelectorAll(".event").forEach((cell) => {
      const lane = Number(cell.dataset.lane);
      cell.style.setProperty("--room", `${Math.ceil(widths[lane]) - 26}px`);
    });
    const fixed = "6ch " + widths.map((width) => `${Math.ceil(width)}px`).join(" ");
    for (const row of [at("lanes"), ...at("rows").querySelectorAll(".row")]) row.style.gridTemplateColumns = fixed;
  }

  /// A line number, with its file where the execution is in several.
  function lineOf(place) {
    const names = new Set([...run.steps, ...run.end].filter((one) => one.line && one.file !== null).map((one) => one.file));
    if (names.size < 2 || place.file === null) return place.line;
    const base = (path) => path.slice(path.lastIndexOf("/") + 1);
    const path = data.files[place.file].path;
    const alike = [...names].filter((file) => base(data.files[file].path) === base(path)).length;
    return `${alike > 1 ? path : base(path)}:${place.line}`;
  }

  function drawRow(row, index, columns) {
    const lane = laneOf.get(row.thread);
    const node = make("div", "row");
    node.style.gridTemplateColumns = columns;
    node.dataset.row = index;
    const cell = make("span", "event");
    cell.dataset.lane = lane;
    cell.style.gridColumn = lane + 2;
    cell.style.setProperty("--c", color(lane));
    const body = make("span", "body");
    cell.append(body);
    const part = (className, text) => body.append(make("span", className, text));
    let number = "";
    if (row.fold) {
      node.classList.add("fold");
      number = "⋮";
      part("text", row.fold.length === 1 ? "1 step that no other thread sees" : `${row.fold.length} steps that no other thread sees`);
    } else if (row.end !== undefined) {
      const end = run.end[row.end];
      node.classList.add("end", "wrong");
      number = "✗";
      if (end.line) part("at", lineOf(end));
      part("text", end.text);
    } else {
      const step = run.steps[row.step];
      number = row.step + 1;
      if (step.line) part("at", lineOf(step));
      part("text", step.text);
      if (step.from) part("from", step.from);
      if (step.mark) { part("mark", "✗ " + step.mark); node.classList.add("wrong"); }
    }
    cell.title = [...body.children].map((one) => one.textContent).join(" ");
    if (index > 0 && shown[index - 1].thread !== row.thread && row.end === undefined) node.classList.add("switch");
    node.append(make("span", "no", number), cell);
    node.addEventListener("click", () => go(index));
    return node;
  }

  // ---- arrows

  const SVG = "http://www.w3.org/2000/svg";
  const shape = (tag, attributes) => {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };

  let dots = [];       // for each row
  let arrowsOf = [];   // for each row, the arrows that begin or end there
  let marked = -1;     // the row whose arrows stand out

  function drawArrows() {
    const svg = at("arrows");
    svg.setAttribute("height", shown.length * ROW);
    svg.setAttribute("width", at("rows").scrollWidth);
    const titles = [...at("lanes").children].slice(1);
    const x = titles.map((title) => title.offsetLeft + 12);
    const rowOf = new Map();
    shown.forEach((row, index) => {
      for (const step of row.fold || (row.step === undefined ? [] : [row.step])) rowOf.set(step, index);
    });
    const point = (step) => {
      const row = rowOf.get(step);
      return row === undefined ? null : [x[laneOf.get(run.steps[step].thread)], row * ROW + ROW / 2, row];
    };
    const parts = [heads()];
    dots = [];
    arrowsOf = shown.map(() => []);
    run.threads.forEach((_, lane) => {
      const own = shown.map((row, index) => [row, index]).filter(([row]) => laneOf.get(row.thread) === lane);
      if (own.length === 0) return;
      const [first, last] = [own[0][1], own[own.length - 1][1]];
      const line = shape("path", { class: "life", d: `M${x[lane]} ${first * ROW + ROW / 2}V${last * ROW + ROW / 2}` });
      line.style.setProperty("--c", color(lane));
      parts.push(line);
    });
    const arrow = (kind, from, to) => {
      const [a, b] = [point(from), point(to)];
      if (!a || !b || a[2] === b[2]) return;
      // Within a lane arrows bend to the left. Others go down beside their own lane, and over between two rows.
      const side = { rf: -5, co: -8, hb: 5 }[kind];
      const bend = Math.min(9, 4 + (b[1] - a[1]) / 60);
      const turn = b[1] - ROW / 2;
      const way = a[0] < b[0] ? 1 : -1;
      const d = a[0] === b[0]
        ? `M${a[0] - 3} ${a[1]}C${a[0] - 3 - bend} ${a[1] + 8} ${b[0] - 3 - bend} ${b[1] - 8} ${b[0] - 4} ${b[1] - 2}`
        : `M${a[0]} ${a[1]}Q${a[0] + side} ${a[1] + 3} ${a[0] + side} ${a[1] + 8}V${turn - 4}Q${a[0] + side} ${turn} ${a[0] + side + 6 * way} ${turn}` +
          `H${b[0] - 8 * way}Q${b[0] - 3 * way} ${turn} ${b[0] - 2 * way} ${b[1] - 4}`;
      const line = shape("path", { class: kind, d, "marker-end": `url(#head-${kind})`, "data-from": from, "data-to": to });
      parts.push(line);
      for (const row of [a[2], b[2]]) arrowsOf[row].push(line);
    };
    run.steps.forEach((step, index) => {
      if (at("rf").checked && step.rf !== null) arrow("rf", step.rf, index);
      if (at("co").checked && step.co !== null) arrow("co", step.co, index);
      // The steps of one thread are in order anyway.
      if (at("hb").checked) step.hb.filter((before) => run.steps[before].thread !== step.thread).forEach((before) => arrow("hb", before, index));
    });
    shown.forEach((row, index) => {
      const lane = laneOf.get(row.thread);
      const dot = shape("circle", { cx: x[lane], cy: index * ROW + ROW / 2, r: row.fold ? 2 : 3.5 });
      dots.push(dot);
      dot.style.setProperty("--c", row.end !== undefined || (row.step !== undefined && run.steps[row.step].mark) ? "var(--bad)" : color(lane));
      parts.push(dot);
    });
    svg.replaceChildren(...parts);
    marked = -1;
    markArrows();
  }

  /// Makes the arrows of the present row stand out. Drawing all of them at each step would be slow in a long execution.
  function markArrows() {
    if (marked >= 0) {
      dots[marked].setAttribute("r", shown[marked].fold ? 2 : 3.5);
      arrowsOf[marked].forEach((line) => line.classList.remove("now"));
    }
    marked = here;
    dots[here].setAttribute("r", 5.5);
    arrowsOf[here].forEach((line) => line.classList.add("now"));
  }

  function heads() {
    const defs = shape("defs", {});
    for (const kind of ["rf", "co", "hb"]) {
      const head = shape("marker", { id: `head-${kind}`, viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto" });
      head.append(shape("path", { class: kind, d: "M0 0L8 4L0 8Z" }));
      defs.append(head);
    }
    return defs;
  }

  /// The steps that happen before a step: those of its thread, and what synchronisation puts before them.
  function pastOf(index) {
    if (pasts.length === 0) {
      const latest = new Map();
      run.steps.forEach((step, number) => {
        const past = new Set();
        const before = [...step.hb];
        if (latest.has(step.thread)) before.push(latest.get(step.thread));
        for (const one of before) { past.add(one); for (const other of pasts[one]) past.add(other); }
        pasts.push(past);
        latest.set(step.thread, number);
      });
    }
    return pasts[index];
  }

  // ---- source

  let file = -1;

  function openFile(index) {
    if (file === index || !data.files[index]) return;
    file = index;
    at("files").replaceChildren(...data.files.map((one, number) => {
      const tab = make("button", "", one.path);
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-selected", String(number === index));
      tab.addEventListener("click", () => { openFile(number); markSource(false); });
      return tab;
    }));
    const state = { comment: false };
    at("code").replaceChildren(...data.files[index].lines.map((line, number) => {
      const row = make("div", "ln");
      const text = make("span", "tx");
      highlight(line, state, text);
      row.append(make("span", "no", number + 1), make("span", "who"), text);
      return row;
    }));
    for (const [of, line] of data.coverage?.missed ?? []) {
      const row = of === index && at("code").children[line - 1];
      if (row) { row.classList.add("missed"); row.title = "no execution runs this line"; }
    }
  }

  const TOKEN = /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|(^\s*#\s*\w+)|\b(\d[\w.]*)\b|\b(auto|bool|break|case|char|class|const|constexpr|continue|default|delete|do|double|else|enum|extern|false|float|for|goto|if|inline|int|long|namespace|new|noexcept|nullptr|operator|private|public|register|restrict|return|short|signed|sizeof|static|struct|switch|template|this|thread_local|true|typedef|typename|union|unsigned|using|virtual|void|volatile|while|_Atomic|_Bool|_Thread_local|fn|let|mut|pub|impl|use|mod|match|loop|move|unsafe|ref|self|trait|where|u8|u16|u32|u64|usize|i8|i16|i32|i64|isize)\b/g;

  function highlight(line, state, into) {
    let rest = line;
    if (state.comment) {
      const end = line.indexOf("*/");
      if (end < 0) { into.append(make("span", "m", line)); return; }
      into.append(make("span", "m", line.slice(0, end + 2)));
      rest = line.slice(end + 2);
      state.comment = false;
    }
    let done = 0;
    for (const match of rest.matchAll(TOKEN)) {
      into.append(rest.slice(done, match.index));
      const kind = match[1] ? "m" : match[2] ? "s" : match[3] ? "p" : match[4] ? "n" : "k";
      into.append(make("span", kind, match[0]));
      if (match[1] && match[1].startsWith("/*") && !match[1].endsWith("*/")) state.comment = true;
      done = match.index + match[0].length;
    }
    into.append(rest.slice(done));
  }

  /// Where each thread is, and the line of the present step, which is returned.
  function markSource(follow) {
    const row = shown[here];
    const now = row.end !== undefined ? run.end[row.end] : run.steps[stepOf(row)];
    if (follow && now.file !== null) openFile(now.file);
    const code = at("code");
    code.querySelectorAll(".here, .wrong").forEach((line) => line.classList.remove("here", "wrong"));
    code.querySelectorAll(".who i").forEach((dot) => dot.remove());
    const line = (place) => (place && place.file === file && place.line ? code.children[place.line - 1] : null);
    const places = new Map();
    for (let index = 0; index < run.steps.length && index <= stepOf(row); index++) places.set(run.steps[index].thread, run.steps[index]);
    if (row.end !== undefined) run.end.forEach((end) => places.set(end.thread, end));
    for (const [thread, place] of places) {
      const target = line(place);
      if (!target) continue;
      const dot = make("i");
      dot.style.setProperty("--c", color(laneOf.get(thread)));
      dot.title = run.threads[laneOf.get(thread)].name;
      target.children[1].append(dot);
    }
    for (const place of [...run.end, ...run.steps.filter((step) => step.mark)]) {
      const target = line(place);
      if (target) target.classList.add("wrong");
    }
    const target = line(now);
    if (target) {
      target.classList.add("here");
      target.style.setProperty("--c", color(laneOf.get(now.thread)));
    }
    return target;
  }

  /// Scrolls only as far as needed, and only the pane.
  function reveal(pane, target) {
    const [outer, inner] = [pane.getBoundingClientRect(), target.getBoundingClientRect()];
    const margin = Math.min(60, outer.height / 4);
    if (inner.top < outer.top + margin) pane.scrollTop -= outer.top + margin - inner.top;
    else if (inner.bottom > outer.bottom - margin) pane.scrollTop += inner.bottom - outer.bottom + margin;
  }

  /// The same from side to side: the beginning of what is to be seen, and as much of the rest as fits.
  function revealAcross(pane, target) {
    const [outer, inner] = [pane.getBoundingClientRect(), target.getBoundingClientRect()];
    const beyond = inner.right - outer.right;
    const before = inner.left - outer.left - 70;
    if (before < 0) pane.scrollLeft += before;
    else if (beyond > 0) pane.scrollLeft += Math.min(beyond, before);
  }

  /// The place of a column in a line of source: lines may be longer than the pane is wide.
  function placeInLine(line, column) {
    const text = line.querySelector(".tx");
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    // Where only the line is known it is where its text begins.
    if (column === 0) column = text.textContent.search(/\S/) + 1;
    const place = document.createRange();
    for (let left = Math.max(column - 1, 0), node = walker.nextNode(); node; node = walker.nextNode()) {
      if (left < node.length) {
        place.setStart(node, left);
        place.setEnd(node, Math.min(left + 12, node.length));
        return place;
      }
      left -= node.length;
    }
    return line;
  }

  /// Shows the place from the beginning of its line if both fit.
  function revealColumn(pane, target) {
    pane.scrollLeft = 0;
    const [outer, inner] = [pane.getBoundingClientRect(), target.getBoundingClientRect()];
    const beyond = inner.right - outer.right;
    if (beyond > 0) pane.scrollLeft = beyond + outer.width / 3;
  }

  // ---- state

  const MANY = 8;      // parts of an object that are shown without being asked for
  let lines = [];      // for each cell of memory its line in the table
  let groups = new Map(); // for each object its cells, and the line above them

  function drawState() {
    lines = run.cells.map((cell) => {
      const [line, name, value, by] = [make("tr"), make("td", "name"), make("td", "value"), make("td", "by")];
      // Long names break where a part of an object begins.
      cell.name.split(/(?=[.[_])/).forEach((part) => name.append(part, make("wbr")));
      line.append(name, value, by);
      return { line, value, by };
    });
    groups = new Map();
    run.cells.forEach((cell, index) => {
      if (!groups.has(cell.object)) groups.set(cell.object, { cells: [], head: null, open: null });
      groups.get(cell.object).cells.push(index);
    });
    const rows = [];
    for (const [object, group] of groups) {
      if (group.cells.length > 1) {
        group.head = make("tr", "group");
        const title = make("td");
        title.colSpan = 3;
        group.head.append(title);
        group.title = (open) => title.replaceChildren(open ? "▾ " : "▸ ", make("b", "", object), ` · ${group.cells.length} values`);
        group.head.addEventListener("click", () => { group.open = !group.isOpen; markState(); });
        rows.push(group.head);
        group.cells.forEach((index) => lines[index].line.classList.add("part"));
      }
      group.cells.forEach((index) => rows.push(lines[index].line));
    }
    at("cells").replaceChildren(...rows);
  }

  /// Objects of many parts are shown in short: what the present step does to them. A click shows all.
  function markGroups(cells, changed, read) {
    for (const group of groups.values()) {
      if (!group.head) continue;
      const there = group.cells.filter((index) => !(cells[index].dead && cells[index].by === null));
      group.isOpen = group.open ?? group.cells.length <= MANY;
      group.title(group.isOpen);
      group.head.hidden = there.length === 0;
      group.head.classList.toggle("touched", group.cells.some((index) => changed.has(index)));
      for (const index of group.cells) {
        lines[index].line.hidden = !there.includes(index) || (!group.isOpen && !changed.has(index) && !read.has(index));
      }
    }
  }

  function markState() {
    const row = shown[here];
    const cells = run.cells.map((cell) => ({ value: cell.initial, by: null, dead: cell.born }));
    const buffers = new Map();
    const output = [];
    if (run.printed) output.push([run.threads[0].id, run.printed]);
    const [changed, read] = [new Set(), new Set()];
    for (let index = 0; index <= row.until; index++) {
      const step = run.steps[index];
      if (index >= row.first) {
        step.sets.forEach(([cell]) => changed.add(cell));
        step.reads.forEach((cell) => read.add(cell));
      }
      if (step.delays) buffers.set(step.thread, [...(buffers.get(step.thread) || []), { index, ...step.delays }]);
      if (step.flushes !== null) buffers.set(step.thread, (buffers.get(step.thread) || []).filter((one) => one.index !== step.flushes));
      for (const [cell, value] of step.sets) { cells[cell].value = value; cells[cell].by = index; }
      for (const cell of step.born) cells[cell].dead = false;
      for (const cell of step.dies) cells[cell].dead = true;
      for (const [thread, text] of step.prints) output.push([thread, text]);
    }
    cells.forEach((now, index) => {
      const looks = [changed.has(index) && "changed", read.has(index) && "read", now.dead && "dead"].filter(Boolean).join(" ");
      const told = `${now.value} ${now.by} ${looks}`;
      const { line, value, by } = lines[index];
      // A table of hundreds of lines is slow to lay out: what stays is not touched.
      if (line.dataset.told === told) return;
      line.dataset.told = told;
      line.className = `${looks}${line.classList.contains("part") ? " part" : ""}`.trim();
      line.hidden = now.dead && now.by === null;
      line.title = now.dead ? "freed" : "";
      value.textContent = value.title = now.value;
      by.textContent = now.by === null ? "" : `step ${now.by + 1}`;
    });
    markGroups(cells, changed, read);
    at("buffers").hidden = !run.steps.some((step) => step.delays);
    at("delayed").replaceChildren(...run.threads.map((thread, lane) => {
      const line = make("div", "buffer");
      line.style.setProperty("--c", color(lane));
      line.append(make("b", "", thread.name));
      const delayed = buffers.get(thread.id) || [];
      if (delayed.length === 0) line.append("empty");
      delayed.forEach((one) => line.append(make("code", "", `${one.place} = ${one.value}`)));
      return line;
    }));
    at("printed").hidden = !run.printed && !run.steps.some((step) => step.prints.length > 0);
    at("output").replaceChildren(...output.map(([thread, text]) => {
      const part = make("span", "", text);
      part.style.setProperty("--c", color(laneOf.get(thread) || 0));
      return part;
    }));
    return at("cells").querySelector(".changed") || at("cells").querySelector(".read");
  }

  // ---- moving

  function go(index) {
    here = Math.max(0, Math.min(shown.length - 1, index));
    const row = shown[here];
    const past = at("hb").checked && row.step !== undefined ? pastOf(row.step) : null;
    rowNodes.forEach((node, number) => {
      node.classList.toggle("now", number === here);
      node.classList.toggle("later", number > here);
      const step = shown[number].step;
      node.classList.toggle("unordered", past !== null && number < here && step !== undefined && !past.has(step));
    });
    at("position").textContent = row.end !== undefined ? `✗ / ${run.steps.length}` : `${stepOf(row) + 1} / ${run.steps.length}`;
    at("first").disabled = at("prev").disabled = here === 0;
    at("last").disabled = at("next").disabled = here === shown.length - 1;
    markArrows();
    const line = markSource(true);
    const touched = markState();
    // Looking where things are is slow right after changes: all changes first.
    if (line) {
      const now = row.end !== undefined ? run.end[row.end] : run.steps[stepOf(row)];
      reveal(at("code"), line);
      revealColumn(at("code"), placeInLine(line, now.column));
    }
    if (touched) reveal(at("state"), touched);
    reveal(at("timeline"), rowNodes[here]);
    revealAcross(at("timeline"), rowNodes[here].querySelector(".event"));
    history.replaceState(null, "", row.end !== undefined ? "#end" : `#step=${stepOf(row) + 1}`);
  }

  function nextSwitch() {
    for (let index = here + 1; index < shown.length; index++) {
      if (shown[index].thread !== shown[index - 1].thread) { go(index); return; }
    }
    go(shown.length - 1);
  }

  function fromAddress() {
    const match = /^#step=(\d+)$/.exec(location.hash);
    if (!run || !match) return;
    const step = Number(match[1]) - 1;
    let found = shown.findIndex((row) => stepOf(row) >= step);
    go(found < 0 ? shown.length - 1 : found);
  }

  // ---- set-up

  function theme(next) {
    const root = document.documentElement;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = root.dataset.theme || (dark ? "dark" : "light");
    root.dataset.theme = next ? (now === "dark" ? "light" : "dark") : now;
  }

  const toggle = (id) => { at(id).checked = !at(id).checked; at(id).dispatchEvent(new Event("change")); };
  const keys = {
    ArrowRight: () => go(here + 1), ArrowDown: () => go(here + 1), j: () => go(here + 1),
    ArrowLeft: () => go(here - 1), ArrowUp: () => go(here - 1), k: () => go(here - 1),
    PageDown: () => go(here + 10), PageUp: () => go(here - 10),
    Home: () => go(0), End: () => go(shown.length - 1), s: nextSwitch,
    r: () => toggle("rf"), c: () => toggle("co"), h: () => toggle("hb"), a: () => toggle("all"),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    if (event.key === "t") { theme(true); return; }
    const action = run && keys[event.key];
    if (action) { event.preventDefault(); action(); }
  });
  const on = (id, event, action) => at(id).addEventListener(event, action);
  on("first", "click", keys.Home);
  on("prev", "click", keys.ArrowLeft);
  on("next", "click", keys.ArrowRight);
  on("last", "click", keys.End);
  on("switch", "click", nextSwitch);
  on("theme", "click", () => theme(true));
  for (const id of ["rf", "co", "hb"]) on(id, "change", () => { drawArrows(); go(here); });
  on("all", "change", () => layout(stepOf(shown[here])));
  on("violations", "change", (event) => show(Number(event.target.value)));
  window.addEventListener("resize", () => { if (run) { fitLanes(); drawArrows(); } });
  window.addEventListener("hashchange", fromAddress);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { delete document.documentElement.dataset.theme; theme(false); });

  theme(false);
  at("badge").textContent = data.verdict;
  at("badge").className = data.verdict;
  at("subline").textContent = data.subline;
  if (data.newest) at("memory-of").textContent = "newest values: threads may read older ones";
  at("numbers").replaceChildren(...data.statistics.flatMap(([name, value]) => [make("dt", "", name), make("dd", "", value)]));
  if (data.coverage) {
    at("coverage").hidden = false;
    at("covered").replaceChildren(...data.coverage.numbers.flatMap(([name, value]) => [make("dt", "", name), make("dd", "", value)]));
    at("uncalled").replaceChildren(...data.coverage.functions.map(([name, of, line]) => {
      const item = make("li", "", of === null ? name : `${name} (line ${line})`);
      item.addEventListener("click", () => { if (of !== null) { openFile(of); reveal(at("code"), at("code").children[line - 1]); } });
      return item;
    }));
  }
  if (data.violations.length > 1) {
    at("violations").hidden = false;
    at("violations").replaceChildren(...data.violations.map((violation, index) => {
      const option = make("option", "", `${index + 1}. ${violation.headline}`);
      option.value = index;
      return option;
    }));
  }
  const wanted = location.hash;
  show(0);
  if (wanted) { history.replaceState(null, "", wanted); fromAddress(); }
  document.documentElement.dataset.ready = "true";
})();
