// owner: a listener from birth, a deadline, and a limit of bytes; an error is the answer
import { get as getPlain, type IncomingMessage } from 'node:http';
// owner: a listener from birth, a deadline, and a limit of bytes; an error is the answer
import { get as getTls } from 'node:https';
import type { NodeProblem } from '@porthole/contract';
import { expectCode } from '../errors.ts';

/** A node on the same machine responds at once. */
const TIMEOUT_MS = 2000;

/** A larger response is not from a node. */
const MAX_RESPONSE_BYTES = 64 * 1024;

/** A Porthole node that responds. The fields are missing if it requires a token. */
export interface ProbedNode {
  version?: string;
  grpcPort?: number;
  /** Positive: its clock is ahead of ours. */
  clockOffsetMs?: number;
  /** Its health checks that fail. */
  problems?: NodeProblem[];
}

export interface ProbeTarget {
  host: string;
  port: number;
  isTls: boolean;
  nowMs(): number;
}

/** The Porthole node at this address, `undefined` if there is none. Never throws. */
export async function probeNode({ host, port, isTls, nowMs }: ProbeTarget): Promise<ProbedNode | undefined> {
  const sentMs = nowMs();
  const description = await getJson({ host: dialHost(host), port, isTls });
  if (description === undefined) return undefined;
  const { code, node, clockMs, versions, problems } = description;
  if (code === 'UNAUTHENTICATED') return {};
  if (typeof versions?.porthole !== 'string' || typeof clockMs !== 'number') return undefined;
  const middleMs = (sentMs + nowMs()) / 2;
  return {
    version: versions.porthole,
    clockOffsetMs: clockMs - middleMs,
    ...(node?.grpcPort !== undefined && { grpcPort: node.grpcPort }),
    ...(Array.isArray(problems) && { problems }),
  };
}

/** The fields of a node's response that matter here; an error has a code. */
interface MaybeDescription {
  code?: unknown;
  node?: { grpcPort?: number };
  clockMs?: unknown;
  versions?: { porthole?: unknown };
  problems?: NodeProblem[];
}

/** A node that listens on all addresses is reached on loopback. */
function dialHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

function getJson({
  host,
  port,
  isTls,
}: {
  host: string;
  port: number;
  isTls: boolean;
}): Promise<MaybeDescription | undefined> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const options = { host, port, path: '/api/v1/node', agent: false as const, signal };
    let isAnswered = false;
    const onResponse = (response: IncomingMessage) => {
      isAnswered = true;
      readJson(response).then(resolve, reject);
    };
    // Nothing secret is sent, and the certificate has its own check.
    const request = isTls
      ? getTls({ ...options, rejectUnauthorized: false }, onResponse)
      : getPlain(options, onResponse);
    request.on('error', () => resolve(undefined));
    // Not every connection that is closed has failed: that of a 101 has not.
    request.on('close', () => isAnswered || resolve(undefined));
  });
}

async function readJson(response: IncomingMessage): Promise<MaybeDescription | undefined> {
  try {
    let text = '';
    for await (const part of response) {
      text += part;
      if (text.length > MAX_RESPONSE_BYTES) return undefined;
    }
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as MaybeDescription) : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) expectCode(error);
    return undefined; // not JSON, or cut: not a node
  }
}
