import {
  type ConfigDifference,
  type ConfigValue,
  canonicalValue,
  type NodeObject,
  type SettingJson,
} from '@porthole/contract';
import { isExpectedKey, withoutOwnNames } from './expected-keys.ts';

/** Shown instead of a secret. */
export const MASK = '******';

/** Versions are compared as text: `1.10` is not `1.1`. */
const VERSION_KEY = /version"?$/i;

/** A setting as reported by a member. */
export interface MemberSetting {
  value: SettingJson;
  secret: boolean;
  /** Fingerprint of the masked value; absent if the member has none. */
  fingerprint?: string;
}

export interface MemberSettings {
  id: string;
  node: NodeObject;
  settings: ReadonlyMap<string, MemberSetting>;
}

export interface SettingsDiff {
  comparedKeys: number;
  /** Secrets without a fingerprint from every member. They are also listed as differences if the others differ. */
  notCompared: string[];
  /** The members without one, by such a key. */
  withoutFingerprint: Record<string, string[]>;
  /** By key. */
  differences: ConfigDifference[];
}

/** Members that share their settings. */
type Sharing = [MemberSettings, ...MemberSettings[]];

/** Their value; `value` is safe to show. */
interface Cell {
  members: Sharing;
  value: SettingJson | null;
  fingerprint: string | undefined;
  isMasked: boolean;
}

/** Differences per key. Independent of the order of the members. Those that share their settings are compared once. */
export function diffSettings(members: readonly MemberSettings[]): SettingsDiff {
  const diff: SettingsDiff = { comparedKeys: 0, notCompared: [], withoutFingerprint: {}, differences: [] };
  if (members.length < 2) return diff;
  const blind = new Map<string, string[]>();
  const sharing = new Map<MemberSettings['settings'], Sharing>();
  const keys = new Set<string>();
  for (const member of members.toSorted((a, b) => compareText(a.id, b.id))) {
    const same = sharing.get(member.settings);
    if (same) same.push(member);
    else {
      sharing.set(member.settings, [member]);
      for (const key of member.settings.keys()) keys.add(key);
    }
  }
  const all = [...sharing.values()];
  for (const key of [...keys].sort()) {
    const secret = all.some(([{ settings }]) => settings.get(key)?.secret === true);
    const cells = all.map((same) => toCell(same, key, secret));
    const masked = cells.filter(({ isMasked }) => isMasked);
    const without = masked.filter(({ fingerprint }) => fingerprint === undefined).flatMap(idsOf);
    if (without.length > 0 && masked.flatMap(idsOf).length > 1) blind.set(key, without.sort(compareText));
    else diff.comparedKeys++;
    const values = groupValues(cells, { isVerbatim: VERSION_KEY.test(key) });
    const known = values.filter(({ isNotCompared }) => !isNotCompared);
    if (known.length > 1) diff.differences.push({ key, secret, isExpected: isExpected(key, cells), values });
  }
  return { ...diff, notCompared: [...blind.keys()], withoutFingerprint: Object.fromEntries(blind) };
}

/** A value is masked if any member considers it secret. */
function toCell(members: Sharing, key: string, secret: boolean): Cell {
  const setting = members[0].settings.get(key);
  if (setting === undefined) return { members, value: null, fingerprint: undefined, isMasked: false };
  const value = secret && !isEmpty(setting.value) && !holdsMask(setting.value) ? MASK : setting.value;
  return { members, value, fingerprint: setting.fingerprint, isMasked: holdsMask(value) };
}

function idsOf({ members }: Cell): string[] {
  return members.map(({ id }) => id);
}

interface ValueGroup {
  shown: SettingJson | null;
  meaning: string;
  nodes: string[];
  /** Masked, and shown like values of which the fingerprint is known: it may be any of them, or another. */
  isNotCompared: boolean;
}

function groupValues(cells: readonly Cell[], how: { isVerbatim: boolean }): ConfigValue[] {
  const groups = new Map<string, ValueGroup>();
  // Most values are plain texts and numbers that many members have: those are found without writing them again.
  const plain = new Map<SettingJson | null, ValueGroup>();
  const known = new Set(cells.flatMap(({ value, fingerprint }) => (fingerprint === undefined ? [] : writeJson(value))));
  for (const cell of cells) {
    const { value, fingerprint, isMasked } = cell;
    const isPlain = typeof value !== 'object' && !isMasked;
    let group = isPlain ? plain.get(value) : undefined;
    if (group === undefined) {
      const shown = isMasked && value !== null ? withFingerprint(value, fingerprint) : value;
      const spelling = writeJson(shown);
      const meaning = shown === null || isMasked || how.isVerbatim ? `as it is ${spelling}` : canonicalValue(shown);
      const isNotCompared = isMasked && fingerprint === undefined && known.has(spelling);
      group = groups.get(spelling) ?? { shown, meaning, nodes: [], isNotCompared };
      groups.set(spelling, group);
      if (isPlain) plain.set(value, group);
    }
    for (const { id } of cell.members) group.nodes.push(id);
  }
  const all = [...groups.values()];
  for (const { nodes } of all) nodes.sort(compareText);
  const [majority, ...others] = rankGroups(all.filter((group) => !group.isNotCompared));
  if (majority === undefined) return [];
  const toGroup = ({ shown, nodes }: ValueGroup) => ({ value: shown, nodes, isMajority: false, isSameMeaning: false });
  return [
    { ...toGroup(majority), isMajority: true },
    ...others.map((group) => ({ ...toGroup(group), isSameMeaning: group.meaning === majority.meaning })),
    ...all.filter((group) => group.isNotCompared).map((group) => ({ ...toGroup(group), isNotCompared: true as const })),
  ];
}

/** Sorted by frequency of the meaning, then of the spelling, then by smallest id. */
function rankGroups(groups: readonly ValueGroup[]): ValueGroup[] {
  const byMeaning = new Map<string, ValueGroup[]>();
  for (const group of groups) byMeaning.set(group.meaning, [...(byMeaning.get(group.meaning) ?? []), group]);
  const weigh = (all: readonly ValueGroup[]) => ({
    count: all.reduce((sum, { nodes }) => sum + nodes.length, 0),
    first: all.map(({ nodes }) => nodes[0] ?? '').sort()[0] ?? '',
  });
  const compare = (a: readonly ValueGroup[], b: readonly ValueGroup[]) => {
    const [left, right] = [weigh(a), weigh(b)];
    return right.count - left.count || compareText(left.first, right.first);
  };
  return [...byMeaning.values()].sort(compare).flatMap((spellings) => spellings.sort((a, b) => compare([a], [b])));
}

/** Expected by key, or because the values differ only in the name or address of the node. Missing keys and booleans are never expected to differ. */
function isExpected(key: string, cells: readonly Cell[]): boolean {
  if (cells.some(({ value, isMasked }) => value === null || isMasked || typeof value === 'boolean')) return false;
  const values = cells.flatMap(({ value, members }) => members.map(({ node }) => withoutOwnNames(value ?? '', node)));
  return new Set(values).size === 1 || isExpectedKey(key, values);
}

function withFingerprint(value: SettingJson, fingerprint: string | undefined): SettingJson {
  if (fingerprint === undefined) return value;
  return `${typeof value === 'string' ? value : JSON.stringify(value)} (fingerprint ${fingerprint})`;
}

export function holdsMask(value: SettingJson): boolean {
  if (typeof value === 'string') return value.includes(MASK);
  return typeof value === 'object' && Object.values(value).some(holdsMask);
}

/** An empty secret is shown: it means that none is set. */
function isEmpty(value: SettingJson): boolean {
  return value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

function writeJson(value: SettingJson | null): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  const fields = Object.entries(value).sort(([a], [b]) => compareText(a, b));
  return `{${fields.map(([name, inner]) => `${JSON.stringify(name)}:${writeJson(inner)}`).join(',')}}`;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
