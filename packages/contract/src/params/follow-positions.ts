import { PortholeError } from '../errors/errors.ts';
import { MEMBER_ID } from './codecs.ts';

/** Begins the positions of a follow; no cursor of the cluster begins so. */
const MARK = '@';
const MEMBER_SEPARATOR = '|';

/** As many as a registry lists at most. */
const MAX_MEMBERS = 10_000;

/**
 * Where the follow of a cluster has come to: behind the last record of each log of each member, by the cursors these
 * records have. Never by their times, which are only as good as what is known of the clocks.
 */
export function encodeFollowPositions(members: ReadonlyMap<string, string>): string {
  return MARK + [...members].map(([id, cursor]) => `${id}=${encodeURIComponent(cursor)}`).join(MEMBER_SEPARATOR);
}

/** Cursors by member; `undefined` for a text that stands for something else. Throws CURSOR_INVALID. */
export function decodeFollowPositions(text: string): Map<string, string> | undefined {
  if (!text.startsWith(MARK)) return undefined;
  const members = new Map<string, string>();
  for (const entry of text.slice(MARK.length).split(MEMBER_SEPARATOR)) {
    const [id = '', written = ''] = entry.split('=');
    const cursor = decodeText(written);
    if (!MEMBER_ID.test(id) || !cursor || members.size >= MAX_MEMBERS)
      throw new PortholeError('CURSOR_INVALID', 'these are not positions of a follow of the cluster');
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
