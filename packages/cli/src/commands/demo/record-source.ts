import type { SeededRandom } from './seeded-random.ts';

/** The moment a record is written, as logs write it. */
export interface RecordTime {
  /** `2026-11-15 07:20:33.123` on the wall clock of this machine. */
  local: string;
  /** RFC 3339 in UTC. */
  utc: string;
}

/** Writes the next record of one log: its lines, with the last line feed. */
export type RecordSource = (time: RecordTime) => string;

/** How one made-up node is unlike the others. */
export interface Mood {
  /** How often trouble begins, per record that is none; each brings several errors. */
  trouble: number;
}

export type CreateRecordSource = (random: SeededRandom, mood: Mood) => RecordSource;
