/** A `fetch` for members whose certificates an authority of one's own has signed. */
export async function memberFetch(ca: Buffer | undefined): Promise<typeof fetch | undefined> {
  if (!ca) return undefined;
  const { Agent, fetch: ask } = await import('undici');
  const dispatcher = new Agent({ connect: { ca } });
  type Asked = Parameters<typeof ask>;
  // The same thing by another name: Node's own fetch is an undici too, but of another version and with other types.
  return ((input: Asked[0], init?: Asked[1]) => ask(input, { ...init, dispatcher })) as unknown as typeof fetch;
}
