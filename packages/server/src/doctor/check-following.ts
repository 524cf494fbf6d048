import { watch } from 'node:fs';
import { probeLogDir } from '../log-dir-probe.ts';
import { type CheckContext, servedLogDir } from './check-context.ts';
import { type CheckOutcome, ok, warning } from './check-result.ts';

/** A node watches the one directory of its logs; other programs of the same user take from the same number. */
const FEW_INSTANCES = 16;
const FEW_WATCHES = 1024;

/** Whether the system tells of new lines at once. Without that they are found too, but only every `follow.poll`. */
export async function checkFollowing({ settings, system }: CheckContext): Promise<CheckOutcome[]> {
  const dir = servedLogDir(settings);
  const instances = await system.inotifyLimit('max_user_instances');
  const watches = await system.inotifyLimit('max_user_watches');
  if ((await probeLogDir(dir)).ok) {
    const refusal = tryToWatch(dir);
    if (refusal !== undefined)
      return [
        warning(
          `${dir} cannot be watched (${refusal}): new lines are seen every ${settings.follow.pollMs} ms only`,
          'as root: "sysctl fs.inotify.max_user_instances=1024 fs.inotify.max_user_watches=524288"',
        ),
      ];
  }
  if (instances === undefined || watches === undefined) return [ok('new lines are told by the system')];
  const shown = `inotify allows ${instances} instances and ${watches} watches per user; a node takes one of each`;
  if (instances >= FEW_INSTANCES && watches >= FEW_WATCHES) return [ok(shown)];
  return [
    warning(
      `${shown}, but other programs need theirs`,
      'as root: "sysctl fs.inotify.max_user_instances=1024 fs.inotify.max_user_watches=524288"',
    ),
  ];
}

function tryToWatch(dir: string): string | undefined {
  try {
    const watcher = watch(dir);
    watcher.on('error', () => {}); // closed before it could tell
    watcher.close();
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}
