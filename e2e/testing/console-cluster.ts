import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import type { PartialSettings } from '@porthole/server';
import { startTestNode, type TestNode } from '@porthole/server/testing';

/** Settings of nodes that a page shows: a busy machine is no reason to leave somebody out. */
export const PATIENT = { firstBatchTimeoutMs: 20_000 };

export interface MemberSetup {
  /** Files of its log directory. */
  files?: Readonly<Record<string, string | Uint8Array>>;
  /** The configuration of its service, as TOML. */
  config?: string;
  settings?: PartialSettings;
}

export interface Member extends TestNode {
  url: string;
  /** Of its service; empty without one. */
  configFile: string;
}

/** Nodes in this process, `n1` and so on, of which the first knows the others: the page comes from it. */
export async function startCluster([first = {}, ...others]: readonly MemberSetup[]): Promise<[Member, ...Member[]]> {
  const started = await Promise.all(others.map((setup, index) => startMember(`n${index + 2}`, setup)));
  const members = started.map(({ url }, index) => `n${index + 2}=${url}`);
  return [await startMember('n1', first, members), ...started];
}

async function startMember(
  nodeId: string,
  { files = {}, config, settings = {} }: MemberSetup,
  members: string[] = [],
): Promise<Member> {
  const configFile = config === undefined ? '' : join(tempDir(), 'service.toml');
  if (config !== undefined) writeFileSync(configFile, config);
  const node = await startTestNode({
    files,
    settings: {
      ...settings,
      node: { timeZone: 'UTC', ...settings.node },
      service: { configFile },
      cluster: { ...PATIENT, ...settings.cluster, nodeId, members },
    },
  });
  return { ...node, configFile, url: `http://127.0.0.1:${node.port}` };
}

/** A line as services write it, so many seconds ago. */
export function line(secondsAgo: number, text: string, level = 'INFO'): string {
  const time = new Date(Date.now() - secondsAgo * 1000).toISOString().slice(0, 23).replace('T', ' ');
  return `${time}\t${level}\tquery/search.go:42\t[Broker] [Query]: ${text}\n`;
}

/** Lines that count down to now, one in a second. Every so many is an error. */
export function countedLines(count: number, { errorEvery = 10, name = 'line' } = {}): string {
  return Array.from({ length: count }, (_, index) => {
    const isError = (index + 1) % errorEvery === 0;
    return line(count - index, `${name} ${index + 1}`, isError ? 'ERROR' : 'INFO');
  }).join('');
}
