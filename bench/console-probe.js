/* Runs in the page before its own scripts, and notes what is drawn there and when. Plain JavaScript: it is sent as it is. */

const ROWS = '#log-rows .row[id]';
const GIVE_UP_MS = 20_000;
const LINE = /line (\d+) written (\d+)/;

// The lines differ in numbers only: they would be one row.
try {
  localStorage.setItem('porthole.folds', 'off');
} catch {
  // an empty document, before the page is opened, has no storage
}

let tellFirstRow;
let hasRow = false;

const probe = {
  /** From the start of the navigation until the first record was about to be painted. */
  firstRowMs: new Promise((resolve) => {
    tellFirstRow = resolve;
  }),
  /** Durations of tasks of 50 ms and more. */
  longTasks: [],
  /** Time between two frames, in ms. */
  frames: [],
  /** From the start of the navigation until anything of the page was painted. */
  firstPaintMs: new Promise((resolve) => {
    new PerformanceObserver((list) => resolve(list.getEntries()[0].startTime)).observe({
      type: 'paint',
      buffered: true,
    });
  }),
  /** Lines as they were first painted: number, when written, when painted by the system's clock. */
  painted: [],
  isNoting: false,
  /** After `expectJump`: from the next press of Enter until a record of that time was painted. */
  jumpMs: null,
  expectJump(title) {
    let pressedAt;
    const note = (event) => {
      if (event.key === 'Enter') pressedAt = event.timeStamp;
    };
    addEventListener('keydown', note, { capture: true });
    probe.jumpMs = new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error(`no record of ${title} was painted`)), GIVE_UP_MS);
      const look = () => {
        if (pressedAt === undefined || !document.querySelector(`${ROWS} [title="${title}"]`)) return;
        observer.disconnect();
        removeEventListener('keydown', note, { capture: true });
        requestAnimationFrame((now) => resolve(now - pressedAt));
      };
      const observer = new MutationObserver(look);
      observer.observe(document, { subtree: true, childList: true, attributes: true });
    });
  },
};
globalThis.probe = probe;

new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) probe.longTasks.push(duration);
}).observe({ type: 'longtask' });

let lastFrameMs;
requestAnimationFrame(function note(nowMs) {
  if (lastFrameMs !== undefined) probe.frames.push(nowMs - lastFrameMs);
  lastFrameMs = nowMs;
  requestAnimationFrame(note);
});

let newest = -1;

new MutationObserver(() => {
  if (!hasRow && document.querySelector(ROWS)) {
    hasRow = true;
    requestAnimationFrame(() => tellFirstRow(performance.now()));
  }
  if (probe.isNoting) noteLines();
}).observe(document, { subtree: true, childList: true });

/** Lines that are in the document for the first time, from the last one back. */
function noteLines() {
  const fresh = [];
  for (let row = [...document.querySelectorAll(ROWS)].at(-1); row; row = row.previousElementSibling) {
    const found = LINE.exec(row.textContent);
    if (!found || Number(found[1]) <= newest) break;
    fresh.push([Number(found[1]), found[2]]);
  }
  if (fresh.length === 0) return;
  newest = fresh[0][0];
  requestAnimationFrame(() => {
    const nowMs = performance.timeOrigin + performance.now();
    for (const [number, writtenNs] of fresh.reverse()) probe.painted.push([number, writtenNs, nowMs]);
  });
}
