import { PATHS, PortholeError, type RouteId } from '@porthole/contract';
import { inParallel } from '../fan-out/bounded-calls.ts';
import { expectFailure } from '../fan-out/member-failure.ts';
import type { Peers } from '../fan-out/peers.ts';
import { encodeFrame, FRAME } from './frames.ts';
import type { RelayedRequest, RelayedResponse } from './member-transport.ts';

/** Requests that a helper sends on: each has one response of bounded size. */
const RELAYED: ReadonlyMap<string, RouteId> = new Map(
  (
    [
      'node',
      'config',
      'settings',
      'logList',
      'logFiles',
      'logHistogram',
      'logDigest',
      'logFields',
      'logTop',
    ] as const satisfies readonly RouteId[]
  ).map((route) => [PATHS[route], route]),
);

export interface MemberRequest extends RelayedRequest {
  /** Id. */
  member: string;
}

/** The route of a relayed request; `undefined` if it is not relayed. */
export function relayedRoute(target: string): RouteId | undefined {
  return RELAYED.get(target.split('?', 1)[0] ?? '');
}

export interface RelayDeps {
  peers: Pick<Peers, 'get' | 'responses' | 'lineKernel'>;
  maxParallel: number;
}

/** Responses that depend on the credentials of the helper. */
const UNAUTHORIZED: ReadonlySet<number> = new Set([401, 403]);

/**
 * Sends requests to members and calls `emit` with a frame for each response as it comes. A member that cannot be reached, does
 * not accept this node, or whose responses must be masked is left to the asking node: its own request says what is wrong.
 */
export async function relayRequests(
  { peers, maxParallel }: RelayDeps,
  requests: readonly MemberRequest[],
  { signal, emit }: { signal: AbortSignal; emit(frame: Uint8Array): void },
): Promise<void> {
  const budget = peers.responses?.share();
  const hold = (bytes: number) => {
    if (budget?.hold(bytes) === false)
      throw new PortholeError('BAD_ANSWER', `the responses exceed ${budget.maxBytes} bytes`);
  };
  const relay = async ({ member, ...request }: MemberRequest): Promise<RelayedResponse | undefined> => {
    try {
      const { transport } = peers.get(member);
      if (!transport || !(await transport.isPorthole({ signal }))) return undefined;
      const response = await transport.relay(request, { signal, hold });
      return UNAUTHORIZED.has(response.status) ? undefined : response;
    } catch (error) {
      if (!isConnectionFailure(error)) expectFailure(error);
      return undefined;
    }
  };
  try {
    await inParallel([...requests.entries()], maxParallel, async ([index, request]) => {
      const response = await relay(request);
      if (signal.aborted) return;
      emit(response ? encodeFrame(FRAME.response, index, encodeResponse(response)) : encodeFrame(FRAME.direct, index));
    });
  } finally {
    budget?.close();
  }
}

/** What `fetch` rejects with. */
function isConnectionFailure(error: unknown): boolean {
  return error instanceof TypeError && error.cause !== undefined;
}

/** The head as JSON, a newline, the body. */
function encodeResponse({ status, contentType, body }: RelayedResponse): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ status, contentType })}\n`), body]);
}

/** Throws BAD_ANSWER: it comes from another node. */
export function decodeResponse(payload: Buffer): RelayedResponse {
  const headEnd = payload.indexOf(0x0a);
  const { status, contentType } = parseObject(payload.subarray(0, Math.max(0, headEnd)));
  if (headEnd < 0 || !isStatus(status) || typeof contentType !== 'string' || !/^[\x20-\x7e]*$/.test(contentType))
    throw new PortholeError('BAD_ANSWER', 'a relayed response is invalid');
  return { status, contentType, body: payload.subarray(headEnd + 1) };
}

function isStatus(status: unknown): status is number {
  return Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599;
}

function parseObject(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch (cause) {
    throw new PortholeError('BAD_ANSWER', 'a frame of a helper is not JSON', { cause });
  }
}
