import type { RecordKey } from './log-source.ts';

/** A cursor: what the file starts with, and how much of it that is; place, check, checked bytes; name of the file. */
const CURSOR = /^[0-9a-f]{16}\.[0-9a-z]+\.([0-9a-z]+\.[0-9a-z]+\.[0-9a-z]+)\.([\w-]+)$/;

/**
 * One text for one record, however its cursor is written: that changes while the file is shorter than 1 KiB, and with the
 * file's name. Of the name the first letters stay the same through every rotation; they tell the logs of a node apart.
 */
export function recordKey({ node, cursor }: RecordKey): string {
  const [, place, name] = CURSOR.exec(cursor) ?? [];
  if (place === undefined || name === undefined) return `${node} ${cursor}`;
  return `${node} ${place} ${firstLetters(name)}`;
}

function firstLetters(name: string): string {
  try {
    const text = atob(name.replaceAll('-', '+').replaceAll('_', '/'));
    return /^[A-Za-z]*/.exec(text)?.[0] ?? '';
  } catch {
    return ''; // no name of a file: the place alone must do
  }
}
