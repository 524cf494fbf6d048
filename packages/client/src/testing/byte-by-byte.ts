/** Replaces fetch: every response is this body, each byte a chunk of its own. */
export function byteByByte(body: string, headers: Record<string, string>): typeof fetch {
  const bytes = new TextEncoder().encode(body);
  return inChunks(
    Array.from(bytes, (byte) => Uint8Array.of(byte)),
    headers,
  );
}

/** The same with these chunks. */
export function inChunks(chunks: readonly Uint8Array[], headers: Record<string, string>): typeof fetch {
  return async () => {
    let next = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        const chunk = chunks[next++];
        if (chunk) controller.enqueue(chunk.slice());
        else controller.close();
      },
    });
    return new Response(stream, { headers });
  };
}
