import { readdirSync, readFileSync } from 'node:fs';

const DIR = new URL('formats/', import.meta.url);

/** One file in some format, with its secrets marked as `unmark` reads them. */
export interface FormatShape {
  format: string;
  /** Its name, by which its format is chosen. */
  path: string;
  name: string;
  marked: string;
}

/** Files of real services, shortened, with made-up values: one after the other, each under a line `#### NAME`. */
export const FORMAT_CORPUS: readonly FormatShape[] = readdirSync(DIR)
  .sort()
  .flatMap((file) => {
    const format = file.replace('.txt', '');
    const shapes = readFileSync(new URL(file, DIR), 'utf8')
      .split(/^#### /m)
      .slice(1);
    return shapes.map((shape) => {
      const end = shape.indexOf('\n');
      const path = shape.slice(0, end);
      return { format, path, name: `${format}: ${path}`, marked: shape.slice(end + 1) };
    });
  });
