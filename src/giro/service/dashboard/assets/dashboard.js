// Charts from the tables beside them, and pages that stay up to date. No page needs this script.
"use strict";
(() => {
  const EVERY = 5000; // milliseconds between looks for new numbers
  const DASHES = [[], [7, 3], [2, 2.5], [8, 3, 2, 3], [13, 4], [8, 3, 2, 3, 2, 3]];
  const DAY = "\n{D} {MMM}", YEAR = "\n{D} {MMM} {YYYY}";
  const TIMES = [ // of uPlot: a step in seconds, its text, and what is added in a new year, month, day, ...
    [31536000, "{YYYY}", null, null, null, null, null, null, 1],
    [2419200, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
    [86400, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
    [60, "{HH}:{mm}", YEAR, null, DAY, null, null, null, 1],
    [1, "{HH}:{mm}:{ss}", YEAR, null, DAY, null, null, null, 1],
    [0.001, ":{ss}.{fff}", YEAR, null, DAY, null, "\n{HH}:{mm}", null, 1],
  ];
  const plots = new Map(); // by kind
  const hidden = new Set(); // lines that somebody switched off, as "kind line"

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const number = (text) => (text === undefined || text === "nan" || text === "" ? null : Number(text));

  function numbersOf(table) {
    const heads = [...table.querySelectorAll("thead [data-line]")];
    const rows = [...table.querySelectorAll("tbody tr")];
    const cells = rows.map((row) => [...row.querySelectorAll("td[data-v]")]);
    const column = (j, key) => cells.map((row) => number(row[j].dataset[key]));
    return {
      x: rows.map((row) => Number(row.dataset.x)),
      lines: heads.map((head, j) => ({
        name: head.textContent,
        key: head.dataset.line,
        mean: column(j, "v"),
        low: column(j, "low"),
        high: column(j, "high"),
      })),
    };
  }

  function shown(value, kind, places) {
    if (value === null || value === undefined) return "–";
    const text = kind === "share" ? (100 * value).toFixed(0) + " %" : value.toFixed(places);
    return text.replace("-", "−");
  }

  function rangeOf(kind, lines) {
    if (kind === "share") return [0, 1];
    const known = lines.flatMap((line) => line.mean).filter((y) => y !== null);
    if (known.length === 0) return [0, 1];
    const low = Math.min(...known), high = Math.max(...known);
    const room = (high - low || Math.abs(high) || 1) * 0.15;
    return [low - room, high + room];
  }

  function looks(line) {
    const isArm = !Number.isNaN(Number(line.key));
    const place = isArm ? Number(line.key) : line.key;
    return {
      stroke: colour(`--line-${place}`),
      width: line.key === "all" ? 1.5 : 2,
      dash: isArm ? DASHES[place % DASHES.length] : [],
    };
  }

  function draw(place) {
    const kind = place.dataset.plot;
    const table = document.querySelector(`table[data-chart="${kind}"]`);
    if (!table || !window.uPlot) return;
    const { x, lines } = numbersOf(table);
    const ends = kind === "reward";
    const data = [x], series = [{}], bands = [];
    lines.forEach((line, j) => {
      const look = looks(line), show = !hidden.has(`${kind} ${j}`);
      data.push(line.mean);
      series.push({ label: line.name, show, spanGaps: true, points: { show: x.length < 2, size: 7 }, ...look });
      if (!ends) return;
      const at = series.length;
      data.push(line.high, line.low);
      const none = { show, stroke: "transparent", width: 0, points: { show: false }, spanGaps: true };
      series.push({ ...none }, { ...none });
      bands.push({ series: [at, at + 1], fill: look.stroke + (line.key === "all" ? "12" : "1a") });
    });
    const axis = {
      stroke: colour("--muted"),
      grid: { stroke: colour("--rule"), width: 1 },
      ticks: { stroke: colour("--rule"), width: 1, size: 4 },
      font: "12px system-ui, sans-serif",
    };
    const [low, high] = rangeOf(kind, lines);
    const places = Number(table.dataset.places);
    const coarse = Math.max(0, Math.min(6, 1 - Math.floor(Math.log10(high - low || 1))));
    const legend = [...document.querySelectorAll(`[data-legend="${kind}"] [data-line]`)];
    const options = {
      width: place.clientWidth,
      height: place.clientWidth < 480 ? 200 : 240,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      legend: { show: false },
      cursor: { points: { size: 7 }, drag: { x: true, y: false } },
      scales: { y: { range: [low, high] } },
      axes: [
        { ...axis, space: 90, values: TIMES }, // pixels: a date with its year is almost as wide
        { ...axis, size: 52, values: (_, ticks) => ticks.map((y) => shown(y, kind, coarse)) },
      ],
      series,
      bands,
      hooks: {
        setCursor: [(u) => tell(legend, lines, u.cursor.idx, kind, places)],
      },
    };
    plots.get(kind)?.destroy();
    plots.set(kind, new uPlot(options, data, place));
    tell(legend, lines, null, kind, places);
    legend.forEach((entry, j) => makeSwitch(entry, j, kind, ends));
  }

  function tell(legend, lines, at, kind, places) {
    legend.forEach((entry, j) => {
      const value = entry.querySelector(".value");
      if (!value || !lines[j]) return;
      const known = lines[j].mean.filter((y) => y !== null);
      const y = at === null || at === undefined ? known[known.length - 1] : lines[j].mean[at];
      value.textContent = shown(y, kind, places);
    });
  }

  // An entry of the legend becomes a button that shows or hides its line.
  function makeSwitch(entry, j, kind, ends) {
    if (entry.querySelector("button")) return;
    const button = document.createElement("button");
    const value = document.createElement("span");
    value.className = "value";
    button.type = "button";
    button.append(...entry.childNodes, value);
    entry.append(button);
    const id = `${kind} ${j}`;
    button.setAttribute("aria-pressed", String(!hidden.has(id)));
    button.addEventListener("click", () => {
      const isShown = hidden.delete(id) || !hidden.add(id);
      button.setAttribute("aria-pressed", String(isShown));
      const first = ends ? 1 + 3 * j : 1 + j;
      const plot = plots.get(kind);
      for (let i = first; i < first + (ends ? 3 : 1); i += 1) plot.setSeries(i, { show: isShown });
    });
  }

  function drawAll() {
    document.querySelectorAll("[data-plot]").forEach((place) => {
      draw(place);
      draw(place); // again with the values of the legend in place
    });
  }

  // -- new numbers --------------------------------------------------------------------------

  const live = document.getElementById("live");
  const isLive = () => live.getAttribute("aria-pressed") === "true";

  function isBusy(part) {
    const focused = document.activeElement;
    const chosen = document.getSelection();
    return (focused !== document.body && part.contains(focused))
      || (chosen && !chosen.isCollapsed && part.contains(chosen.anchorNode));
  }

  async function renew() {
    if (document.hidden || !isLive()) return;
    let answer;
    try {
      answer = await fetch(location.href, { headers: { accept: "text/html" }, redirect: "error" });
    } catch {
      return; // the service is away: what is shown stays
    }
    if (!answer.ok) return;
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.querySelectorAll("[data-live]").forEach((part) => {
      const other = next.getElementById(part.id);
      if (other && !isBusy(part) && other.innerHTML !== part.innerHTML) part.replaceChildren(...other.childNodes);
    });
    let changed = false;
    document.querySelectorAll("table[data-chart] tbody").forEach((body) => {
      const kind = body.parentElement.dataset.chart;
      const other = next.querySelector(`table[data-chart="${kind}"]`);
      if (!other) return;
      const own = body.parentElement;
      const heads = (table) => table.tHead.textContent;
      if (heads(other) !== heads(own)) return location.reload(); // other arms have lines now
      if (other.tBodies[0].innerHTML === body.innerHTML) return;
      body.replaceChildren(...other.tBodies[0].childNodes);
      changed = true;
    });
    if (changed) drawAll();
  }

  if (document.querySelector("[data-live]")) {
    live.hidden = false;
    live.addEventListener("click", () => live.setAttribute("aria-pressed", String(!isLive())));
    setInterval(renew, EVERY);
  }
  const tab = document.querySelector(".menu [aria-current]"); // which may be out of sight on a phone
  if (tab) tab.closest(".menu").scrollLeft = tab.offsetLeft - (innerWidth - tab.offsetWidth) / 2;
  const wide = matchMedia("(prefers-color-scheme: dark)");
  wide.addEventListener("change", drawAll);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) { width = innerWidth; drawAll(); }
  });
  drawAll();
})();
