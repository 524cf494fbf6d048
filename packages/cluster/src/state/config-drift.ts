import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type CallOptions,
  codeOf,
  isDrift,
  type Member,
  type NodeObject,
  type NodeState,
  PortholeError,
  UNKNOWN_ROLE,
} from '@porthole/contract';
import type { MemberDirectory } from '../membership/member-directory.ts';
import { hashText, type ProfileCache } from '../membership/profiles/profile-cache.ts';
import { diffSettings, type MemberSettings } from '../settings/diff-settings.ts';
import { parseSettings, type Settings } from '../settings/fetch-settings.ts';

/** As large as those that are kept of others. */
const MAX_CONFIG_BYTES = 256 * 1024;

/** Keys compared in one go: other work must not wait for thousands of them. */
const KEYS_AT_ONCE = 500;

/** A pause of so many times what comparing took: large ones that change all the time must cost little. */
const PAUSE_TIMES = 100;

/** The pause is at most so many refresh intervals: on a busy machine, everything takes long. */
const MAX_PAUSE_REFRESHES = 10;

export interface DriftCount {
  /** Keys that differ within a role and should not. */
  keys: number;
  /** Members whose configuration was compared with that of another member of their role. */
  members: number;
}

export interface ConfigDriftDeps {
  profiles: Pick<ProfileCache, 'all' | 'get'>;
  directory: Pick<MemberDirectory, 'members'>;
  self: Pick<NodeState, 'config'>;
  /** Fetches the roles of members that are known by address only. Rejects only when it is cancelled. */
  discoverRoles(options: CallOptions): Promise<void>;
  refreshMs: number;
  runningMs?: () => number;
}

/** A configuration that this node has, masked. */
interface KnownConfig {
  id: string;
  role: string;
  node: NodeObject;
  hash: string;
  read(): string | undefined;
}

/**
 * Counts the keys in which members differ, from the configurations this node keeps anyway: its own and those of others. They are compared again only when one of them has changed. Secrets are masked in all of them, so they are not
 * compared.
 */
export class ConfigDrift {
  readonly #deps: ConfigDriftDeps;
  #nextMs = -Infinity;
  #compared = '';
  #count: DriftCount | null = null;

  constructor(deps: ConfigDriftDeps) {
    this.#deps = deps;
  }

  /** `null` until configurations were compared. */
  get count(): DriftCount | null {
    return this.#count;
  }

  /** Compares again if something has changed, at most once in a refresh interval. */
  async update({ signal }: CallOptions = {}): Promise<void> {
    const { runningMs = () => performance.now(), refreshMs } = this.#deps;
    const startMs = runningMs();
    if (startMs < this.#nextMs) return;
    this.#nextMs = startMs + refreshMs;
    await this.#discoverRoles(signal);
    if (signal?.aborted) return;
    const known = await this.#readKnown();
    const compared = JSON.stringify(known);
    if (compared === this.#compared) return;
    const comparedMs = runningMs();
    this.#count = await countDrift(known);
    this.#compared = compared;
    const pauseMs = Math.min(PAUSE_TIMES * (runningMs() - comparedMs), MAX_PAUSE_REFRESHES * refreshMs);
    this.#nextMs = Math.max(this.#nextMs, runningMs() + pauseMs);
  }

  /** Those of a static list that only have the routes of the contract do not say what they are. */
  async #discoverRoles(signal: AbortSignal | undefined): Promise<void> {
    const { profiles, directory, discoverRoles } = this.#deps;
    const kept = new Set(profiles.all().flatMap(({ member, departed }) => (departed ? [] : member.id)));
    if (!directory.members.some(({ id, role }) => role === UNKNOWN_ROLE && kept.has(id))) return;
    await discoverRoles(signal ? { signal } : {}).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    });
  }

  async #readKnown(): Promise<KnownConfig[]> {
    const { profiles, directory } = this.#deps;
    const listed = new Map(directory.members.map((member) => [member.id, member]));
    const own = await this.#readOwn([...listed.values()].find(({ isSelf }) => isSelf));
    const others = profiles.all().flatMap(({ member, departed, configHash }): KnownConfig[] => {
      const { id, role, node } = listed.get(member.id) ?? member;
      // As in a comparison on request: of those that are gone, only what failed counts.
      if (configHash === null || departed?.state === 'left') return [];
      return [{ id, role, node, hash: configHash, read: () => profiles.get(id)?.config?.config }];
    });
    const all = [...own, ...others].filter(({ role }) => role !== UNKNOWN_ROLE);
    return all.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async #readOwn(member: Member | undefined): Promise<KnownConfig[]> {
    if (!member) return [];
    const { id, role, node } = member;
    try {
      const { config } = await this.#deps.self.config();
      if (Buffer.byteLength(config) > MAX_CONFIG_BYTES) return [];
      return [{ id, role, node, hash: hashText(config), read: () => config }];
    } catch (error) {
      if (!(error instanceof PortholeError)) throw error;
      return []; // it is not available: a health check says so
    }
  }
}

async function countDrift(known: readonly KnownConfig[]): Promise<DriftCount> {
  const roles = new Map<string, KnownConfig[]>();
  for (const config of known) roles.set(config.role, [...(roles.get(config.role) ?? []), config]);
  const count = { keys: 0, members: 0 };
  for (const configs of roles.values()) {
    const members = await readMembers(configs);
    if (members.length < 2) continue;
    count.members += members.length;
    // Equal texts have no differences.
    if (new Set(members.map(({ settings }) => settings)).size > 1) count.keys += await countKeys(members);
  }
  return count;
}

/** Those that are TOML. Members with the same text share their settings. */
async function readMembers(configs: readonly KnownConfig[]): Promise<MemberSettings[]> {
  const parsed = new Map<string, Settings | undefined>();
  const members: MemberSettings[] = [];
  for (const { id, node, hash, read } of configs) {
    if (!parsed.has(hash)) {
      parsed.set(hash, await parseText(read()));
      await nextTurn();
    }
    const settings = parsed.get(hash);
    if (settings) members.push({ id, node, settings });
  }
  return members;
}

async function parseText(config: string | undefined): Promise<Settings | undefined> {
  if (config === undefined) return undefined;
  try {
    // It is masked already.
    return await parseSettings({ config }, { mask: (text) => text });
  } catch (error) {
    if (codeOf(error) !== 'BAD_ANSWER') throw error;
    return undefined;
  }
}

/** Each key is compared for itself, so they can be compared in parts. */
async function countKeys(members: readonly MemberSettings[]): Promise<number> {
  const keys = [...new Set(members.flatMap(({ settings }) => [...settings.keys()]))];
  let count = 0;
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    const part = keys.slice(at, at + KEYS_AT_ONCE);
    count += diffSettings(members.map((member) => pickKeys(member, part))).differences.filter(isDrift).length;
    await nextTurn();
  }
  return count;
}

function pickKeys({ settings, ...member }: MemberSettings, keys: readonly string[]): MemberSettings {
  const picked: [string, NonNullable<ReturnType<Settings['get']>>][] = [];
  for (const key of keys) {
    const setting = settings.get(key);
    if (setting) picked.push([key, setting]);
  }
  return { ...member, settings: new Map(picked) };
}
