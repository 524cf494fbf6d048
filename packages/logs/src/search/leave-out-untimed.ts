import type { FileProblem } from '../types.ts';
import { type OpenFamily, releaseFamily } from './open-family.ts';

/** The code of a file that takes part only when it is chosen by its name. Not a failure. */
const LEFT_OUT = 'LEFT_OUT';

/**
 * The family as it takes part in a request for all logs. Those are merged by time: the records of a log without
 * timestamps would all stand before or behind the others. Its files are released, and named among the problems. One of
 * which nothing can be read stays: that it is damaged must not look like a choice.
 */
export function leaveOutUntimed(family: OpenFamily): OpenFamily {
  const { files, problems } = family;
  if (files.some(({ timed, firstMs }) => timed || firstMs !== null)) return family;
  const damaged = files.filter(({ head }) => head.length === 0);
  const untimed = files.filter(({ head }) => head.length > 0);
  const leftOut = untimed.map(({ name, head }): FileProblem => {
    const reason = head.includes(0) ? 'binary' : 'no timestamps';
    return { file: name, code: LEFT_OUT, detail: `${reason}: not part of all logs; choose it by name to read it` };
  });
  releaseFamily({ ...family, files: untimed });
  return { ...family, files: damaged, problems: [...problems, ...leftOut] };
}
