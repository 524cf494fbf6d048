import type { Agent } from 'undici';

/** What members with https are asked with. */
export interface MemberTls {
  /** Who signed their certificates. */
  ca: Buffer | undefined;
  /** Shown to them. */
  cert: Buffer | undefined;
  key: Buffer | undefined;
}

export interface MemberFetch {
  fetch: typeof fetch | undefined;
  /** For connections from now on; questions under way go on. */
  renew(tls: MemberTls): void;
}

/** A `fetch` for members whose certificates an authority of one's own has signed, or that want one of this node. */
export async function memberFetch(tls: MemberTls): Promise<MemberFetch> {
  if (!tls.ca && !tls.cert) return { fetch: undefined, renew() {} };
  const { Agent: DialAgent, fetch: ask } = await import('undici');
  const dial = ({ ca, cert, key }: MemberTls) =>
    new DialAgent({ connect: { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) } });
  let dispatcher: Agent = dial(tls);
  type Asked = Parameters<typeof ask>;
  // The same thing by another name: Node's own fetch is an undici too, but of another version and with other types.
  const askMember = (input: Asked[0], init?: Asked[1]) => ask(input, { ...init, dispatcher });
  return {
    fetch: askMember as unknown as typeof fetch,
    renew(renewed) {
      const old = dispatcher;
      dispatcher = dial(renewed);
      old.close().catch(() => {}); // answers that are cut tell it themselves
    },
  };
}
