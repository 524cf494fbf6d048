/* Runs in the page before its own scripts, and notes what is drawn there and when. Plain JavaScript: it is sent as it is. */

const ROWS = '#log-rows .row[id]';
const GIVE_UP_MS = 20_000;
const LINE = /line (\d+) written (\d+)/;

let tellFirstRow;
let hasRow = false;

const probe = {
  /** From the start of the navigation until the first record was about to be painted. */
  firstRowMs: new Promise((resolve) => {
    tellFirstRow = resolve;
  }),
  /** Durations of tasks of 50 ms and more. */
  longTasks: [],
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
