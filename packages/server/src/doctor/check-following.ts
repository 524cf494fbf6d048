import { watch } from 'node:fs';
import { types } from 'node:util';
import { probeLogDir } from '../health.ts';
import { type CheckContext, type CheckOutcome, ok, servedLogDir, warning } from './check-result.ts';

/** A node watches one directory; other programs of the same user share these limits. */
const FEW_INSTANCES = 16;
const FEW_WATCHES = 1024;

/** Whether the log directory can be watched for changes. If not, new lines are found by polling (`follow.poll`). */
export async function checkFollowing({ settings, system }: CheckContext): Promise<CheckOutcome[]> {
  const dir = servedLogDir(settings);
  const instances = await system.inotifyLimit('max_user_instances');
  const watches = await system.inotifyLimit('max_user_watches');
  if ((await probeLogDir(dir)).ok) {
    const refusal = tryToWatch(dir);
    if (refusal !== undefined)
      return [
        warning(
          `${dir} cannot be watched (${refusal}): it is polled for new lines every ${settings.follow.pollMs} ms`,
          'as root: "sysctl fs.inotify.max_user_instances=1024 fs.inotify.max_user_watches=524288"',
        ),
      ];
  }
  if (instances === undefined || watches === undefined) return [ok('the system reports new lines')];
  const shown = `inotify allows ${instances} instances and ${watches} watches per user; a node uses one of each`;
  if (instances >= FEW_INSTANCES && watches >= FEW_WATCHES) return [ok(shown)];
  return [
    warning(
      `${shown}, but other programs of the user may use up the rest`,
      'as root: "sysctl fs.inotify.max_user_instances=1024 fs.inotify.max_user_watches=524288"',
    ),
  ];
}

function tryToWatch(dir: string): string | undefined {
  try {
    const watcher = watch(dir);
    watcher.on('error', () => {}); // Errors after this point do not matter: the watcher is closed at once.
    watcher.close();
    return undefined;
  } catch (error) {
    return types.isNativeError(error) && 'code' in error ? String(error.code) : String(error);
  }
}
