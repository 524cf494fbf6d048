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
