import type { FileProblem } from '../../types.ts';
import { type OpenFamily, releaseFamily } from './open-family.ts';
import type { OpenFile } from './open-file.ts';

/** The code of a file that is only included when selected by name. Not a failure. */
const LEFT_OUT = 'LEFT_OUT';

/**
 * The family as included in a query over all logs. Those are merged by time: the records of a log without timestamps
 * would all come before or after the others. Its files are released, and listed among the problems. A family of which
 * nothing can be read stays: damage must not look like a choice.
 */
export function leaveOutUntimed(family: OpenFamily): OpenFamily {
  const { files, problems } = family;
  if (files.some(({ timed, firstMs }) => timed || firstMs !== null)) return family;
  const isDamaged = ({ compressed, head }: OpenFile) => compressed && head.length === 0;
  const damaged = files.filter(isDamaged);
  const untimed = files.filter((file) => !isDamaged(file));
  const leftOut = untimed.map(({ name, head }): FileProblem => {
    // The head of a file is what follows a hole of NULs: empty if there is nothing else.
    const reason = head.length === 0 || head.includes(0) ? 'binary' : 'no timestamps';
    return { file: name, code: LEFT_OUT, detail: `${reason}: not included in queries of all logs; select it by name` };
  });
  releaseFamily({ ...family, files: untimed });
  return { ...family, files: damaged, problems: [...problems, ...leftOut] };
}
