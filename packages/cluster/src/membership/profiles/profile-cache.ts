import { createHash } from 'node:crypto';
import { errorMessage, type Member } from '@porthole/contract';
import { NO_WORK, owned } from '@porthole/logs/shared';
import { type DepartedState, type MemberProfile, serializeProfile } from './member-profile.ts';
import type { ProfileStore } from './profile-store.ts';

/** More is loaded than stored, since only later is it known which members are gone. */
const LOADED_SHARE = 2;

const DEFAULTS = {
  nowMs: () => Date.now(), // clock: ages of what is kept, which outlives the process
  writeMs: 2 * 60_000,
  maxTotalBytes: 64 * 1024 * 1024,
  maxAgeMs: 7 * 24 * 3_600_000,
};

export interface ProfileCacheDeps extends Partial<typeof DEFAULTS> {
  /** `null`: in memory only. */
  store: ProfileStore | null;
  /** Reports profiles that could not be stored or read, for the own log. */
  report(problem: string): void;
  /** Minimum interval between writes per member. */
  writeMs?: number;
  /** Total size; departed members seen longest ago are dropped first. */
  maxTotalBytes?: number;
  /** Retention for members that left or failed. */
  maxAgeMs?: number;
  /** A member is forgotten. */
  onDropped?: ((id: string) => void) | undefined;
}

interface Entry {
  profile: MemberProfile;
  /** The hash of its configuration; `null` without one. */
  configHash: string | null;
  bytes: number;
  writtenMs: number;
  isWritten: boolean;
}

/** Profiles in memory and, if possible, on disk, within their limits. */
export class ProfileCache {
  readonly #deps: ProfileCacheDeps & typeof DEFAULTS;
  readonly #entries = new Map<string, Entry>();
  /** Serializes writes. */
  #writing = NO_WORK;
  #problem: string | null = null;

  constructor(deps: ProfileCacheDeps) {
    this.#deps = { ...DEFAULTS, ...deps };
  }

  get maxTotalBytes(): number {
    return this.#deps.maxTotalBytes;
  }

  /** Why profiles are in memory only; `null` if there is no problem. */
  get problem(): string | null {
    return this.#problem;
  }

  get(id: string): MemberProfile | undefined {
    return this.#entries.get(id)?.profile;
  }

  /** When it was last seen. */
  asOfMs(id: string): number | undefined {
    return this.get(id)?.asOfMs;
  }

  /** Whether nothing of the member is stored but that it was there. */
  isEmpty(id: string): boolean {
    return countParts(this.get(id)) === 0;
  }

  getDeparted(id: string): DepartedState | null | undefined {
    return this.get(id)?.departed;
  }

  /** Members with a profile, unordered. */
  all(): readonly (Pick<MemberProfile, 'member' | 'asOfMs' | 'departed'> & Pick<Entry, 'configHash'>)[] {
    return Array.from(this.#entries.values(), ({ profile, configHash }) => ({ ...profile, configHash }));
  }

  /** Profiles of members that left or failed within the retention, ordered by id. */
  departed(): MemberProfile[] {
    const oldestMs = this.#deps.nowMs() - this.#deps.maxAgeMs;
    return this.#departed()
      .map(({ profile }) => profile)
      .filter((profile) => departedMs(profile) >= oldestMs)
      .sort((a, b) => (a.member.id < b.member.id ? -1 : 1));
  }

  /** Marks a member as departed, even without a profile: it must stay listed. */
  depart(member: Member, departed: DepartedState, seenMs?: number): void {
    const { nowMs } = this.#deps;
    const unknown = { asOfMs: seenMs ?? nowMs(), clock: null, config: null, files: null };
    this.#replace({ ...unknown, ...this.get(member.id), member: { ...member, isSelf: false }, departed });
  }

  /** The member is registered again. */
  rejoin(id: string): void {
    if (!this.getDeparted(id)) return;
    const known = this.get(id);
    if (known) this.#replace({ ...known, departed: null });
  }

  /** Returns whether there was a profile. */
  drop(id: string): boolean {
    if (!this.#entries.delete(id)) return false;
    this.#deps.onDropped?.(id);
    this.#onDisk({ act: (store) => store.remove(id) });
    return true;
  }

  /** Loads the profiles of earlier runs. Never throws; problems are reported. */
  async load(): Promise<void> {
    const { store, maxTotalBytes, nowMs, report } = this.#deps;
    if (store === null) return;
    try {
      const { profiles: all, skipped } = await store.load({ maxBytes: maxTotalBytes * LOADED_SHARE });
      for (const problem of skipped) report(`cannot read what is known of a member: ${problem}`);
      for (const profile of all) {
        // A timestamp in the future means that the clock was set back: it would never expire.
        const { departed } = profile;
        const loaded = {
          ...profile,
          asOfMs: Math.min(profile.asOfMs, nowMs()),
          departed: departed && { ...departed, sinceMs: Math.min(departed.sinceMs, nowMs()) },
        };
        this.#entries.set(profile.member.id, { ...toEntry(loaded), writtenMs: nowMs(), isWritten: true });
      }
    } catch (error) {
      this.#setProblem(error);
    }
  }

  put(profile: MemberProfile): void {
    const { nowMs, writeMs } = this.#deps;
    const known = this.#entries.get(profile.member.id);
    // The last run of a member must be on disk: its departure counts for that run only.
    const isSameRun = known?.profile.member.node.onlineTime === profile.member.node.onlineTime;
    // Parts missing from the first write do not wait for the next one, minutes later.
    const isFuller = countParts(profile) > countParts(known?.profile);
    const writtenMs = (isSameRun && !isFuller && known?.writtenMs) || -Infinity;
    const entry = { ...toEntry(profile), writtenMs, isWritten: false };
    this.#entries.set(profile.member.id, entry);
    // Also if the clock was set back.
    if (Math.abs(nowMs() - writtenMs) >= writeMs) this.#write(entry);
  }

  /** Writes the profile of a member if it has changed: it may be its last. */
  settle(id: string): void {
    const entry = this.#entries.get(id);
    if (entry) this.#write(entry);
  }

  /** Drops expired profiles, then those that departed first while the total is too large. */
  expire(): void {
    const { nowMs, maxAgeMs, maxTotalBytes } = this.#deps;
    let total = [...this.#entries.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { profile, bytes } of this.#departed().sort((a, b) => departedMs(a.profile) - departedMs(b.profile))) {
      if (departedMs(profile) >= nowMs() - maxAgeMs && total <= maxTotalBytes) return;
      total -= bytes;
      this.drop(profile.member.id);
    }
  }

  /** Resolves when all writes are done. */
  async written(): Promise<void> {
    await this.#writing;
  }

  /** Writes all pending profiles. */
  async flush(): Promise<void> {
    for (const entry of this.#entries.values()) this.#write(entry);
    await this.#writing;
  }

  #departed(): Entry[] {
    return [...this.#entries.values()].filter(({ profile }) => profile.departed !== null);
  }

  #replace(profile: MemberProfile): void {
    const entry = { ...toEntry(profile), writtenMs: -Infinity, isWritten: false };
    this.#entries.set(profile.member.id, entry);
    this.#write(entry);
  }

  #write(entry: Entry): void {
    if (entry.isWritten) return;
    entry.isWritten = true;
    entry.writtenMs = this.#deps.nowMs();
    const onFailure = () => {
      entry.isWritten = false;
    };
    this.#onDisk({ act: (store) => store.save(entry.profile), onFailure });
  }

  #onDisk({ act, onFailure }: { act(store: ProfileStore): Promise<void>; onFailure?: () => void }): void {
    const { store } = this.#deps;
    if (store === null) return;
    const write = async () => {
      await act(store);
      this.#problem = null;
    };
    this.#writing = owned(this.#writing.then(write), (error) => {
      onFailure?.();
      this.#setProblem(error);
    });
  }

  #setProblem(error: unknown): void {
    const problem = `cannot store what is known of members, keeping it in memory only: ${errorMessage(error)}`;
    // Reported once, not for every member and round.
    if (this.#problem === null) this.#deps.report(problem);
    this.#problem = problem;
  }
}

/** When it departed, or was seen later. */
function departedMs({ asOfMs, departed }: MemberProfile): number {
  return Math.max(asOfMs, departed?.sinceMs ?? -Infinity);
}

function toEntry(profile: MemberProfile): Pick<Entry, 'profile' | 'configHash' | 'bytes'> {
  const { config } = profile;
  const bytes = Buffer.byteLength(serializeProfile(profile));
  return { profile, configHash: config && hashText(config.config), bytes };
}

export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/** How many of configuration and files it has. */
function countParts({ config = null, files = null }: Partial<MemberProfile> = {}): number {
  return [config, files].filter((part) => part !== null).length;
}
