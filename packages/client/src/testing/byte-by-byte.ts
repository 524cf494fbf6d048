/** Replaces fetch: every response is this body, each byte a chunk of its own. */
export function byteByByte(body: string, headers: Record<string, string>): typeof fetch {
  return async () => {
    const bytes = new TextEncoder().encode(body);
    let at = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at < bytes.length) controller.enqueue(bytes.slice(at, ++at));
        else controller.close();
      },
    });
    return new Response(stream, { headers });
  };
}
