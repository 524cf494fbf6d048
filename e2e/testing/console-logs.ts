import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, type NodeClient } from '@porthole/client';
import {
  createSource,
  type LogSource,
  type Page,
  type PageRequest,
  type ShownRecord,
  type SourceChoice,
} from '@porthole/console/testing';
import { freePorts, startTestNode, type TestNode } from '@porthole/server/testing';
import { PATIENT } from './console-cluster.ts';

export const FIRST_MS = Date.UTC(2026, 10, 15, 5);

/** A line of the contract's format, `second` after the first. */
export function line(second: number, text: string, level = 'INFO'): string {
  const time = new Date(FIRST_MS + second * 1000).toISOString().slice(0, 23).replace('T', ' ');
  return `${time}\t${level}\ta.go:1\t[A]: ${text}\n`;
}

/** Lines that count from one number to another, both included, one in a second. */
export function lines(first: number, last: number, name = 'line'): string {
  let text = '';
  for (let number = first; number <= last; number++) text += line(number, `${name} ${number}`);
  return text;
}

export interface ConsoleCluster {
  nodes: TestNode[];
  client: NodeClient;
  /** Requested paths, without their common prefix. */
  requests: string[];
  source(...choices: SourceChoice[]): LogSource;
}

/** Nodes that know each other, `n1` and so on, and the page's client of the first. */
export async function startConsoleCluster(
  files: readonly Readonly<Record<string, string | Uint8Array>>[],
  clusterNodes: Parameters<typeof createSource>[1]['clusterNodes'] = () => null,
): Promise<ConsoleCluster> {
  const ports = await freePorts(files.length);
  const members = ports.map((port, index) => `n${index + 1}=http://127.0.0.1:${port}`);
  const nodes = await Promise.all(
    files.map((given, index) =>
      startTestNode({
        files: given,
        settings: {
          http: { port: ports[index] ?? 0 },
          node: { timeZone: 'UTC' },
          cluster: { ...PATIENT, nodeId: `n${index + 1}`, members },
        },
      }),
    ),
  );
  const requests: string[] = [];
  const client = createClient({
    url: `http://127.0.0.1:${ports[0]}`,
    fetch: (input, init) => {
      requests.push(new URL(String(input)).pathname.replace('/api/v1/cluster/', ''));
      return fetch(input, init);
    },
  });
  return {
    nodes,
    client,
    requests,
    source: (...choices) => createSource(choices, { client, clusterNodes, labels: [] }),
  };
}

export function family(node: string, name: string): SourceChoice {
  return { node, log: { kind: 'family', name } };
}

export const messages = (records: readonly ShownRecord[]) => records.map(({ node, message }) => `${node} ${message}`);

/** All pages in a direction, oldest first. Fails where there seems to be no end. */
export async function readAll(
  source: LogSource,
  request: Omit<PageRequest, 'filter'> & Partial<PageRequest>,
): Promise<ShownRecord[]> {
  const all: ShownRecord[] = [];
  let from = request.from;
  for (let count = 0; count < 200; count++) {
    const page: Page = await source.page({ filter: {}, ...request, from });
    if (request.direction === 'older') all.unshift(...page.records);
    else all.push(...page.records);
    if (page.next === null) return all;
    from = { page: page.next };
  }
  throw new Error('the pages do not end');
}

export function appendTo(node: TestNode | undefined, file: string, text: string): void {
  writeFileSync(join(node?.logDir ?? '', file), text, { flag: 'a' });
}
