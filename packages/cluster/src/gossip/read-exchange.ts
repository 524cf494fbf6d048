import {
  codeOf,
  MEMBER_ID,
  MEMBER_ROLE,
  type MemberEntry,
  type MemberSample,
  type NodeObject,
  type NodeProblem,
  PortholeError,
  readLabels,
  type ShippingLag,
} from '@porthole/contract';
import { readNodeObject } from '../membership/node-object.ts';

/*
 * What a member sends may be anything. A row that is not valid is left out; what is not even a list is an error. No sample
 * has more than a kilobyte.
 */

/** Twice as many as can be registered. */
const MAX_ROWS = 20_000;

/** Older than any that is of use: ages beyond it are those of a mistake. */
const MAX_AGE_MS = 366 * 24 * 3_600_000;

const MAX_TIME_MS = 8.64e15;

const HAVE_FIELDS = 4;
const BEAT_FIELDS = 7;
const FAILING_FIELDS = 2;

const MAX_NODE_TEXT = 128;
const MAX_ZONE = 64;
const MAX_PROBLEMS = 3;
const MAX_CHECK = 40;
const MAX_DETAIL = 100;

/** Nothing that a terminal acts on. */
const UNSHOWABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** What a member has of each: the newest sign of life and sample. */
export type Digest = ReadonlyMap<string, { run: number; beat: number; seq: number }>;

/** A sign of life. */
export interface Beat {
  id: string;
  run: number;
  beat: number;
  ageMs: number;
  slackMs: number;
  clockMs: number;
  isSampled: boolean;
}

/** A response, with what is valid of it. */
export interface ReadExchange {
  beats: Beat[];
  entries: MemberEntry[];
  failing: { id: string; ageMs: number }[];
}

/** Throws PARAMETER_INVALID if it is no digest at all. */
export function readDigest(value: unknown): Digest {
  const have = isObject(value) ? value.have : undefined;
  if (!Array.isArray(have) || have.length > MAX_ROWS * HAVE_FIELDS)
    throw new PortholeError('PARAMETER_INVALID', `"have" is not a list of at most ${MAX_ROWS} members`);
  const digest = new Map<string, { run: number; beat: number; seq: number }>();
  for (let at = 0; at + HAVE_FIELDS <= have.length; at += HAVE_FIELDS) {
    const id: unknown = have[at];
    const run: unknown = have[at + 1];
    const beat: unknown = have[at + 2];
    const seq: unknown = have[at + 3];
    if (isId(id) && isCount(run) && isCount(beat) && isInteger(seq)) digest.set(id, { run, beat, seq });
  }
  return digest;
}

/** Throws BAD_ANSWER if it is no response at all. */
export function readExchange(value: unknown): ReadExchange {
  const { beats, entries, failing } = isObject(value) ? value : {};
  if (!isList(beats, BEAT_FIELDS) || !isList(entries, 1) || !isList(failing, FAILING_FIELDS))
    throw new PortholeError('BAD_ANSWER', 'the exchange does not have the expected fields');
  return {
    beats: readBeats(beats),
    entries: entries.flatMap(readEntry),
    failing: readFailing(failing),
  };
}

/** A sample within its bounds; `undefined` if it is none. */
export function readSample(value: unknown): MemberSample | undefined {
  const node = isObject(value) ? readNode(value.node) : undefined;
  if (!isObject(value) || node === undefined) return undefined;
  const { role, timeZone, uptimeMs, lastRecordAgeMs, recentErrors, problems } = value;
  const archive = readLag(value.archive);
  return {
    node,
    labels: readLabels(value.labels),
    role: typeof role === 'string' && MEMBER_ROLE.test(role) ? role : null,
    timeZone: typeof timeZone === 'string' && timeZone !== '' ? cleanText(timeZone, MAX_ZONE) : null,
    uptimeMs: isCount(uptimeMs) ? uptimeMs : null,
    // Of a record in the future it is negative.
    lastRecordAgeMs: isSpan(lastRecordAgeMs) ? lastRecordAgeMs : null,
    recentErrors: isCount(recentErrors) ? recentErrors : null,
    problems: Array.isArray(problems) ? problems.slice(0, MAX_PROBLEMS).flatMap(readProblem) : [],
    ...(archive && { archive }),
  };
}

/** How far a member says it is behind in shipping; `undefined` if it does not, or says nonsense. */
export function readLag(value: unknown): ShippingLag | undefined {
  if (!isObject(value)) return undefined;
  const { lagMs, lagBytes, lostBytes } = value;
  return isCount(lagMs) && isCount(lagBytes) && isCount(lostBytes) ? { lagMs, lagBytes, lostBytes } : undefined;
}

/** Without lists for each of them: they are read twice a second, and a thousand make most of the garbage of an idle node. */
function readBeats(values: readonly unknown[]): Beat[] {
  const beats: Beat[] = [];
  for (let at = 0; at + BEAT_FIELDS <= values.length; at += BEAT_FIELDS) {
    const id = values[at];
    const run = values[at + 1];
    const beat = values[at + 2];
    const ageMs = values[at + 3];
    const slackMs = values[at + 4];
    const clockMs = values[at + 5];
    const isValid = isId(id) && isCount(run) && isCount(beat) && isAge(ageMs) && isAge(slackMs) && isSpan(clockMs);
    // It is alive at the earliest when it was last heard of: no age is negative.
    if (isValid && slackMs <= ageMs + MAX_SLACK_MS)
      beats.push({ id, run, beat, ageMs, slackMs, clockMs, isSampled: values[at + 6] === 1 });
  }
  return beats;
}

function readFailing(values: readonly unknown[]): ReadExchange['failing'] {
  const failing: ReadExchange['failing'] = [];
  for (let at = 0; at + FAILING_FIELDS <= values.length; at += FAILING_FIELDS) {
    const id = values[at];
    const ageMs = values[at + 1];
    if (isId(id) && isAge(ageMs)) failing.push({ id, ageMs });
  }
  return failing;
}

/** Rounding: an age of zero has some uncertainty, too. */
const MAX_SLACK_MS = 60_000;

function readEntry(value: unknown): MemberEntry[] {
  if (!isObject(value)) return [];
  const { id, run, seq, ageMs } = value;
  const sample = readSample(value.sample);
  if (!isId(id) || !isCount(run) || !isCount(seq) || !isAge(ageMs) || sample === undefined) return [];
  return [{ id, run, seq, ageMs, sample }];
}

function readNode(value: unknown): NodeObject | undefined {
  try {
    const node = readNodeObject(value);
    const isShort = [node.hostIp, node.hostName, node.version].every((text) => text.length <= MAX_NODE_TEXT);
    return isShort ? node : undefined;
  } catch (error) {
    if (codeOf(error) !== 'BAD_ANSWER') throw error;
    return undefined;
  }
}

function readProblem(value: unknown): NodeProblem[] {
  if (!isObject(value) || typeof value.check !== 'string' || typeof value.detail !== 'string') return [];
  return [{ check: cleanText(value.check, MAX_CHECK), detail: cleanText(value.detail, MAX_DETAIL) }];
}

function cleanText(text: string, maxCharacters: number): string {
  const shown = text.slice(0, 2 * maxCharacters).replace(UNSHOWABLE, ' ');
  return shown.length > maxCharacters ? `${shown.slice(0, maxCharacters - 3)}...` : shown;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: unknown, fields: number): value is unknown[] {
  return Array.isArray(value) && value.length <= MAX_ROWS * fields;
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && MEMBER_ID.test(value);
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isAge(value: unknown): value is number {
  return isCount(value) && value <= MAX_AGE_MS;
}

function isSpan(value: unknown): value is number {
  return Number.isSafeInteger(value) && Math.abs(value as number) <= MAX_TIME_MS;
}
