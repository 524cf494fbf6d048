import { codeOf, PortholeError } from '@porthole/contract';
import { FRAME, type Frame, FrameReader } from './frames.ts';
import { MAX_RESPONSE_BYTES, type MemberTransport } from './member-transport.ts';

/** A relayed response and what is said about it. */
const MAX_FRAME_BYTES = MAX_RESPONSE_BYTES + 64 * 1024;

/** A timer that is this many times as late says that this node did not get to reading. */
const BUSY = 1.2;

export interface AskOptions {
  signal: AbortSignal;
  /** A helper that sends nothing for this long is replaced: it sends a beat several times as often. */
  silentMs: number;
}

/** A helper did not do its part: another one is asked. */
export class HelperFailure extends Error {
  /** It does not know groups: it is contract-only, or older. */
  readonly isUnable: boolean;

  constructor(cause: unknown) {
    super('a helper failed', { cause });
    this.isUnable = codeOf(cause) === 'NOT_SUPPORTED';
  }
}

/** The frames of a helper, without beats and up to the last one. Throws a HelperFailure, or the reason of the signal. */
export async function* askHelper(
  transport: MemberTransport,
  body: string,
  { signal, silentMs }: AskOptions,
): AsyncGenerator<Frame[], void, undefined> {
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', onAbort, { once: true });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listen = ({ again = true } = {}) => {
    const startedMs = performance.now();
    timer = setTimeout(() => {
      // This node was busy itself: what the helper sent meanwhile was not read yet.
      if (again && performance.now() - startedMs > silentMs * BUSY) listen({ again: false });
      else controller.abort(new PortholeError('DEADLINE_EXCEEDED', `silent for ${silentMs} ms`));
    }, silentMs);
  };
  listen();
  const reader = new FrameReader(MAX_FRAME_BYTES);
  try {
    for await (const chunk of await transport.askGroup(body, { signal: controller.signal })) {
      clearTimeout(timer);
      const frames = reader.read(chunk).filter(({ kind }) => kind !== FRAME.beat);
      const isDone = frames.at(-1)?.kind === FRAME.done;
      // While the frames are being used, the helper need not be alive.
      if (frames.length > 0) yield isDone ? frames.slice(0, -1) : frames;
      if (isDone) return;
      listen();
    }
    throw new PortholeError('UNREACHABLE', 'the response was cut off');
  } catch (error) {
    signal.throwIfAborted();
    throw new HelperFailure(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    controller.abort();
  }
}
