import {
  type ClusterFollowItem,
  type ClusterRecord,
  encodeClusterFollow,
  encodeFollowPositions,
  type MemberSelection,
} from '@porthole/contract';
import type { FollowQuery } from '@porthole/logs/types';
import type { Clock } from '../clock.ts';
import type { FollowPosition } from '../follow.ts';

/**
 * It goes on so much before the newest record that was told: others may have been on their way from slower members.
 * More than a node waits to put records in order, and than following a file may lag.
 */
const MARGIN_MS = 5000;

/** Records of which it is remembered that they were told, at least: a margin of some thousand records per second. */
const MAX_REMEMBERED = 10_000;

/** What positions may take of a URL, for nodes that take no parameters in a body. Beyond it, a follow continues by time. */
const SHORT_POSITIONS_CHARACTERS = 6 * 1024;

/** Members whose position is remembered: as many as a cluster can have. */
const MAX_MEMBERS = 10_000;

/** Files of a member whose position is remembered; a log has one that is written. */
const MAX_FILES = 64;

/**
 * Where the follow of a cluster has come to. It continues behind the last record of each log of each member, whatever
 * their clocks said; in a cluster too large for that, by time. What came before is dropped.
 */
export class ClusterFollowPosition implements FollowPosition<ClusterFollowItem> {
  readonly #query: FollowQuery & MemberSelection;
  readonly #clock: Clock;
  /** The newest that were told, and those before them. */
  #delivered = new Set<string>();
  #deliveredBefore = new Set<string>();
  /** The last cursor of each file, by member. */
  readonly #positions = new Map<string, Map<string, string>>();
  #beganMs: number | undefined;
  #newestMs: number | undefined;
  #wasQuiet = false;
  #maxCharacters = Number.POSITIVE_INFINITY;

  constructor(query: FollowQuery & MemberSelection, clock: Clock) {
    this.#query = query;
    this.#clock = clock;
  }

  started(atMs: number): void {
    this.#beganMs ??= atMs;
  }

  track(items: ClusterFollowItem[], { heartbeat }: { heartbeat: boolean }): ClusterFollowItem[] {
    this.#wasQuiet ||= heartbeat;
    const nowMs = this.#clock.now();
    return items.filter((item) => {
      if (item.type !== 'record') return true;
      // A time that is still to come would skip all that is written until then.
      const atMs = Math.min(item.atMs ?? -Infinity, nowMs);
      if (item.atMs !== undefined) this.#newestMs = Math.max(this.#newestMs ?? atMs, atMs);
      const isNew = this.#isNew(`${item.node} ${item.cursor}`, item.unfinished);
      if (isNew) this.#keepPosition(item);
      return isNew;
    });
  }

  shorten(): void {
    this.#maxCharacters = SHORT_POSITIONS_CHARACTERS;
  }

  /** Continues by time; what a member lacks it reports itself. */
  forget(): ClusterFollowItem[] {
    this.#positions.clear();
    return [];
  }

  request(nowMs: number): { query: URLSearchParams } {
    const { start } = this.#query;
    // What it goes back to comes first of all: where it has not come, nothing has been told.
    const isBack = start !== 'end' && !('back' in start && this.#wasQuiet);
    if (this.#beganMs === undefined || (this.#newestMs === undefined && isBack))
      return { query: encodeClusterFollow(this.#query) };
    const query = encodeClusterFollow({ ...this.#query, start: 'end' });
    const positions = this.#encodedPositions();
    if (positions !== undefined) query.set('positions', positions);
    query.set('time', positions === undefined ? this.#since(nowMs) : this.#sinceBegan(nowMs));
    return { query };
  }

  #keepPosition({ node, file, cursor, unfinished }: ClusterRecord): void {
    // Behind an unfinished line its rest would be lost: it comes once more, whole.
    if (unfinished || cursor === '') return;
    const files = this.#positions.get(node) ?? new Map<string, string>();
    this.#positions.set(node, files);
    if (this.#positions.size > MAX_MEMBERS) this.#positions.delete(this.#positions.keys().next().value ?? '');
    files.delete(file);
    files.set(file, cursor);
    const [oldest = file] = files.keys();
    if (files.size > MAX_FILES) files.delete(oldest);
  }

  #encodedPositions(): string | undefined {
    if (this.#positions.size === 0) return undefined;
    const members = new Map([...this.#positions].map(([id, files]) => [id, [...files.values()].join('~')]));
    const text = encodeFollowPositions(members);
    return text.length > this.#maxCharacters ? undefined : text;
  }

  #since(nowMs: number): string {
    if (this.#newestMs !== undefined) return String(Math.ceil(this.#newestMs) - MARGIN_MS);
    return this.#sinceBegan(nowMs);
  }

  /** For what nothing came of yet. As a time ago: the node's clock may be another one. */
  #sinceBegan(nowMs: number): string {
    return `${Math.max(0, Math.round(nowMs - (this.#beganMs ?? nowMs))) + MARGIN_MS}ms`;
  }

  /** The rest of an unfinished line may be forgotten by then: it is told once more, whole. */
  #isNew(key: string, unfinished = false): boolean {
    if (this.#delivered.has(key) || this.#deliveredBefore.has(key)) return false;
    if (unfinished) return true;
    this.#delivered.add(key);
    // All at once: a set of which the first is taken out again and again gets slower and slower.
    if (this.#delivered.size >= MAX_REMEMBERED) [this.#deliveredBefore, this.#delivered] = [this.#delivered, new Set()];
    return true;
  }
}
