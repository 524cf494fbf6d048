import type { LookupFunction } from 'node:net';
import type { Agent } from 'undici';

/** TLS files for members with https. */
export interface MemberTls {
  /** The authority that signed their certificates. */
  ca: Buffer | undefined;
  /** The client certificate of this node. */
  cert: Buffer | undefined;
  key: Buffer | undefined;
}

export interface MemberFetch {
  fetch: typeof fetch;
  /** For new connections; running requests continue. */
  renew(tls: MemberTls): void;
}

/** Members send few and short headers. */
const MAX_HEADER_BYTES = 16 * 1024;

/** A `fetch` for members, with this node's certificate and authorities, to addresses that `lookup` allows. */
export async function createMemberFetch(tls: MemberTls, lookup: LookupFunction): Promise<MemberFetch> {
  const { Agent: DialAgent, fetch: undiciFetch } = await import('undici');
  const dial = ({ ca, cert, key }: MemberTls) =>
    new DialAgent({
      connect: { lookup, ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) },
      maxHeaderSize: MAX_HEADER_BYTES,
    });
  let dispatcher: Agent = dial(tls);
  type FetchArgs = Parameters<typeof undiciFetch>;
  // Same API, other types: Node's own fetch is another version of undici.
  const fetchMember = (input: FetchArgs[0], init?: FetchArgs[1]) => undiciFetch(input, { ...init, dispatcher });
  return {
    fetch: fetchMember as unknown as typeof fetch,
    renew(renewed) {
      const old = dispatcher;
      dispatcher = dial(renewed);
      old.close().catch(() => {}); // responses that are cut fail by themselves
    },
  };
}
