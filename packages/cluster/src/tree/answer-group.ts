import { setMaxListeners } from 'node:events';
import { type GroupCall, PortholeError } from '@porthole/contract';
import { MAX_LISTENERS } from '../fan-out/bounded-calls.ts';
import { encodeFrame, FRAME } from './frames.ts';
import { decodeGroupSearch, encodeBatch } from './group-codec.ts';
import { type GroupSearch, searchGroup } from './group-search.ts';
import { MAX_GROUP } from './plan-groups.ts';
import { type MemberRequest, type RelayDeps, relayedRoute, relayRequests } from './relay.ts';

/** How often a helper shows that it is alive. */
const BEAT_MS = 200;

/** The response of a helper: frames, the first of them at once. Throws PARAMETER_INVALID and what `authorize` throws. */
export async function* answerGroup(deps: RelayDeps, call: GroupCall): AsyncGenerator<Uint8Array, void, undefined> {
  const request = parseRequest(call.body);
  if (request.op === 'search') return yield* answerSearch(deps, decodeGroupSearch(request, call), call);
  const requests = parseRelayed(request.requests, call);
  const queue = new FrameQueue();
  const controller = new AbortController();
  const { signal } = controller;
  setMaxListeners(MAX_LISTENERS, signal);
  const onAbort = () => controller.abort(call.signal?.reason);
  call.signal?.addEventListener('abort', onAbort, { once: true });
  const emit = (frame: Uint8Array) => queue.add(frame);
  const work = relayRequests(deps, requests, { signal, emit }).then(
    () => queue.end(),
    (error: unknown) => queue.end(error),
  );
  try {
    yield encodeFrame(FRAME.beat);
    yield* queue.read();
    yield encodeFrame(FRAME.done);
  } finally {
    call.signal?.removeEventListener('abort', onAbort);
    controller.abort();
    await work;
  }
}

/** The parts of a search. A part is taken only when the one before was sent. */
async function* answerSearch(
  deps: RelayDeps,
  search: GroupSearch,
  call: GroupCall,
): AsyncGenerator<Uint8Array, void, undefined> {
  call.authorize('logSearch');
  const { signal } = call;
  const batches = searchGroup(deps, search, { isHelper: true, ...(signal && { signal }) });
  try {
    yield encodeFrame(FRAME.beat);
    for (let next = batches.next(); ; next = batches.next()) {
      while (!(await isSettled(next))) yield encodeFrame(FRAME.beat);
      const { done, value } = await next;
      if (done) break;
      const bytes = encodeBatch(value);
      if (bytes.length > 0) yield bytes;
    }
    yield encodeFrame(FRAME.done);
  } finally {
    await batches.return();
  }
}

/** Whether it has settled before the next beat. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const beat = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), BEAT_MS);
  });
  const settled = promise.then(
    () => true as const,
    () => true as const, // the caller awaits it, too
  );
  try {
    return await Promise.race([settled, beat]);
  } finally {
    clearTimeout(timer);
  }
}

/** Frames in the order they came, and beats while there are none. */
class FrameQueue {
  #frames: Uint8Array[] = [];
  #isOver = false;
  #error: unknown;
  #wake: () => void = () => {};

  add(frame: Uint8Array): void {
    this.#frames.push(frame);
    this.#wake();
  }

  end(error?: unknown): void {
    this.#isOver = true;
    this.#error = error;
    this.#wake();
  }

  async *read(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const frames = this.#frames;
      this.#frames = [];
      if (frames.length > 0) yield Buffer.concat(frames);
      else if (this.#isOver) break;
      else if (!(await this.#next())) yield encodeFrame(FRAME.beat);
    }
    if (this.#error !== undefined) throw this.#error;
  }

  /** Whether something came in time. */
  #next(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), BEAT_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}

function parseRequest(body: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    throw new PortholeError('PARAMETER_INVALID', 'the body is not JSON', { cause });
  }
  if (isObject(value) && (value.op === 'relay' || value.op === 'search')) return value;
  throw invalid('the body is not a request for a group');
}

function parseRelayed(given: unknown, { authorize }: GroupCall): MemberRequest[] {
  if (!Array.isArray(given) || given.length > MAX_GROUP)
    throw invalid(`"requests" must be an array of at most ${MAX_GROUP} requests`);
  return given.map((each: unknown) => {
    const { member, target, body } = isObject(each) ? each : {};
    const route = typeof target === 'string' ? relayedRoute(target) : undefined;
    const isBody = body === undefined || typeof body === 'string';
    if (typeof member !== 'string' || typeof target !== 'string' || route === undefined || !isBody)
      throw invalid('a request for a member is invalid, or its route is not relayed');
    authorize(route);
    return { member, target, ...(typeof body === 'string' && { body }) };
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(message: string): PortholeError {
  return new PortholeError('PARAMETER_INVALID', message);
}
