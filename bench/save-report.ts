import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from './context.ts';
import { machineSlug } from './machine.ts';
import { type Report, renderReport } from './report.ts';

/** Writes the report under a name that is not taken; gives the path within the checkout. */
export function saveReport(report: Report): string {
  const dir = join(ROOT, 'bench', 'results');
  const name = `${report.date.toISOString().slice(0, 10)}-${machineSlug(report.machine)}`;
  mkdirSync(dir, { recursive: true });
  let path = join(dir, `${name}.md`);
  for (let number = 2; existsSync(path); number++) path = join(dir, `${name}-${number}.md`);
  writeFileSync(path, renderReport(report));
  return relative(ROOT, path);
}
