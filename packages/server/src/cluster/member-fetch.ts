import type { LookupFunction } from 'node:net';
import type { Agent } from 'undici';

/** What members with https are contacted with. */
export interface MemberTls {
  /** Who signed their certificates. */
  ca: Buffer | undefined;
  /** Shown to them. */
  cert: Buffer | undefined;
  key: Buffer | undefined;
}

export interface MemberFetch {
  fetch: typeof fetch;
  /** For connections from now on; requests under way go on. */
  renew(tls: MemberTls): void;
}

/** A member sends a handful of short headers. */
const MAX_HEADER_BYTES = 16 * 1024;

/** A `fetch` for members, with this node's certificate and authorities, to addresses that `lookup` lets pass. */
export async function createMemberFetch(tls: MemberTls, lookup: LookupFunction): Promise<MemberFetch> {
  const { Agent: DialAgent, fetch: undiciFetch } = await import('undici');
  const dial = ({ ca, cert, key }: MemberTls) =>
    new DialAgent({
      connect: { lookup, ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) },
      maxHeaderSize: MAX_HEADER_BYTES,
    });
  let dispatcher: Agent = dial(tls);
  type FetchArgs = Parameters<typeof undiciFetch>;
  // The same thing by another name: Node's own fetch is an undici too, but of another version and with other types.
  const fetchMember = (input: FetchArgs[0], init?: FetchArgs[1]) => undiciFetch(input, { ...init, dispatcher });
  return {
    fetch: fetchMember as unknown as typeof fetch,
    renew(renewed) {
      const old = dispatcher;
      dispatcher = dial(renewed);
      old.close().catch(() => {}); // responses that are cut say so themselves
    },
  };
}
