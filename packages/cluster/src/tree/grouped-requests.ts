import type { FetchFunction, FetchInit, FetchResponse } from '@porthole/contract';
import type { Peer } from '../fan-out/peers.ts';
import { askHelper, HelperFailure } from './ask-helper.ts';
import { FRAME, type Frame } from './frames.ts';
import type { Helpers } from './helpers.ts';
import { decodeResponse, relayedRoute } from './relay.ts';

/** Requests of one operation are sent within this time of each other. */
const COLLECT_MS = 2;

/** Fewer requests than this are sent directly. */
const MIN_RELAYED = 3;

export interface GroupedRequestsOptions {
  helpers: Helpers;
  silentMs: number;
}

/** A request of the client of a member. */
interface PendingRequest {
  peer: Peer;
  url: string;
  init: FetchInit;
  isSettled: boolean;
  resolve(response: FetchResponse): void;
  reject(error: unknown): void;
}

/**
 * Sends the requests of one operation to the members of a group through a helper. They are collected first. A helper that
 * fails is replaced; what no helper has answered is requested directly. For the clients it looks like their own `fetch`.
 */
export class GroupedRequests {
  readonly #group: readonly Peer[];
  readonly #options: GroupedRequestsOptions;
  #pending: PendingRequest[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(group: readonly Peer[], options: GroupedRequestsOptions) {
    this.#group = group;
    this.#options = options;
  }

  /** How the client of a member of the group sends its requests. */
  sendFor(peer: Peer): FetchFunction {
    return (url, init) => {
      if (relayedRoute(url.slice(peer.member.url.length)) === undefined) return sendDirectly(peer, url, init);
      return new Promise((resolve, reject) => this.#add({ peer, url, init, isSettled: false, resolve, reject }));
    };
  }

  #add(request: PendingRequest): void {
    this.#pending.push(request);
    if (this.#pending.length >= this.#group.length) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), COLLECT_MS);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const requests = this.#pending;
    this.#pending = [];
    const batch = new Batch(requests);
    this.#run(batch).catch((error: unknown) => batch.fail(error));
  }

  async #run(batch: Batch): Promise<void> {
    const { helpers, silentMs } = this.#options;
    for (const helper of helpers.choose(this.#group)) {
      // A helper sends its own response itself.
      batch.sendDirectly(({ peer }) => peer.member.id === helper.member.id);
      const requests = batch.open;
      if (requests.length < MIN_RELAYED || !helper.transport) break;
      const body = JSON.stringify({ op: 'relay', requests: requests.map(toMemberRequest) });
      try {
        const { signal } = batch;
        for await (const frames of askHelper(helper.transport, body, { signal, silentMs })) {
          for (const frame of frames) batch.settle(requests[frame.index], frame);
        }
      } catch (error) {
        if (batch.signal.aborted) return;
        if (!(error instanceof HelperFailure)) throw error;
        helpers.avoid(helper.member.id, error);
      }
    }
    batch.sendDirectly(() => true);
  }
}

function toMemberRequest({ peer, url, init: { body } }: PendingRequest) {
  const target = url.slice(peer.member.url.length);
  return { member: peer.member.id, target, ...(body !== undefined && { body }) };
}

function sendDirectly({ transport }: Peer, url: string, init: FetchInit): Promise<FetchResponse> {
  if (!transport) throw new Error('a member of a group has no transport');
  return transport.send(url, init);
}

/** Requests that are sent together. */
class Batch {
  readonly #requests: readonly PendingRequest[];
  readonly #controller = new AbortController();

  constructor(requests: readonly PendingRequest[]) {
    this.#requests = requests;
    for (const request of requests) {
      const { signal } = request.init;
      const onAbort = () => this.#settle(request, () => request.reject(signal.reason));
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    }
  }

  /** Aborts when nobody waits for a response any more. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get open(): PendingRequest[] {
    return this.#requests.filter(({ isSettled }) => !isSettled);
  }

  sendDirectly(isMeant: (request: PendingRequest) => boolean): void {
    for (const request of this.open.filter(isMeant)) this.#sendDirectly(request);
  }

  /** Uses a frame of a helper. Throws a HelperFailure if it is invalid. */
  settle(request: PendingRequest | undefined, { kind, payload }: Frame): void {
    if (request === undefined || request.isSettled) return;
    if (kind === FRAME.direct) this.#sendDirectly(request);
    if (kind !== FRAME.response) return;
    const response = toResponse(payload);
    this.#settle(request, () => request.resolve(response));
  }

  fail(error: unknown): void {
    for (const request of this.open) this.#settle(request, () => request.reject(error));
  }

  #sendDirectly(request: PendingRequest): void {
    const { peer, url, init } = request;
    this.#settle(request, () => sendDirectly(peer, url, init).then(request.resolve, request.reject));
  }

  #settle(request: PendingRequest, act: () => unknown): void {
    if (request.isSettled) return;
    request.isSettled = true;
    act();
    if (this.#requests.every(({ isSettled }) => isSettled)) this.#controller.abort();
  }
}

/** Statuses whose responses have no body. */
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

function toResponse(payload: Buffer): FetchResponse {
  try {
    const { status, contentType, body } = decodeResponse(payload);
    const bytes = NO_BODY.has(status) ? null : new Uint8Array(body);
    return new Response(bytes, { status, headers: { 'content-type': contentType } }) as FetchResponse;
  } catch (error) {
    throw new HelperFailure(error);
  }
}
