import { PortholeError } from '../errors/errors.ts';
import { MEMBER_ID } from '../member.ts';

/** The first character of positions; no cursor of a search starts with it. */
const MARK = '@';
const MEMBER_SEPARATOR = '|';

/** The maximum of a registry. */
const MAX_MEMBERS = 10_000;

/**
 * The position of a cluster follow: after the last record of each log of each member, by the cursors of these records.
 * Never by time, which is only as exact as the known clock offsets.
 */
export function encodeFollowPositions(members: ReadonlyMap<string, string>): string {
  return MARK + [...members].map(([id, cursor]) => `${id}=${encodeURIComponent(cursor)}`).join(MEMBER_SEPARATOR);
}

/** Cursors by member. Throws CURSOR_INVALID for anything `encodeFollowPositions` did not make. */
export function decodeFollowPositions(text: string): Map<string, string> {
  const members = new Map<string, string>();
  for (const entry of text.slice(MARK.length).split(MEMBER_SEPARATOR)) {
    const [id = '', written = ''] = entry.split('=');
    const cursor = decodeText(written);
    if (!text.startsWith(MARK) || !MEMBER_ID.test(id) || !cursor || members.size >= MAX_MEMBERS)
      throw new PortholeError('CURSOR_INVALID', 'invalid "positions": pass them exactly as the follow returned them');
    members.set(id, cursor);
  }
  return members;
}

function decodeText(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
