import { get } from 'node:http';
import type { Query } from './send-request.ts';

/** The closing record of a search of all members, as far as the bench reads it. */
export interface ClusterEnd {
  type: 'end';
  reason: string;
  records: number;
  members: { id: string; outcome: string; detail: string | null }[];
  cursor: string | null;
}

export interface ClusterReply {
  /** From the request, connecting included, until the first byte of a record, or of the end where there is none. */
  firstMs: number;
  /** Until the last byte. */
  tookMs: number;
  end: ClusterEnd;
}

/** What a node answered that would not. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;

  constructor(status: number, body: string) {
    super(`the node answers ${status}: ${body.slice(0, 500)}`);
    this.status = status;
  }
}

/** Searches all members through one of them, over a connection of its own. Rejects when there is no end. */
export function searchCluster(node: string, query: Query): Promise<ClusterReply> {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const request = get(`${node}/api/v1/log/search?nodes=*&${parameters}`, { agent: false }, (response) => {
      const chunks: Buffer[] = [];
      let firstMs = 0;
      response.on('data', (chunk: Buffer) => {
        firstMs ||= performance.now() - startedAt;
        chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () => {
        const tookMs = performance.now() - startedAt;
        const body = Buffer.concat(chunks);
        if (response.statusCode !== 200) return reject(new Refused(response.statusCode ?? 0, body.toString()));
        const lastLine = body.subarray(body.lastIndexOf(10, -2) + 1).toString();
        const end = JSON.parse(lastLine) as ClusterEnd;
        if (end.type !== 'end') return reject(new Error(`the search has no end: ${lastLine.slice(0, 500)}`));
        resolve({ firstMs, tookMs, end });
      });
    });
    request.on('error', reject);
  });
}

/** Who did not give all it had; nobody must be among them but those who are meant to fail. */
export function failedMembers({ members }: ClusterEnd): string[] {
  return members.filter(({ outcome, detail }) => outcome !== 'ok' || detail !== null).map(({ id }) => id);
}
