import type { FileProblem } from '../types.ts';
import { type OpenFamily, releaseFamily } from './open-family.ts';

/** The code of a file that takes part only when it is chosen by its name. Not a failure. */
const LEFT_OUT = 'LEFT_OUT';

/**
 * The family as it takes part in a request for all logs. Those are merged by time: the records of a log without
 * timestamps would all stand before or behind the others. Its files are released, and named among the problems.
 */
export function leaveOutUntimed(family: OpenFamily): OpenFamily {
  const { files, problems } = family;
  if (files.length === 0 || files.some(({ timed, firstMs }) => timed || firstMs !== null)) return family;
  const leftOut = files.map(({ name, head }): FileProblem => {
    const reason = head.includes(0) ? 'binary' : 'no timestamps';
    return { file: name, code: LEFT_OUT, detail: `${reason}: not part of all logs; choose it by name to read it` };
  });
  releaseFamily(family);
  return { ...family, files: [], problems: [...problems, ...leftOut] };
}
