import { setImmediate as nextTurn } from 'node:timers/promises';
import { LogError } from '../log-error.ts';
import { nearestNames } from '../nearest-names.ts';
import { familySource, formatLogSource, type LogSource } from '../query/log-sources.ts';
import { isCompressedName } from './compression.ts';
import { parseRotatedName, ROTATION_STYLES, type RotatedName } from './rotated-name.ts';

/** Names grouped before yielding: a few milliseconds of work. */
const NAMES_PER_STEP = 4000;

/** One log: the live file and its rotated files. */
export interface Family {
  /**
   * Name of the live file, or the name it would have. With a link to the live file (glog): the common part of the
   * names.
   */
  name: string;
  /**
   * Oldest first as far as the names show; the live file, if there is one, is last. While a file is being compressed
   * both forms exist side by side: `app.log.1`, `app.log.1.gz`. Their text is the same.
   */
  files: FamilyFile[];
}

export interface FamilyFile {
  name: string;
  /** At most one file of a family is live, and never a compressed one. */
  state: 'live' | 'rotated';
  compressed: boolean;
}

/**
 * A file and what its name encodes; `undefined` for the file that has the family's name, and for a link to the live
 * file.
 */
interface Member {
  name: string;
  rotated: RotatedName | undefined;
}

/**
 * Groups names into families, by the names alone. Each name is in exactly one family; families are sorted by name (code
 * units), and the order of `names` does not matter.
 *
 * The live file is the one with the family's name. If there is none, it is the newest file if some writers write
 * directly to files with such names (`app-2026-11-15.log`, `app.3.log`); names that only a rotator produces
 * (`app.log.1`, `app.log-20261115`, lumberjack's milliseconds) and compressed files are never live.
 */
export function groupFamilies(names: readonly string[]): Family[] {
  const steps = groupInSteps(names);
  for (;;) {
    const step = steps.next();
    if (step.done) return allFamilies(step.value);
  }
}

/** The same for the names of a whole directory, yielding to other work in between. */
export async function groupManyFamilies(names: readonly string[]): Promise<Family[]> {
  return allFamilies(await groupInTurns(names));
}

/** Only families with more than a live file, in no particular order: of 100,000 files the others are most. */
export async function groupRotatedFamilies(names: readonly string[]): Promise<Family[]> {
  return Array.from((await groupInTurns(names)).groups, toFamily);
}

interface Grouped {
  /** Every log that has a rotated or compressed file. */
  groups: Map<string, Member[]>;
  /** Logs that consist of a live file only. */
  lone: string[];
}

function allFamilies({ groups, lone }: Grouped): Family[] {
  const families = lone.map((name): Family => ({ name, files: [{ name, state: 'live', compressed: false }] }));
  for (const group of groups) families.push(toFamily(group));
  return families.sort((a, b) => compareText(a.name, b.name));
}

async function groupInTurns(names: readonly string[]): Promise<Grouped> {
  const steps = groupInSteps(names);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}

/** Yields after every few milliseconds of work. */
function* groupInSteps(names: readonly string[]): Generator<void, Grouped> {
  const present = new Set(names);
  const groups = new Map<string, Member[]>();
  const live: string[] = [];
  let left = NAMES_PER_STEP;
  for (const name of present) {
    if (left-- === 0) {
      yield;
      left = NAMES_PER_STEP;
    }
    const rotated = parsePath(name, present);
    if (!rotated && !isCompressedName(name)) {
      live.push(name);
      continue;
    }
    const family = rotated?.family ?? name;
    const members = groups.get(family);
    if (members) members.push({ name, rotated });
    else groups.set(family, [{ name, rotated }]);
  }
  if (present.size > NAMES_PER_STEP) yield;
  const lone = live.filter((name) => groups.get(name)?.push({ name, rotated: undefined }) === undefined);
  for (const members of groups.values()) if (members.length > 1) members.sort(compareMembers);
  return { groups, lone: adoptLinks(groups, lone) };
}

/** A rotated file is in the directory of its log. */
function parsePath(path: string, present: ReadonlySet<string>): RotatedName | undefined {
  const end = path.lastIndexOf('/') + 1;
  if (end === 0) return parseRotatedName(path, present);
  const dir = path.slice(0, end);
  const rotated = parseRotatedName(path.slice(end), { has: (name) => present.has(dir + name) });
  if (!rotated) return undefined;
  const { family, link } = rotated;
  return { ...rotated, family: dir + family, ...(link !== undefined && { link: dir + link }) };
}

/**
 * Appends glog's `program.INFO` to the family it links to, so that its target is not listed as a separate log. Every
 * process that starts redirects the link to itself: it belongs to the family with the newest file. Returns the other
 * names.
 */
function adoptLinks(groups: ReadonlyMap<string, Member[]>, lone: string[]): string[] {
  const targets = new Map<string, { newest: Member; members: Member[] }>();
  for (const members of groups.values()) {
    const newest = members.at(-1);
    const link = newest?.rotated?.link;
    if (!newest || link === undefined) continue;
    const rival = targets.get(link);
    if (!rival || compareMembers(rival.newest, newest) < 0) targets.set(link, { newest, members });
  }
  if (targets.size === 0) return lone;
  // With rotated files of its own it is not a link.
  return lone.filter((name) => targets.get(name)?.members.push({ name, rotated: undefined }) === undefined);
}

function toFamily([name, members]: readonly [string, readonly Member[]]): Family {
  return { name, files: toFiles(members) };
}

function toFiles(members: readonly Member[]): FamilyFile[] {
  return members.map(({ name, rotated }, index) => {
    const compressed = rotated?.compressed ?? isCompressedName(name);
    const canBeLive = rotated?.canBeLive ?? !compressed;
    return { name, state: canBeLive && index === members.length - 1 ? 'live' : 'rotated', compressed };
  });
}

function compareMembers(a: Member, b: Member): number {
  if (!a.rotated || !b.rotated) return Number(!a.rotated) - Number(!b.rotated);
  return (
    ROTATION_STYLES.indexOf(a.rotated.style) - ROTATION_STYLES.indexOf(b.rotated.style) ||
    compareRanks(a.rotated.rank, b.rotated.rank) ||
    compareText(a.name, b.name)
  );
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? -1) - (b[index] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Nothing has this name, or matches this pattern. */
export function sourceNotFound({ node, kind, name }: LogSource, families: readonly string[]): LogError {
  if (node !== '') return familyNotFound(formatLogSource({ node, kind, name }), families);
  if (kind === 'family') return familyNotFound(name, families);
  return new LogError('LOG_FILE_NOT_FOUND', `no log file named ${JSON.stringify(name)}`);
}

/** Includes the names that may have been meant, as a request has to write them. */
function familyNotFound(wanted: string, families: readonly string[]): LogError {
  const near = nearestNames(wanted, families).map((name) => JSON.stringify(familySource(name)));
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
  return new LogError('LOG_FAMILY_NOT_FOUND', `no log family named ${JSON.stringify(wanted)}${hint}`);
}
