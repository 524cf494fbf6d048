/** The timestamp of a record in the formats logs use. */
export interface RecordTime {
  /** `2026-11-15 07:20:33.123` on the wall clock of this machine. */
  local: string;
  /** RFC 3339 in UTC. */
  utc: string;
}

/** Returns the next record of one log: its lines, each with a newline. */
export type RecordSource = (time: RecordTime) => string;

/** How a demo node differs from the others. */
export interface Mood {
  /** Probability per record that a burst of errors begins. */
  trouble: number;
}

export type CreateRecordSource = (random: SeededRandom, mood: Mood) => RecordSource;

/** Names that occur in several logs, so that one incident can be followed through them. */
export const STORAGES = ['10.8.0.31:2891', '10.8.0.32:2891', '10.8.0.33:2891'] as const;

export const CLIENTS = ['10.8.0.5', '10.8.0.9', '10.8.1.14', '10.8.1.77'] as const;

export const DATABASES = ['shop', 'billing', 'sensors', '_internal'] as const;

export const METRICS = ['cpu.load', 'orders.total', 'http.requests', 'room.temperature', 'disk.used'] as const;

/** A deterministic generator: the same seed gives the same numbers. */
export interface SeededRandom {
  /** In [0, 1). */
  next(): number;
  /** A whole number, both bounds included. */
  between(least: number, most: number): number;
  isLikely(probability: number): boolean;
  pick<T>(choices: readonly [T, ...T[]]): T;
}

/** Mulberry32: 32 bits of state are plenty for sample logs. */
export function createRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    isLikely: (probability) => next() < probability,
    pick: (choices) => choices[between(0, choices.length - 1)] ?? choices[0],
  };
}
