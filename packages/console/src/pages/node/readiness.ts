import { PortholeError } from '@porthole/client';

/** Whether the node can do its work, and each thing that this depends on. */
export interface Readiness {
  status: string;
  checks: { name: string; ok: boolean; detail: string }[];
}

/** Asks how the node is. A node that is stopping answers too, with 503. */
export async function readReadiness(ask: (path: string) => Promise<Response>): Promise<Readiness> {
  const response = await ask('/health/ready');
  const body: unknown = await response.json().catch(() => undefined);
  if (!isReadiness(body)) throw new PortholeError('BAD_ANSWER', `/health/ready answered ${response.status}`);
  return body;
}

function isReadiness(answer: unknown): answer is Readiness {
  if (typeof answer !== 'object' || answer === null) return false;
  const { status, checks } = answer as Partial<Record<keyof Readiness, unknown>>;
  return typeof status === 'string' && Array.isArray(checks);
}
