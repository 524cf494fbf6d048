import type { LookupFunction } from 'node:net';
import type { FetchFunction } from '@porthole/contract';
import type { Agent } from 'undici';
import { createDispatchFetch } from './dispatch-fetch.ts';

/** TLS files for members with https. */
export interface MemberTls {
  /** The authority that signed their certificates. */
  ca: Buffer | undefined;
  /** The client certificate of this node. */
  cert: Buffer | undefined;
  key: Buffer | undefined;
}

export interface MemberFetch {
  fetch: FetchFunction;
  /** For new connections; running requests continue. */
  renew(tls: MemberTls): void;
}

/** Members send few and short headers. */
const MAX_HEADER_BYTES = 16 * 1024;

/** A `fetch` for members, with this node's certificate and authorities, to addresses that `lookup` allows. */
export async function createMemberFetch(tls: MemberTls, lookup: LookupFunction): Promise<MemberFetch> {
  // All of undici takes three times as long to load, most of it for the `fetch` that is not used here.
  const { default: DialAgent } = await import('undici/lib/dispatcher/agent.js');
  const dial = ({ ca, cert, key }: MemberTls) =>
    new DialAgent({
      connect: { lookup, ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) },
      maxHeaderSize: MAX_HEADER_BYTES,
    });
  let dispatcher: Agent = dial(tls);
  return {
    fetch: createDispatchFetch(() => dispatcher),
    renew(renewed) {
      const old = dispatcher;
      dispatcher = dial(renewed);
      old.close().catch(() => {}); // responses that are cut fail by themselves
    },
  };
}
