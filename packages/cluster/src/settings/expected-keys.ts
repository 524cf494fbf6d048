import type { NodeObject, SettingJson } from '@porthole/contract';
import { escapeRegex } from '@porthole/logs/query';

interface ExpectedRow {
  /** Final words of the last part of the key. */
  ends: readonly string[];
  why: string;
  /** Machines set up alike have the same value: one that differs from what most have is worth a look. */
  isMostlyShared?: true;
}

/**
 * Keys whose values are expected to differ between nodes, by the final words of their last part. Singular only: `endpoints`,
 * `peers` or `allowed-hosts` list other nodes and should be the same everywhere.
 */
export const EXPECTED_KEYS: readonly ExpectedRow[] = [
  { ends: ['host', 'hostname'], why: 'each machine has its own name' },
  { ends: ['ip', 'addr', 'address', 'interface', 'nic'], why: 'each machine has its own address' },
  { ends: ['bind', 'listen', 'advertise', 'advertised'], why: 'each member binds or advertises its own address' },
  { ends: ['port'], why: 'nodes that share a machine share no port', isMostlyShared: true },
  { ends: ['url', 'uri', 'endpoint', 'origin'], why: 'holds an address, mostly its own' },
  {
    ends: ['id', 'uuid', 'guid', 'indicator', 'ordinal'],
    why: 'identifies the member; LinDB storage calls it indicator',
  },
  { ends: ['name', 'alias', 'label', 'labels', 'instance'], why: 'what people call it' },
  { ends: ['rack', 'zone', 'region', 'datacenter', 'az'], why: 'where it stands' },
  {
    ends: ['dir', 'directory', 'path', 'folder', 'root', 'mount'],
    why: 'disks are mounted where each machine has them',
    isMostlyShared: true,
  },
  { ends: ['file', 'cert', 'socket'], why: 'a path too', isMostlyShared: true },
];

/** Names with these endings that all nodes share. */
const SHARED_NAMES: readonly string[] = [
  'cluster name',
  'cluster id',
  'database name',
  'db name',
  'user name',
  'service name',
  'role name',
  'time zone',
  'client id',
  'metrics path',
  'base path',
];

const ROW_BY_WORD: ReadonlyMap<string, ExpectedRow> = new Map(
  EXPECTED_KEYS.flatMap((row) => row.ends.map((word) => [word, row] as const)),
);

/** Below this, no value is what most nodes have. */
const MIN_COMPARED = 3;

/** Shorter names occur in other words by chance. */
const MIN_OWN_NAME = 4;

/**
 * Whether the values of a key are expected to differ, by its name: addresses, names, ports, paths. Ports and paths are
 * not if most nodes have the same one.
 */
export function isExpectedKey(key: string, values: readonly string[]): boolean {
  const words = splitWords(lastSegment(key));
  const row = ROW_BY_WORD.get(words.at(-1) ?? '');
  if (row === undefined) return false;
  if (SHARED_NAMES.includes(words.slice(-2).join(' ')) || SHARED_NAMES.includes(splitWords(key).slice(-2).join(' ')))
    return false;
  return row.isMostlyShared !== true || !hasMajority(values);
}

function hasMajority(values: readonly string[]): boolean {
  if (values.length < MIN_COMPARED) return false;
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return Math.max(...counts.values()) * 2 > values.length;
}

/** Removes the host name and address of the node: the rest should be the same everywhere. */
export function withoutOwnNames(value: SettingJson, { hostIp, hostName }: NodeObject): string {
  let text = JSON.stringify(value);
  for (const [name, stand] of [
    [hostName, '{host name}'],
    [hostIp, '{host ip}'],
  ] as const) {
    if (name.length < MIN_OWN_NAME) continue;
    text = text.replace(new RegExp(`(?<![\\w.-])${escapeRegex(name)}(?![\\w.-])`, 'g'), stand);
  }
  return text;
}

function lastSegment(key: string): string {
  return /(?:^|\.)("(?:[^"\\]|\\.)*"|[^."]*)(?:\[\d+\])*$/.exec(key)?.[1] ?? key;
}

function splitWords(name: string): string[] {
  return name
    .split(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}
