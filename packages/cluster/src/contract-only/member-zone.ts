import { createZone, fixedZoneName, type Zone } from '@porthole/logs';

const MINUTE_MS = 60_000;

/** Offsets of zones are multiples of this. */
const QUARTER_MS = 15 * MINUTE_MS;

/** The zones of the world. */
const LEAST_OFFSET_MS = -12 * 60 * MINUTE_MS;
const MOST_OFFSET_MS = 14 * 60 * MINUTE_MS;

/** How long a record may have its time before it is written: loggers buffer, and requests are logged with their start. */
const LATE_MS = 2 * MINUTE_MS;

/** `Date` headers have whole seconds, and the clock of a logger is read a moment later. */
const EARLY_MS = 5000;

/** Files that are written at the same time must agree; what was seen earlier than this may be from before a clock change. */
const AGREE_MS = 10 * MINUTE_MS;

/** The zone in which times without one are read. */
export interface ZoneInUse {
  readonly zone: Zone;
  /** Why it is this one; `assumed`: nothing speaks for it. */
  readonly source: 'set' | 'learned' | 'assumed';
}

/** A time that was written to a file. */
export interface WrittenTime {
  file: string;
  /** Wall-clock ms as if they were UTC. */
  localMs: number;
  /** Between these two, by the clock of the member. */
  fromMs: number;
  toMs: number;
  /** The latest time of all its files. */
  newestLocalMs: number;
}

/**
 * Learns in which zone a member writes its logs: it does not say so, but what it writes now has the time of now. The clock of
 * the member itself is what is compared, so a wrong clock does not matter.
 */
export class MemberZone {
  readonly #assumed: Zone;
  readonly #set: Zone | undefined;
  /** Offsets seen in each file, and when. */
  readonly #seen = new Map<string, { offsetMs: number; atMs: number }>();
  #learned: Zone | undefined;

  /** `set`: by the settings; then nothing is learned. */
  constructor({ assumed, set }: { assumed: Zone; set?: Zone | undefined }) {
    this.#assumed = assumed;
    this.#set = set;
  }

  get inUse(): ZoneInUse {
    if (this.#set) return { zone: this.#set, source: 'set' };
    return this.#learned ? { zone: this.#learned, source: 'learned' } : { zone: this.#assumed, source: 'assumed' };
  }

  /** A file has grown. */
  note(written: WrittenTime): void {
    const offsetMs = findOffset(written);
    if (this.#set || offsetMs === undefined) return;
    const { file, toMs } = written;
    this.#seen.set(file, { offsetMs, atMs: toMs });
    for (const [name, { atMs }] of this.#seen) if (Math.abs(toMs - atMs) > AGREE_MS) this.#seen.delete(name);
    const isAgreed = [...this.#seen.values()].every((seen) => seen.offsetMs === offsetMs);
    this.#learned = isAgreed ? this.#zoneAt(offsetMs, toMs) : undefined;
  }

  /** The zone of this node, which knows clock changes, if it has the same time now. */
  #zoneAt(offsetMs: number, nowMs: number): Zone {
    if (this.#assumed.offsetMsAt(nowMs) === offsetMs) return this.#assumed;
    return this.#learned?.offsetMsAt(nowMs) === offsetMs ? this.#learned : createZone(fixedZoneName(offsetMs));
  }
}

/** The only offset with which the record was written in that time, and none of the others in the future. */
function findOffset({ localMs, fromMs, toMs, newestLocalMs }: WrittenTime): number | undefined {
  const least = Math.ceil((localMs - toMs - EARLY_MS) / QUARTER_MS) * QUARTER_MS;
  const most = Math.floor((localMs - fromMs + LATE_MS) / QUARTER_MS) * QUARTER_MS;
  if (least !== most || least < LEAST_OFFSET_MS || least > MOST_OFFSET_MS) return undefined;
  return newestLocalMs - toMs - EARLY_MS <= least ? least : undefined;
}

/** How the times of a response were read. `isNeeded`: they do not all state their own zone. */
export function zoneText({ zone, source }: ZoneInUse, { isNeeded }: { isNeeded: boolean }): string {
  if (source === 'set') return `times read in the zone ${zone.name}`;
  if (!isNeeded) return 'times read in the zones they state';
  if (source === 'learned') return `times read in the zone ${zone.name} (by the clock of the node)`;
  return `time zone not known: times read in the zone ${zone.name}`;
}
