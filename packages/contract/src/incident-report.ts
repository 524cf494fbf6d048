import { gapsText, respondedText } from './coverage.ts';
import type { Incident, IncidentPhase, IncidentStep, SharedValue, Standout, StepChange } from './incident.ts';
import { showHidden, unicodeEscape } from './quote.ts';
import { formatSpan } from './time/time-text.ts';

/** How times are shown. */
interface ReportZone {
  offsetMsAt(epochMs: number): number;
}

/** A report as texts, without hidden characters: each form of it only escapes and arranges them. */
interface Report {
  headline: string;
  /** `Incident · 2026-11-17 03:10:11 – 03:15:42 UTC · 5 min 31 s`. */
  when: string;
  steps: {
    time: string;
    delay: string;
    title: string;
    /** What changed, one line for each key. */
    changes: string[];
    record: { level: string; text: string } | null;
    details: string[];
  }[];
  standouts: { title: string; details: string[]; score: number; paths: string[] }[];
  /** A heading and rows of four cells. */
  phases: string[][];
  coverage: string;
  isComplete: boolean;
}

const EMPTY_STEPS = 'No events and no unusual records.';

function toReport(incident: Incident, zone: ReportZone): Report {
  const { headline, steps, standouts, coverage, members, requests, fromMs, toMs, lookedFromMs, lookedToMs } = incident;
  const isFound = fromMs !== null && toMs !== null;
  const [startMs, endMs] = isFound ? [fromMs, toMs] : [lookedFromMs, lookedToMs];
  const clock = (timeMs: number) => localTime(timeMs, zone).slice(11, 19);
  const range = `${localTime(startMs, zone).slice(0, 19)} – ${clock(endMs)} ${offsetText(startMs, zone)}`;
  const gaps = gapsText(coverage);
  const read = `${respondedText(members)}; ${requests} requests`;
  return {
    headline: shown(headline),
    when: `${isFound ? 'Incident' : 'Looked at'} · ${range} · ${formatSpan(endMs - startMs)}${isFound && !incident.isOver ? ', not over' : ''}`,
    steps: steps.map((step, index) => ({
      time: clock(step.timeMs),
      delay: index === 0 ? 'start' : `+${formatSpan(step.delayMs)}`,
      title: shown(step.title),
      changes: step.changes.map(changeText),
      record: recordText(step),
      details: stepDetails(step),
    })),
    standouts: standouts.map((standout) => ({
      title: shown(standout.title),
      details: [standout.detail, ...commonText(standout), ...countsText(standout)].map(shown),
      score: standout.score,
      paths: standout.paths.map(shown),
    })),
    phases: phaseRows(incident),
    coverage: shown(gaps === '' ? `${read}; nothing in this time range is left out.` : `${read}. Missing: ${gaps}`),
    isComplete: coverage.isComplete,
  };
}

/** Untrusted text on one line, as it is. */
function shown(text: string): string {
  return showHidden(text.replace(/\s*[\n\t]\s*/g, ' '), unicodeEscape);
}

function localTime(timeMs: number, { offsetMsAt }: ReportZone): string {
  return new Date(timeMs + offsetMsAt(timeMs)).toISOString().replace('T', ' ');
}

function offsetText(timeMs: number, { offsetMsAt }: ReportZone): string {
  const minutes = Math.round(offsetMsAt(timeMs) / 60_000);
  if (minutes === 0) return 'UTC';
  const two = (value: number) => String(value).padStart(2, '0');
  const size = Math.abs(minutes);
  return `UTC${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

function changeText({ key, before, after }: StepChange): string {
  const value = (given: StepChange['before']) => (given === null ? '(none)' : JSON.stringify(given));
  if (before === undefined || after === undefined) return shown(key);
  return shown(`${key}: ${value(before)} → ${value(after)}`);
}

/** The first line of the record; an event is its title. */
function recordText({ kind, record }: IncidentStep): Report['steps'][number]['record'] {
  if (record === null || (kind !== 'first-error' && kind !== 'spread' && kind !== 'new-pattern')) return null;
  const [line = '', ...rest] = record.message.split('\n');
  const more = rest.length > 0 ? ` (+${rest.length} lines)` : '';
  return { level: record.level ?? '', text: shown(`${line}${more}`) };
}

function stepDetails({ detail, shares, uncertaintyMs, record }: IncidentStep): string[] {
  const common = shares.map(sharedText).join(', ');
  const where = record ? `${record.node}: ${record.file}` : '';
  return [
    ...(detail ? [detail] : []),
    ...(common ? [common] : []),
    ...(uncertaintyMs > 0 ? [`up to ${formatSpan(uncertaintyMs)} earlier`] : []),
    ...(where ? [where] : []),
  ].map(shown);
}

function sharedText({ field, value, count, of }: SharedValue): string {
  if (of === 1) return `${field}=${value}, as elsewhere`;
  return `${field}=${value} in ${count === of ? 'all' : count} of the first ${of}, as elsewhere`;
}

function commonText({ kind, shares }: Standout): string[] {
  const values = shares.map(({ field, value }) => `${field}=${value}`).join(', ');
  return kind === 'value' || values === '' ? [] : [`most of the first records have ${values}`];
}

function countsText({ counts }: Standout): string[] {
  if (!counts) return [];
  const { during, duringMs, before, beforeMs, most, others, ratioBefore, ratioOthers } = counts;
  const compared =
    others > 0 || ratioOthers > 0 ? `; ${most} on one node, ${others} on the others (G² ${ratioOthers})` : '';
  return [
    `${during} in ${formatSpan(duringMs)}, ${before} in ${formatSpan(beforeMs)} before (G² ${ratioBefore})${compared}`,
  ];
}

/** Whether the numbers of a part of the time say anything: a part of which nothing was read is not one without errors. */
export function isPhaseKnown({ coverage }: Pick<Incident, 'coverage'>, { records }: IncidentPhase): boolean {
  return records > 0 || coverage.isComplete;
}

function phaseRows(incident: Incident): string[][] {
  const { before, during, after } = incident;
  const text = (phase: IncidentPhase | null, value: (phase: IncidentPhase) => string) => {
    if (phase === null) return '';
    return isPhaseKnown(incident, phase) ? value(phase) : 'not read';
  };
  const row = (title: string, value: (phase: IncidentPhase) => string) => [
    title,
    ...[before, during, after].map((phase) => text(phase, value)),
  ];
  const rate = (pick: (phase: IncidentPhase) => number) => (phase: IncidentPhase) => {
    const value = pick(phase) / (Math.max(1000, phase.toMs - phase.fromMs) / 60_000);
    return String(Number(value.toFixed(value >= 10 ? 0 : value >= 1 ? 1 : 2)));
  };
  return [
    ['', 'before', 'during', 'after'],
    row(
      'errors a minute',
      rate(({ errors }) => errors),
    ),
    row(
      'warnings a minute',
      rate(({ warnings }) => warnings),
    ),
    row(
      'records a minute',
      rate(({ records }) => records),
    ),
    row('nodes with records', ({ nodes }) => String(nodes)),
  ];
}

/* Plain text, for terminals and pipes. */

export interface TextStyle {
  /** Lines are wrapped to it; `Infinity`: not at all. */
  columns: number;
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
}

/** Text in columns that fit. */
export function incidentText(incident: Incident, zone: ReportZone, style: TextStyle): string {
  const { headline, when, steps, standouts, phases, coverage } = toReport(incident, zone);
  const { columns, bold, dim, red } = style;
  const wrap = (text: string, indent: string, paint = (line: string) => line) =>
    wrapLines(text, columns - indent.length).map((line) => indent + paint(line));
  const lines = [...wrap(when, '', dim), ...wrap(headline, '', bold), '', bold('In the order it happened')];
  if (steps.length === 0) lines.push(...wrap(EMPTY_STEPS, '  ', dim));
  for (const { time, delay, title, changes, record, details } of steps) {
    lines.push(...wrap(`${time}  ${delay}`, '  ', dim), ...wrap(title, '    '));
    for (const change of changes) lines.push(...wrap(change, '      '));
    if (record) lines.push(...wrap(`${record.level} ${record.text}`.trim(), '      ', red));
    for (const detail of details) lines.push(...wrap(detail, '      ', dim));
  }
  if (standouts.length > 0) lines.push('', bold('What stands out'));
  for (const [index, { title, details, score }] of standouts.entries()) {
    lines.push(...wrap(`${index + 1}. ${title} (${score})`, '  '));
    for (const detail of details) lines.push(...wrap(detail, '     ', dim));
  }
  lines.push('', bold('Before, during, after'));
  const widths = phases[0]?.map((_, cell) => Math.max(...phases.map((row) => row[cell]?.length ?? 0))) ?? [];
  for (const [index, row] of phases.entries()) {
    const cells = row.map((text, cell) =>
      cell === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[cell] ?? 0),
    );
    const line = `  ${cells.join('  ')}`.trimEnd();
    lines.push(index === 0 ? dim(line) : line);
  }
  lines.push('', ...wrap(coverage, '', dim));
  return `${lines.join('\n')}\n`;
}

/** At spaces; a word that is longer than a line is cut. */
function wrapLines(text: string, width: number): string[] {
  if (text.length <= width) return [text];
  const least = Math.max(10, width);
  const lines: string[] = [];
  let rest = text;
  while (rest.length > least) {
    const space = rest.lastIndexOf(' ', least);
    const end = space > 0 ? space : least;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return rest === '' ? lines : [...lines, rest];
}

/* Markdown. */

export function incidentMarkdown(incident: Incident, zone: ReportZone): string {
  const { headline, when, steps, standouts, phases, coverage } = toReport(incident, zone);
  const text = escapeMarkdown;
  const lines = [`# ${text(headline)}`, '', text(when), '', '## In the order it happened', ''];
  if (steps.length === 0) lines.push(EMPTY_STEPS);
  for (const { time, delay, title, changes, record, details } of steps) {
    lines.push(`- **${time}** (${delay}) ${text(title)}`);
    for (const change of changes) lines.push(`  - ${codeSpan(change)}`);
    if (record) lines.push(`  - ${codeSpan(`${record.level} ${record.text}`.trim())}`);
    for (const detail of details) lines.push(`  - ${text(detail)}`);
  }
  if (standouts.length > 0) lines.push('', '## What stands out', '');
  for (const [index, { title, details, score, paths }] of standouts.entries()) {
    lines.push(`${index + 1}. ${text(title)} (${score})`);
    for (const detail of details) lines.push(`   - ${text(detail)}`);
    for (const path of paths) lines.push(`   - ${codeSpan(path)}`);
  }
  const [head = [], ...rows] = phases;
  const cells = (row: readonly string[]) => `| ${row.map(text).join(' | ')} |`;
  lines.push('', '## Before, during, after', '', cells(head), '|---|--:|--:|--:|', ...rows.map(cells));
  lines.push('', '## Coverage', '', text(coverage));
  return `${lines.join('\n')}\n`;
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>()#+!|~&-]/g, (sign) => (/[<>&]/.test(sign) ? htmlEntity(sign) : `\\${sign}`));
}

/** With more backticks around it than there are in it. */
function codeSpan(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}

/* HTML: one file that needs nothing else. */

const STYLE = `body{font:14px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a2233;background:#fff}
h1{font-size:1.4rem;margin:.2rem 0 1.5rem}h2{font-size:1rem;margin:2rem 0 .5rem}.dim{color:#5b6577}
code,.rec{font:12.5px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}.rec{background:#f1f3f7;border-radius:6px;padding:.4rem .7rem}
.rec b{color:#b42318}li{margin:.7rem 0}table{border-collapse:collapse}td,th{padding:.2rem 1rem .2rem 0;text-align:right}
td:first-child{text-align:left}meter{width:8rem}meter::-webkit-meter-optimum-value{background:#1d63d8}meter::-moz-meter-bar{background:#1d63d8}@media(prefers-color-scheme:dark){body{color:#e6e9f0;background:#12161f}.rec{background:#1c2230}.rec b{color:#ff8a80}.dim{color:#98a2b3}}`;

export function incidentHtml(incident: Incident, zone: ReportZone): string {
  const { headline, when, steps, standouts, phases, coverage } = toReport(incident, zone);
  const e = escapeHtml;
  const dim = (details: readonly string[]) => details.map((detail) => `<div class="dim">${e(detail)}</div>`).join('');
  const step = ({ time, delay, title, changes, record, details }: Report['steps'][number]) =>
    `<li><b>${e(time)}</b> <span class="dim">${e(delay)}</span> ${e(title)}` +
    changes.map((change) => `<div><code>${e(change)}</code></div>`).join('') +
    (record ? `<div class="rec"><b>${e(record.level)}</b> ${e(record.text)}</div>` : '') +
    `${dim(details)}</li>`;
  const standout = ({ title, details, score, paths }: Report['standouts'][number]) =>
    `<li>${e(title)} <meter min="0" max="100" value="${Number(score)}">${Number(score)}</meter> ${Number(score)}${dim(details)}` +
    (paths.length > 0
      ? `<details><summary class="dim">requests</summary>${paths.map((path) => `<div><code>${e(path)}</code></div>`).join('')}</details>`
      : '') +
    '</li>';
  const [head = [], ...rows] = phases;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${e(headline)}</title><style>${STYLE}</style></head><body>
<div class="dim">${e(when)}</div><h1>${e(headline)}</h1>
<h2>In the order it happened</h2>${steps.length === 0 ? `<p class="dim">${EMPTY_STEPS}</p>` : `<ol>${steps.map(step).join('\n')}</ol>`}
${standouts.length > 0 ? `<h2>What stands out</h2><ol>${standouts.map(standout).join('\n')}</ol>` : ''}
<h2>Before, during, after</h2><table><tr>${head.map((cell) => `<th>${e(cell)}</th>`).join('')}</tr>
${rows.map((row) => `<tr>${row.map((cell) => `<td>${e(cell)}</td>`).join('')}</tr>`).join('\n')}</table>
<h2>Coverage</h2><p>${e(coverage)}</p></body></html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, htmlEntity);
}

function htmlEntity(sign: string): string {
  return `&#${sign.charCodeAt(0)};`;
}
