import {
  type ClusterNode,
  type ConfigDifference,
  isLabelPattern,
  type MemberReport,
  type MemberSelection,
  matchesLabels,
  PortholeError,
  type RecordStore,
  type SettingEntry,
} from '@porthole/contract';
import { countNodes, cutValue, describeGaps, MEMBERS, type Tool, takeFirst } from './tool.ts';

const MOST_NODES = 200;
const MOST_SETTINGS = 300;
const MOST_DIFFERENCES = 200;
const MOST_FILES = 300;

/** Characters of one value. */
const VALUE_CHARACTERS = 2000;

/** What nodes there are, how they are configured, and which logs they have. */
export const CONFIG_TOOLS: readonly Tool[] = [
  {
    name: 'list_nodes',
    title: 'List nodes',
    description:
      'The nodes of the cluster: id, role, state, errors of the last 15 minutes, time of the newest record, failing health checks. Start here.',
    input: { labels: MEMBERS.labels },
    async run(args, { client, signal }) {
      const { labels = [] } = toSelection(args);
      const bad = labels.find((label) => !isLabelPattern(label));
      if (bad !== undefined)
        throw new PortholeError('PARAMETER_INVALID', `labels: ${JSON.stringify(bad)} is not like zone=eu-1`);
      const { cluster, membership, nodes: all } = await client.nodes({ signal });
      const nodes = all.filter((node) => matchesLabels(node.labels, labels));
      const unlabelled = all.filter(({ role }) => labels.length > 0 && role === 'unknown').map(({ id }) => id);
      const { taken, gaps } = takeFirst(nodes, MOST_NODES, 'nodes');
      const reports = nodes.map(({ report }) => report);
      return {
        coverage: {
          about: `the state of every node of the cluster${labels.length > 0 ? ' with these labels' : ''} (${nodes.length})`,
          gaps: [
            ...describeGaps({ membership, members: reports }),
            ...unlabelled.slice(0, 20).map((id) => `node ${id}: its labels are not known`),
            ...gaps,
          ],
        },
        data: { cluster, nodes: taken.map(describeNode) },
      };
    },
  },
  {
    name: 'get_config',
    title: 'Get configuration',
    description:
      'The configuration of one node, by key: value, default, where it was set. Secrets are masked. Use "key" or "changed" to see less.',
    input: {
      node: { type: 'string', description: 'Id of the node. Default: the node that is asked.' },
      key: { type: 'string', description: 'Only keys that contain this text.' },
      changed: { type: 'boolean', description: 'Only keys that differ from their default.' },
    },
    async run({ node, key, changed }, { client, signal }) {
      const state = typeof node === 'string' ? client.node(node) : client;
      const { configs } = await state.settings({}, { signal });
      const [found] = configs;
      if (!found?.settings) throw unanswered('the keys of its configuration', found?.report);
      const { settings, file, disk } = found.settings;
      const wanted = settings.filter(
        (entry) =>
          (typeof key !== 'string' || entry.key.includes(key)) && (changed !== true || entry.changed !== false),
      );
      const { taken, gaps } = takeFirst(wanted, MOST_SETTINGS, 'keys');
      const of = typeof node === 'string' ? `node ${node}` : 'this node';
      return {
        coverage: { about: `every ${wanted.length < settings.length ? 'matching ' : ''}key of ${of}`, gaps },
        data: { file, disk: { state: disk.state, differs: disk.differs }, settings: taken.map(describeSetting) },
      };
    },
  },
  {
    name: 'compare_config',
    title: 'Compare configurations',
    description:
      'The keys in which nodes of the same role differ, with their values and which nodes have them. Addresses and names, which are expected to differ, are left out unless "expected" is true.',
    input: {
      ...MEMBERS,
      by: { type: 'string', description: 'The name of a label: compare only nodes with the same value, like zone.' },
      expected: { type: 'boolean', description: 'Include differences that are expected.' },
    },
    async run({ expected, by, ...selection }, { client, signal }) {
      const request = { ...toSelection(selection), ...(typeof by === 'string' && by !== '' && { by }) };
      const response = await client.configDiff(request, { signal });
      const { roles, members } = response;
      const gaps = describeGaps(response);
      const compared = roles.map(
        ({ role, label, nodes, comparedKeys, notCompared, withoutFingerprint = {}, differences }) => {
          const shown = takeFirst(
            differences.filter(({ isExpected }) => expected === true || !isExpected),
            MOST_DIFFERENCES,
            `differences of role ${role}`,
          );
          gaps.push(...shown.gaps);
          for (const key of notCompared)
            gaps.push(
              `secret ${key} not compared: no fingerprint of ${withoutFingerprint[key]?.join(', ') ?? 'some nodes'}`,
            );
          return {
            role,
            ...(label && { label }),
            nodes,
            comparedKeys,
            differences: shown.taken.map(describeDifference),
          };
        },
      );
      return { coverage: { about: `every difference between ${countNodes(members)}`, gaps }, data: compared };
    },
  },
  {
    name: 'list_logs',
    title: 'List log files',
    description: 'The log files of nodes: name, log they belong to, size, format, first and last time.',
    input: MEMBERS,
    async run(selection, { client, signal }) {
      const response = await client.logFiles({ nodes: ['*'], ...toSelection(selection) }, { signal });
      const { files, members } = response;
      const { taken, gaps } = takeFirst(files, MOST_FILES, 'files');
      const problems = files.flatMap(({ node, name, problem }) => (problem ? [`${node} ${name}: ${problem}`] : []));
      return {
        coverage: {
          about: `every log file of ${countNodes(members)}`,
          gaps: [...describeGaps(response), ...problems.slice(0, 20), ...gaps],
        },
        data: taken.map(({ node, name, family, size, format, firstTimeMs, lastTimeMs, state }) => ({
          node,
          file: name,
          log: family,
          state,
          bytes: size,
          format,
          first: toIso(firstTimeMs),
          last: toIso(lastTimeMs),
        })),
      };
    },
  },
];

/** What a node was asked for and did not return. */
export function unanswered(what: string, report: MemberReport | undefined): PortholeError {
  const code = report?.outcome === 'not supported' ? 'NOT_SUPPORTED' : 'UNREACHABLE';
  return new PortholeError(
    code,
    `${report?.id ?? 'the node'} did not return ${what}: ${report?.detail ?? 'no reason'}`,
  );
}

/** The members that the arguments of a tool select. */
export function toSelection({ nodes, role, labels, store }: Readonly<Record<string, unknown>>): MemberSelection {
  return {
    ...(Array.isArray(nodes) && nodes.length > 0 && { nodes: nodes.map(String) }),
    ...(typeof role === 'string' && { role }),
    ...(Array.isArray(labels) && labels.length > 0 && { labels: labels.map(String) }),
    ...(typeof store === 'string' && { store: store as RecordStore }),
  };
}

export function toIso(timeMs: number | null | undefined): string | null {
  return typeof timeMs === 'number' ? new Date(timeMs).toISOString() : null;
}

function describeNode(node: ClusterNode) {
  const {
    id,
    role,
    labels,
    state,
    recentErrors,
    lastRecordMs,
    lastSeenMs,
    clock,
    timeZone,
    uptimeMs,
    problems,
    archive,
  } = node;
  return {
    id,
    role,
    labels,
    state,
    since: toIso(node.sinceMs),
    version: node.node.version,
    errorsOfLast15Minutes: recentErrors,
    newestRecord: toIso(lastRecordMs),
    lastSeen: toIso(lastSeenMs),
    uptimeSeconds: uptimeMs === null ? null : Math.round(uptimeMs / 1000),
    clockAheadMs: clock?.offsetMs ?? null,
    timeZone,
    failingChecks: problems,
    ...(archive && { archiveLagSeconds: Math.round(archive.lagMs / 1000), archiveLostBytes: archive.lostBytes }),
  };
}

function describeSetting({ key, value, default: usual, changed, source, secret }: SettingEntry) {
  return { key, value: shorten(value), default: shorten(usual), changed, source, ...(secret && { secret }) };
}

function describeDifference({ key, secret, isExpected, values }: ConfigDifference) {
  return {
    key,
    ...(secret && { secret }),
    ...(isExpected && { isExpected }),
    values: values.map(({ value, nodes, isMajority, isSameMeaning, isNotCompared }) => ({
      value: shorten(value),
      nodes: nodes.slice(0, 50),
      nodeCount: nodes.length,
      isMajority,
      ...(isSameMeaning && { isSameMeaning }),
      ...(isNotCompared && { isNotCompared }),
    })),
  };
}

function shorten(value: unknown): unknown {
  return cutValue(value, VALUE_CHARACTERS);
}
