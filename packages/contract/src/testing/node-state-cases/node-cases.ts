import type { LogFileDetails } from '@porthole/logs/types';
import { expect } from 'vitest';
import type { NodeState } from '../../node-state.ts';
import { type NodeStateCase, nodeCase } from './node-state-case.ts';
import { catchFailure } from './responses.ts';
import { BASE_TIME_MS, ODD_NAME, SHARED_CONFIG, sharedFiles } from './shared-files.ts';

/** Identity, configuration and files of a node. */
export const NODE_CASES: readonly NodeStateCase[] = [
  nodeCase({
    name: 'a description has the node, its clock and its capabilities',
    run: (node) => node.describe(),
    check: ({ observes, timeZone, utcOffsetMinutes, capabilities, versions, role }) => {
      expect({ observes, timeZone, role }).toEqual({ observes: 'service', timeZone: 'Europe/Berlin', role: 'node' });
      expect([60, 120]).toContain(utcOffsetMinutes);
      expect(capabilities).toContain('logSearch');
      expect(versions.node).toBe(process.versions.node);
    },
  }),
  nodeCase({
    name: 'the clock of a description is that of the node, and advances',
    run: async (node) => {
      const [first, second] = [await node.describe(), await node.describe()];
      return { clock: first.clockMs <= second.clockMs, uptime: first.uptimeMs <= second.uptimeMs };
    },
    check: (response) => expect(response).toEqual({ clock: true, uptime: true }),
  }),
  nodeCase({
    name: "the configuration is the service's file with its secrets masked",
    run: (node) => node.config(),
    check: ({ config, node }) => {
      expect(config).not.toMatch(/hunter2|pass@|abc/);
      expect(config.split('\n').length).toBe(SHARED_CONFIG.split('\n').length);
      expect(node.httpPort).toBeGreaterThan(0);
    },
  }),
  nodeCase({
    name: 'the settings of a service have every key, and no default if it is not known',
    run: (node) => node.settings(),
    check: ({ observes, settings, disk }) => {
      expect(observes).toBe('service');
      expect(disk).toEqual({ state: 'same', differs: [], detail: null });
      expect(settings.find(({ key }) => key === 'ports')).toMatchObject({ value: [9000, 9001], default: null });
      expect(settings.filter(({ secret }) => secret).map(({ key }) => key)).toEqual(['storage.password']);
    },
  }),
  nodeCase({
    name: 'a node without a service returns its own settings, with defaults and sources',
    files: {},
    run: async (node) => {
      const { settings, ...rest } = await node.settings();
      // Paths and ports of a directory created for this run.
      return { ...rest, settings: settings.filter(({ key }) => !/dir$|port$/.test(key)) };
    },
    check: ({ observes, settings }) => {
      expect(observes).toBe('self');
      expect(settings.find(({ key }) => key === 'node.time-zone')).toMatchObject({
        default: '',
        changed: true,
        source: 'option',
      });
    },
  }),
  nodeCase({
    name: 'a configuration that was changed on disk is reported with the keys that differ',
    files: {},
    config: 'a = 1\nb = { c = "x" }\n',
    run: async (node, dir) => {
      dir.configure('a = 2\nb = { c = "x" }\nd = []\n');
      const { disk } = await node.settings();
      return { disk, config: (await node.config()).config };
    },
    check: ({ disk }) => expect(disk).toMatchObject({ state: 'changed', differs: ['a', 'd'] }),
  }),
  nodeCase({
    name: 'a configuration that is broken or missing is reported as such',
    files: {},
    config: 'a = 1\n',
    run: async (node, dir) => {
      const report = async () => {
        const settings = await catchFailure(() => node.settings());
        return withoutPaths({ settings, config: await catchFailure(() => node.config()) });
      };
      dir.configure('a = = 1\n');
      const broken = await report();
      dir.configure(null);
      return { broken, missing: await report() };
    },
    check: ({ broken, missing }) => {
      for (const result of [broken, missing]) expect(result.match(/"CONFIG_UNAVAILABLE"/g)?.length).toBe(2);
    },
  }),
  nodeCase({
    name: 'the list has every file by name and size, ordered by name',
    run: (node) => node.listLogs(),
    check: (entries) => {
      const names = Object.keys(sharedFiles()).sort();
      expect(entries.map(({ name }) => name)).toEqual(names);
      expect(entries.find(({ name }) => name === 'empty.log')).toEqual({ name: 'empty.log', size: 0 });
    },
  }),
  nodeCase({
    name: 'an empty directory has no files, no records and no groups',
    files: {},
    run: async (node) => ({ list: await node.listLogs(), files: await node.logFiles() }),
    check: (response) => expect(response).toEqual({ list: [], files: [] }),
  }),
  nodeCase({
    name: 'a file that is created, grows and is removed is listed as it currently is',
    files: { 'a.log': 'one\n' },
    run: async (node, dir) => {
      const lists = [await node.listLogs()];
      dir.write('b.log', '');
      dir.append('a.log', 'two\n');
      lists.push(await node.listLogs());
      dir.remove('a.log');
      return [...lists, await node.listLogs()];
    },
    check: (lists) =>
      expect(lists.map((list) => list.map(({ name, size }) => `${name} ${size}`))).toEqual([
        ['a.log 4'],
        ['a.log 8', 'b.log 0'],
        ['b.log 0'],
      ]),
  }),
  nodeCase({
    name: 'the details have family, state, format and times of every file',
    run: detailsWithEnds,
    check: (files) => {
      const of = (name: string) => files.find((file) => file.name === name);
      expect(of('broker.log.2.gz')).toMatchObject({
        family: 'broker.log',
        state: 'rotated',
        compressed: true,
        format: 'contract',
        firstTimeMs: BASE_TIME_MS,
        lastTimeMs: BASE_TIME_MS + 600_000,
      });
      expect(of('text.log')).toMatchObject({ format: 'text', firstTimeMs: null, lastTimeMs: null, problem: null });
      expect(of('empty.log')).toMatchObject({ format: 'empty', state: 'live' });
      expect(of(ODD_NAME)).toMatchObject({ family: ODD_NAME, firstTimeMs: BASE_TIME_MS });
    },
  }),
];

/** The last time of a compressed file is determined in the background. */
async function detailsWithEnds(node: NodeState): Promise<LogFileDetails[]> {
  for (;;) {
    const files = await node.logFiles();
    if (files.every(({ name, lastTimeMs }) => name !== 'broker.log.2.gz' || lastTimeMs !== null)) return files;
    await new Promise((resolve) => setTimeout(resolve, 5)); // pause: two times that differ
  }
}

/** Directories are new for every implementation. */
function withoutPaths(value: unknown): string {
  return JSON.stringify(value).replaceAll(/\/[^ :"]*\//g, '/.../');
}
