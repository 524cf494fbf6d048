import type { ClusterNode, NodeProblem, SettingJson } from '@porthole/client';
import { formatSpan, type MemberReport, type RequestClock, readTime } from '@porthole/contract';
import { canFollow, type TimeRange } from '../state/time-range.ts';
import { zoneOffsetMs } from '../state/time-zone.ts';
import type { ZoneName } from '../state/view.ts';

export { formatBytes, formatSpan } from '@porthole/contract';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Positions of thousands separators. Not by `Intl`, whose first use takes 50 ms. */
const THOUSANDS = /\B(?=(?:\d{3})+$)/g;

/** `HH:mm:ss.SSS` */
export function formatTime(timeMs: number, zone: ZoneName): string {
  const at = dateParts(timeMs, zone);
  return `${two(at.hour)}:${two(at.minute)}:${two(at.second)}.${String(at.ms).padStart(3, '0')}`;
}

/** `HH:mm` */
export function formatMinute(timeMs: number, zone: ZoneName): string {
  return formatTime(timeMs, zone).slice(0, 5);
}

/** `HH:mm:ss` */
export function formatSecond(timeMs: number, zone: ZoneName): string {
  return formatTime(timeMs, zone).slice(0, 8);
}

/** What is shown of a node that does not respond: `recorded by storage-1, until 03:15:42.118 (0.3 s before it was lost)` */
export function recordedText(
  {
    recordedBy,
    asOfMs,
    missingMs = 0,
    archive,
  }: Pick<MemberReport, 'recordedBy' | 'missingMs' | 'archive'> & { asOfMs: number },
  zone: ZoneName,
): string {
  const until = `until ${formatTime(asOfMs, zone)}`;
  if (recordedBy === undefined) return archive ? `from the archive, ${until}` : `known ${until}`;
  const missing = missingMs < 60_000 ? `${(missingMs / 1000).toFixed(1)} s` : formatSpan(missingMs);
  const lost = missingMs > 0 ? ` (${missing} before it was lost)` : '';
  return `recorded by ${recordedBy}, ${until}${lost}${archive ? '; older lines are from the archive' : ''}`;
}

/** `12 Nov 2026` */
export function formatDate(timeMs: number, zone: ZoneName): string {
  const { day, month, year } = dateParts(timeMs, zone);
  return `${day} ${MONTHS[month]} ${year}`;
}

/** As short as possible: `08:14` today, `12 Nov 08:14` this year, `12 Nov 2025 08:14`. */
export function formatShortTime(timeMs: number, zone: ZoneName, nowMs: number): string {
  const date = formatDate(timeMs, zone);
  const today = formatDate(nowMs, zone);
  const minute = formatMinute(timeMs, zone);
  if (date === today) return minute;
  return date.slice(-4) === today.slice(-4) ? `${date.slice(0, -5)} ${minute}` : `${date} ${minute}`;
}

/** `4 min 12 s ago`. Future times, because clocks differ, are `just now`. */
export function formatAge(timeMs: number, nowMs: number): string {
  const ageMs = Math.max(0, nowMs - timeMs);
  return ageMs < 1000 ? 'just now' : `${formatSpan(ageMs)} ago`;
}

/** `41,880` */
export function formatCount(count: number): string {
  return String(count).replace(THOUSANDS, ',');
}

/** `1 error`, `41,880 errors` */
export function formatCounted(count: number, word: string): string {
  return `${formatCount(count)} ${word}${count === 1 ? '' : 's'}`;
}

/** `UTC`, `UTC+01:00`: depends on the time because of daylight saving. */
export function zoneLabel(zone: ZoneName, timeMs: number): string {
  const minutes = zoneOffsetMs(zone, timeMs) / 60_000;
  if (minutes === 0) return 'UTC';
  const size = Math.abs(minutes);
  return `UTC${minutes < 0 ? '−' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

function dateParts(timeMs: number, zone: ZoneName) {
  // Shifted by the offset of the zone, the UTC fields are those of the zone.
  const date = new Date(timeMs + zoneOffsetMs(zone, timeMs));
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    ms: date.getUTCMilliseconds(),
  };
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** Typed times are in the time zone in which times are shown. */
export function timeInputClock(zone: ZoneName, nowMs: number): RequestClock {
  return { nowMs, offsetMsAt: (epochMs) => zoneOffsetMs(zone, epochMs) };
}

/** Formats a time so that it can be parsed again. */
export function formatTimeInput(timeMs: number | null, zone: ZoneName): string {
  if (timeMs === null) return '';
  return new Date(timeMs + timeInputClock(zone, timeMs).offsetMsAt(timeMs))
    .toISOString()
    .slice(0, 19)
    .replace('T', ' ');
}

/** How a typed time is parsed, or what is wrong with it; empty while nothing is typed. */
export function timePreview(text: string, clock: RequestClock, zone: ZoneName): string {
  if (text.trim() === '') return '';
  const reading = readTime(text, clock);
  if ('problem' in reading) return reading.problem;
  const { timeMs } = reading;
  return `${formatDate(timeMs, zone)} ${formatTime(timeMs, zone)} ${zoneLabel(zone, timeMs)}`;
}

/** The node responds, but a health check fails: its counts may be incomplete. */
export function isDegraded({ state, problems }: Pick<ClusterNode, 'state' | 'problems'>): boolean {
  return state === 'up' && problems.length > 0;
}

/** `log directory: /var/log/lindb does not exist` */
export function problemText(problems: readonly NodeProblem[]): string {
  return problems.map(({ check, detail }) => `${check}: ${detail}`).join(' · ');
}

/** Replaces a secret. */
export const MASK = '******';

/** A value as it is shown. */
export interface ShownValue {
  text: string;
  /** `absent` and `empty` describe the value; they are not the value itself. */
  kind: 'value' | 'absent' | 'empty' | 'secret';
  /** Of a secret: equal fingerprints mean equal secrets. */
  fingerprint: string | null;
}

/** How the cluster encodes a masked value with its fingerprint. */
const FINGERPRINT = /^(.*) \(fingerprint (\S+)\)$/s;

/** Secrets stay masked: their values never reach the browser. */
export function showValue(value: SettingJson | null): ShownValue {
  if (value === null) return { text: 'absent', kind: 'absent', fingerprint: null };
  if (value === '') return { text: 'empty', kind: 'empty', fingerprint: null };
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (!text.includes(MASK)) return { text, kind: 'value', fingerprint: null };
  const [, masked = text, fingerprint = null] = FINGERPRINT.exec(text) ?? [];
  return { text: masked, kind: 'secret', fingerprint };
}

/** `Last hour`, `03:10 – 03:16`, `03:00 – now` */
export function rangeText(range: TimeRange | null, zone: ZoneName, nowMs = Date.now()): string {
  if (range === null) return 'All times';
  if (range.kind === 'last') return range.spanMs === 3_600_000 ? 'Last hour' : `Last ${spanText(range.spanMs)}`;
  const text = (timeMs: number | null, open: string) => (timeMs === null ? open : formatShortTime(timeMs, zone, nowMs));
  return `${text(range.fromMs, 'start')} – ${text(range.toMs, canFollow(range) ? 'now' : 'end')}`;
}

/** A relative range of a day is 24 hours, not a calendar day. */
function spanText(spanMs: number): string {
  return spanMs === 86_400_000 ? '24 h' : formatSpan(spanMs);
}
