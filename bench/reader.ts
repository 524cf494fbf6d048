import { Agent, get, type IncomingMessage } from 'node:http';

export interface ReaderLimits {
  /** Hangs up after so much or so long, whichever is first. */
  maxBytes: number;
  maxMs: number;
  /** Hangs up at once. */
  signal: AbortSignal;
  /** Stops reading for `pauseMs` after every `afterBytes`. */
  slow?: { afterBytes: number; pauseMs: number };
}

export interface ReaderResult {
  bytes: number;
  tookMs: number;
}

/** Reads an answer over a connection of its own and throws it away. Rejects when it is not a good one. */
export function readTail(url: string, { maxBytes, maxMs, slow, signal }: ReaderLimits): Promise<ReaderResult> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: new Agent({ keepAlive: false }), signal }, (response) => {
      if (response.statusCode !== 200) {
        request.destroy();
        return reject(new Error(`${url} answers ${response.statusCode}`));
      }
      const timer = setTimeout(() => request.destroy(), maxMs);
      let bytes = 0;
      let hungUp = false;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        hungUp ||= bytes >= maxBytes;
        if (hungUp) request.destroy();
      });
      if (slow) readSlowly(response, slow);
      response.on('error', () => {}); // our own hanging up
      response.on('close', () => {
        clearTimeout(timer);
        const tookMs = performance.now() - startedAt;
        if (response.complete || hungUp || tookMs >= maxMs) return resolve({ bytes, tookMs });
        reject(new Error(`${url} was cut after ${bytes} bytes`));
      });
    });
    request.on('error', reject); // before the answer; afterwards the promise is settled by its close
  });
}

function readSlowly(response: IncomingMessage, { afterBytes, pauseMs }: { afterBytes: number; pauseMs: number }): void {
  let sincePause = 0;
  response.on('data', (chunk: Buffer) => {
    sincePause += chunk.length;
    if (sincePause < afterBytes) return;
    sincePause = 0;
    response.pause();
    setTimeout(() => response.resume(), pauseMs);
  });
}
