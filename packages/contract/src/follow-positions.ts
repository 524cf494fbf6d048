import { MEMBER_ID } from './cluster-request.ts';
import { PortholeError } from './errors.ts';

/** Begins the positions of a follow; no cursor of the cluster begins so. */
const MARK = '@';
const BETWEEN_MEMBERS = '|';

/** As many as a registry lists at most. */
const MAX_MEMBERS = 10_000;

/**
 * Where the follow of a cluster has come to: behind the last record of each log of each member, by the cursors these
 * records have. Never by their times, which are only as good as what is known of the clocks.
 */
export function encodeFollowPositions(members: ReadonlyMap<string, string>): string {
  return MARK + [...members].map(([id, cursor]) => `${id}=${encodeURIComponent(cursor)}`).join(BETWEEN_MEMBERS);
}

/** Cursors by member; `undefined` for a text that stands for something else. Throws CURSOR_INVALID. */
export function decodeFollowPositions(text: string): Map<string, string> | undefined {
  if (!text.startsWith(MARK)) return undefined;
  const members = new Map<string, string>();
  for (const entry of text.slice(MARK.length).split(BETWEEN_MEMBERS)) {
    const [id = '', written = ''] = entry.split('=');
    const cursor = decoded(written);
    if (!MEMBER_ID.test(id) || !cursor || members.size >= MAX_MEMBERS)
      throw new PortholeError('CURSOR_INVALID', 'these are not positions of a follow of the cluster');
    members.set(id, cursor);
  }
  return members;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
