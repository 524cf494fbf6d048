import { checkUserFormats, createZone } from '@porthole/logs';
import { readFormats } from '../settings/format-kind.ts';
import { type CheckContext, type CheckOutcome, ok, problem, warning } from './check-result.ts';

/** The formats from the settings, each against its samples. */
export async function checkLogFormats({ settings, system }: CheckContext): Promise<CheckOutcome[]> {
  const formats = readFormats(settings.log.formats);
  if (formats.length === 0) return [];
  const zone = createZone(settings.node.timeZone);
  const problems = await checkUserFormats(formats, { zone, nowMs: system.nowMs() });
  return formats.flatMap(({ name, samples }) => {
    const label = `log.formats: format "${name}"`;
    if (samples.length === 0)
      return [warning(`${label} has no samples`, 'add lines of the log as samples, with their time and level')];
    const found = problems.get(name) ?? [];
    if (found.length === 0)
      return [ok(`${label} reads its ${samples.length === 1 ? 'sample' : `${samples.length} samples`}`)];
    return found.map((reason) =>
      problem(
        `${label}: ${reason}`,
        'correct its lines, times or levels, or the sample; docs/formats.md explains layouts',
      ),
    );
  });
}
