import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigHistory, NodePast } from '@porthole/cluster/past';
import type { NodeState } from '@porthole/contract';
import { createZone, LogDir } from '@porthole/logs';
import { SHARED_THREADS } from '@porthole/logs/testing';
import type { ConfigSource } from '../../config/service-config.ts';
import { LocalNode } from '../../local-node.ts';
import type { GeneratedConfig, GeneratedNode, Incident } from './incident.ts';

export interface OpenedIncident {
  /** Nodes that read real directories, by id. */
  states: Readonly<Record<string, NodeState>>;
  /** One directory for each node: `logs/`, `events/own/`, `config-history/`, where a node with `own/` as its own log has them. */
  dir: string;
  /** Closes the nodes and deletes the directory. */
  close(): Promise<void>;
}

export async function openIncident({ nodes, toMs }: Pick<Incident, 'nodes' | 'toMs'>): Promise<OpenedIncident> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'porthole-incident-')));
  const opened = await Promise.all(nodes.map((node) => openNode(node, { dir: join(dir, node.id), toMs })));
  return {
    states: Object.fromEntries(opened.map(({ id, state }) => [id, state])),
    dir,
    async close() {
      await Promise.all(opened.map(({ close }) => close()));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function openNode(
  { id, logs: files, events, configs }: GeneratedNode,
  { dir, toMs }: { dir: string; toMs: number },
) {
  const paths = { logs: join(dir, 'logs'), events: join(dir, 'events', 'own'), history: join(dir, 'config-history') };
  for (const path of Object.values(paths)) mkdirSync(path, { recursive: true });
  for (const [name, text] of Object.entries(files)) write(join(paths.logs, name), text, toMs);
  write(join(paths.events, 'events.log'), events, toMs);
  const history = new ConfigHistory(paths.history);
  for (const { config, settings } of configs) await history.add(config, settings);

  const zone = createZone('UTC');
  const logs = new LogDir(paths.logs, { zone, threads: SHARED_THREADS });
  const past = new NodePast({ logs: new LogDir(paths.events, { zone, threads: SHARED_THREADS }), history });
  const node = { hostIp: '127.0.0.1', hostName: id, grpcPort: 0, httpPort: 0, version: '', onlineTime: 0 };
  const state = new LocalNode({
    node: () => node,
    config: configSource(configs.at(-1)),
    observes: 'service',
    logs,
    zone,
    problems: async () => [],
    role: 'node',
    labels: {},
    past,
  });
  return { id, state, close: () => Promise.all([logs.close(), past.close()]) };
}

function configSource({ config, settings }: GeneratedConfig = { config: '', settings: [] }): ConfigSource {
  const values = settings.map(({ key, value }) => ({ key, value, secret: false }));
  const entries = values.map((entry) => ({ ...entry, default: null, source: 'file' as const, changed: false }));
  const disk = { state: 'same' as const, differs: [], detail: null };
  return {
    observes: 'service',
    text: async () => config,
    source: async () => config,
    settings: async () => ({ observes: 'service', file: 'service.toml', settings: entries, disk }),
    current: async () => ({ text: config, values }),
    check: async () => ({ ok: true, detail: 'service.toml' }),
  };
}

/** The time of the last change says which year is meant where a log has none. */
function write(path: string, text: string, toMs: number): void {
  writeFileSync(path, text);
  utimesSync(path, toMs / 1000, toMs / 1000);
}
