import { get as getPlain, type IncomingMessage } from 'node:http';
import { get as getTls } from 'node:https';

/** Someone on the same machine answers at once, or is no node. */
const PATIENCE_MS = 2000;

/** More is no answer of a node. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** A Porthole node that answers. What it tells only to those with a token is `undefined`. */
export interface NodeThere {
  version?: string;
  grpcPort?: number;
  /** Positive: its clock is ahead of ours. */
  clockOffsetMs?: number;
}

export interface Address {
  host: string;
  port: number;
  isTls: boolean;
  nowMs(): number;
}

/** Who answers at this address, if it is a Porthole node. Never throws. */
export async function askNode({ host, port, isTls, nowMs }: Address): Promise<NodeThere | undefined> {
  const askedMs = nowMs();
  const answer = await getJson({ host: dialled(host), port, isTls });
  if (answer === undefined) return undefined;
  const { code, node, clockMs, versions } = answer;
  if (code === 'UNAUTHENTICATED') return {};
  if (typeof versions?.porthole !== 'string' || typeof clockMs !== 'number') return undefined;
  const middleMs = (askedMs + nowMs()) / 2;
  return {
    version: versions.porthole,
    clockOffsetMs: clockMs - middleMs,
    ...(node?.grpcPort !== undefined && { grpcPort: node.grpcPort }),
  };
}

/** The parts of an answer that matter here, if it is one of a node; a refusal has a code. */
interface MaybeDescription {
  code?: unknown;
  node?: { grpcPort?: number };
  clockMs?: unknown;
  versions?: { porthole?: unknown };
}

/** Who listens on all addresses is asked on the nearest. */
function dialled(host: string): string {
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
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const options = { host, port, path: '/api/v1/node', agent: false as const, signal };
    const onAnswer = (response: IncomingMessage) => void readJson(response).then(resolve);
    // Nothing secret is sent, and whose certificate it has is looked at elsewhere.
    const request = isTls ? getTls({ ...options, rejectUnauthorized: false }, onAnswer) : getPlain(options, onAnswer);
    request.once('error', () => resolve(undefined));
  });
}

async function readJson(response: IncomingMessage): Promise<MaybeDescription | undefined> {
  try {
    let text = '';
    for await (const part of response) {
      text += part;
      if (text.length > MAX_ANSWER_BYTES) return undefined;
    }
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as MaybeDescription) : undefined;
  } catch {
    return undefined;
  }
}
