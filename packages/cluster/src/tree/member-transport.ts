import { type CallOptions, type FetchFunction, PATHS, PortholeError } from '@porthole/contract';

/** Says how far a request has come: a helper may ask members, but not have others ask them. */
const DEPTH_HEADER = 'porthole-depth';

/** Of the request of an asking node to a helper. */
const HELPER_DEPTH = '1';

/** Of the requests of a helper. */
const MEMBER_DEPTH = '2';

/** Maximum size of a relayed response: as in the client. */
export const MAX_RESPONSE_BYTES = 16 * 1024 ** 2;

/** A request as another node wants it sent to a member: path and query below its address. */
export interface RelayedRequest {
  target: string;
  /** The parameters, if they are too long for a URL. */
  body?: string;
}

export interface RelayedResponse {
  status: number;
  contentType: string;
  body: Buffer;
}

/** How a member is contacted without its client: as a helper, and by a helper. */
export interface MemberTransport {
  /** Sends a request of its client. */
  readonly send: FetchFunction;
  /** Asks the member to be a helper; the frames of its response. Throws NOT_SUPPORTED if it cannot. */
  askGroup(body: string, options: { signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>>;
  /** Sends a request of another node to the member. */
  relay(request: RelayedRequest, options: RelayOptions): Promise<RelayedResponse>;
  /** Whether it masks its own responses; only those may be relayed. */
  isPorthole(options: CallOptions): Promise<boolean>;
}

export interface RelayOptions {
  signal: AbortSignal;
  /** Reserves memory; throws if there is none left. */
  hold(bytes: number): void;
}

export interface HttpTransportOptions {
  url: string;
  selfId: string;
  /** Throws MEMBER_REFUSED. */
  send: FetchFunction;
  isPorthole(options: CallOptions): Promise<boolean>;
}

/** Statuses of a node that does not have the route, or does not serve it. */
const UNABLE: ReadonlySet<number> = new Set([404, 405, 501]);

export class HttpTransport implements MemberTransport {
  readonly send: FetchFunction;
  readonly #options: HttpTransportOptions;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    this.send = options.send;
  }

  isPorthole(options: CallOptions): Promise<boolean> {
    return this.#options.isPorthole(options);
  }

  async askGroup(body: string, { signal }: { signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>> {
    const response = await this.#request({ target: PATHS.clusterGroup, body }, { signal, depth: HELPER_DEPTH });
    if (response.status === 200 && response.body) return readBody(response.body);
    await response.body?.getReader().cancel();
    const code = UNABLE.has(response.status) ? 'NOT_SUPPORTED' : 'UNREACHABLE';
    throw new PortholeError(code, `it does not ask other members: status ${response.status}`);
  }

  async relay(request: RelayedRequest, { signal, hold }: RelayOptions): Promise<RelayedResponse> {
    const response = await this.#request(request, { signal, depth: MEMBER_DEPTH });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ? readBody(response.body) : []) {
      bytes += chunk.length;
      if (bytes > MAX_RESPONSE_BYTES)
        throw new PortholeError('BAD_ANSWER', `the response is longer than ${MAX_RESPONSE_BYTES} bytes`);
      hold(chunk.length);
      chunks.push(chunk);
    }
    const contentType = response.headers.get('content-type') ?? '';
    return { status: response.status, contentType, body: Buffer.concat(chunks) };
  }

  #request({ target, body }: RelayedRequest, { signal, depth }: { signal: AbortSignal; depth: string }) {
    const { url, selfId } = this.#options;
    return this.send(`${url}${target}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'porthole-via': selfId,
        [DEPTH_HEADER]: depth,
        'accept-encoding': 'identity',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
      signal,
      redirect: 'manual',
      cache: 'no-store',
    });
  }
}

type Body = NonNullable<Awaited<ReturnType<FetchFunction>>['body']>;

async function* readBody(body: Body): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isOver = done;
      if (done) return;
      if (value) yield value;
    }
  } finally {
    if (!isOver) await reader.cancel().catch(() => {}); // the connection may be gone already; nothing more is read
  }
}
