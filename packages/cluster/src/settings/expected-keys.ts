import type { NodeObject, SettingJson } from '@porthole/contract';
import { escapeRegex } from '@porthole/logs/query';

interface ExpectedRow {
  /** Final words of the last part of the key. */
  ends: readonly string[];
  why: string;
}

/**
 * Keys whose values are expected to differ between nodes, by the final words of their last part. Singular only: `endpoints`,
 * `peers` or `allowed-hosts` list other nodes and should be the same everywhere.
 */
export const EXPECTED_KEYS: readonly ExpectedRow[] = [
  { ends: ['host', 'hostname'], why: 'each machine has its own name' },
  { ends: ['ip', 'addr', 'address', 'interface', 'nic'], why: 'each machine has its own address' },
  { ends: ['bind', 'listen', 'advertise', 'advertised'], why: 'each member binds or advertises its own address' },
  { ends: ['port'], why: 'nodes that share a machine share no port' },
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
  },
  { ends: ['file', 'cert', 'socket'], why: 'a path too' },
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

const EXPECTED_WORDS: ReadonlySet<string> = new Set(EXPECTED_KEYS.flatMap(({ ends }) => ends));

/** Shorter names occur in other words by chance. */
const MIN_OWN_NAME = 4;

/** Whether a key is expected to differ by its name: addresses, names, ports, paths. */
export function isExpectedKey(key: string): boolean {
  const words = splitWords(lastSegment(key));
  const last = words.at(-1);
  if (last === undefined || !EXPECTED_WORDS.has(last)) return false;
  return (
    !SHARED_NAMES.includes(words.slice(-2).join(' ')) && !SHARED_NAMES.includes(splitWords(key).slice(-2).join(' '))
  );
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
