import { readdirSync, readFileSync } from 'node:fs';

const DIR = new URL('unread/', import.meta.url);

/** A configuration of a program whose format has no reader. Each secret in it contains `S3CR3T`. */
export interface UnreadShape {
  path: string;
  text: string;
}

/**
 * Shapes of real configurations, written by hand from the documentation of their programs: one after the other, each under
 * a line `#### NAME`. What contains `keep` is no secret, and must be shown.
 */
export const UNREAD_CORPUS: readonly UnreadShape[] = readdirSync(DIR).flatMap((file) =>
  readFileSync(new URL(file, DIR), 'utf8')
    .split(/^#### /m)
    .slice(1)
    .map((shape) => {
      const end = shape.indexOf('\n');
      return { path: shape.slice(0, end), text: shape.slice(end + 1) };
    }),
);
