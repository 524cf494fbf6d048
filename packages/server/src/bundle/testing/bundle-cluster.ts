import type { BundleManifest } from '@porthole/contract';
import { freePorts } from '../../testing/free-ports.ts';
import { sendRequest } from '../../testing/send-request.ts';
import { startTestNode, type TestNode, type TestNodeOptions } from '../../testing/test-node.ts';
import { readZip, type ZippedFile } from './read-zip.ts';

/** The day of the records of these clusters. */
export const DAY = '2026-11-15';

/** The part of the day that bundles of these tests are of. */
export const RANGE = `since=${DAY}T05:00:00Z&until=${DAY}T06:00:00Z`;

/** A record of the contract's format; the time is a time of that day. */
export function line(time: string, text: string, level = 'INFO'): string {
  return `${DAY} ${time}.000\t${level}\ta.go:1\t[A]: ${text}\n`;
}

export interface BundleClusterOptions {
  /** Options of each node. */
  nodes: readonly TestNodeOptions[];
  /** More members, as the setting has them. */
  others?: readonly string[];
}

/** Nodes that know each other by a list: n1, n2 and so on. */
export async function startBundleCluster({ nodes, others = [] }: BundleClusterOptions): Promise<TestNode[]> {
  const ports = await freePorts(nodes.length);
  const members = [...ports.map((port, index) => `n${index + 1}=http://127.0.0.1:${port}`), ...others];
  return Promise.all(
    nodes.map(({ settings = {}, ...rest }, index) =>
      startTestNode({
        ...rest,
        settings: {
          ...settings,
          http: { port: ports[index] ?? 0, ...settings.http },
          node: { timeZone: 'UTC', ...settings.node },
          // What they record of each other would count as streams and searches.
          cluster: { name: 'test', recorders: 0, nodeId: `n${index + 1}`, members, ...settings.cluster },
        },
      }),
    ),
  );
}

export interface Bundle {
  files: ZippedFile[];
  manifest: BundleManifest;
  /** The content of a file, by its name. */
  text(name: string): string;
  json<T>(name: string): T;
}

export function readBundle(archive: Buffer): Bundle {
  const files = readZip(archive);
  const text = (name: string) => {
    const file = files.find((each) => each.name === name);
    if (!file) throw new Error(`no ${name} among ${files.map((each) => each.name).join(', ')}`);
    return file.content.toString();
  };
  const json = <T>(name: string) => JSON.parse(text(name)) as T;
  return { files, manifest: json<BundleManifest>('manifest.json'), text, json };
}

/** The bundle of a cluster, once it is there. */
export async function fetchBundle(port: number, query = RANGE): Promise<Bundle> {
  const { status, body } = await sendRequest(
    port,
    `/api/v1/bundle?${/nodes=|role=|label=/.test(query) ? query : `nodes=*&${query}`}`,
  );
  if (status !== 200) throw new Error(`${status}: ${body}`);
  return readBundle(body);
}
