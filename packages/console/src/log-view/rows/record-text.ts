import { contextJson, type Level, showHidden } from '@porthole/client';
import type { Row } from '../model/workspace-state.ts';
import type { ShownRecord } from '../source/log-source.ts';

/* Records as text: for the clipboard, the plain view and files; and for display. */

/** Characters of a record rendered in the list. The details show all of it. */
export const SHOWN_CHARACTERS = 2048;

/** Bidirectional control characters, which can make a line appear to say something else. */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Replaces invisible and control characters by symbols of the same length, so that offsets stay valid. */
export function visibleText(text: string): string {
  return showHidden(text, visibleSymbol);
}

/** Collapses a text to one line. */
export function oneLine(text: string): string {
  return text.replaceAll('\r\n', '↵').replaceAll('\n', '↵');
}

/** Context fields and tags of the record. */
export function contextText(record: Pick<ShownRecord, 'context' | 'contextText'>): string {
  return contextJson(record) ?? '';
}

export function tagsText({ tags }: Pick<ShownRecord, 'tags'>): string {
  return tags?.map((tag) => `[${tag}]`).join(' ') ?? '';
}

/** The time to show: by the clock of the queried node, if known. */
export function recordTime({ atMs, timeMs }: Pick<ShownRecord, 'atMs' | 'timeMs'>): number | undefined {
  return atMs ?? timeMs;
}

/** A record as a line of Porthole's own log format, prefixed with its node if there are several. */
export function recordLine(record: ShownRecord, { withNode }: { withNode: boolean }): string {
  const timeMs = recordTime(record);
  const parts = [
    timeMs === undefined ? '' : new Date(timeMs).toISOString(),
    withNode ? record.node : '',
    record.level ?? '',
    record.source ?? '',
    tagsText(record),
    record.message,
    contextText(record),
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/** A record exactly as it is in its file: uncorrected time, complete text. */
export function rawLine(record: ShownRecord): string {
  return record.raw ?? recordLine(record, { withNode: false });
}

/** A row for the clipboard: the raw line, prefixed with its node if there are several, like the CLI. */
export function rowLine(row: Row, { withNode }: { withNode: boolean }): string {
  if (row.kind !== 'record') return `--- ${row.text} ---`;
  return withNode ? `${row.record.node}:${rawLine(row.record)}` : rawLine(row.record);
}

/** The text of a wrapped row, to estimate its height. */
export function drawnText({ message, ...rest }: Pick<ShownRecord, 'message' | 'context' | 'contextText'>): string {
  const context = contextText(rest);
  return (context ? `${message} ${context}` : message).slice(0, SHOWN_CHARACTERS);
}

/** Bytes of the record that the list does not render; 0 if it renders all of them. */
export function hiddenBytes(
  record: Pick<ShownRecord, 'message' | 'context' | 'contextText' | 'bytes' | 'cut'>,
): number {
  const length = record.message.length + contextText(record).length;
  if (record.cut) return Math.max(1, record.bytes - SHOWN_CHARACTERS);
  return length > SHOWN_CHARACTERS + 1 ? length - SHOWN_CHARACTERS : 0;
}

export function levelLetter(level: Level | undefined): string {
  return level?.slice(0, 1) ?? '';
}

/** Style of a row by level. */
export function levelTone(level: Level | undefined): 'error' | 'warning' | 'plain' | 'quiet' {
  if (level === 'ERROR' || level === 'FATAL') return 'error';
  if (level === 'WARN') return 'warning';
  return level === 'DEBUG' || level === 'TRACE' ? 'quiet' : 'plain';
}

function visibleSymbol(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '␡';
  if (code < 0xa0 || (code >= 0xd800 && character.length === 1 && code < 0xe000)) return '�';
  return BIDI.test(character) ? '⇄' : '◌'.repeat(character.length);
}
