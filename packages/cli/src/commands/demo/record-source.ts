import type { SeededRandom } from './seeded-random.ts';

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
