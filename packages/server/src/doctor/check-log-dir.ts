import { probeLogDir } from '../log-dir-probe.ts';
import { type CheckContext, servedLogDir } from './check-context.ts';
import { type CheckOutcome, ok, problem, warning } from './check-result.ts';

/** Whether the directory that is shown can be read at all. */
export async function checkLogDir({ settings, system }: CheckContext): Promise<CheckOutcome[]> {
  const dir = servedLogDir(settings);
  const isOwn = settings.service.logDir === '';
  const { ok: isReadable, missing, detail } = await probeLogDir(dir);
  if (isReadable) return [ok(detail)];
  if (missing && isOwn) return [ok(`${dir} does not exist yet; the node makes it when it starts`)];
  const name = isOwn ? 'logging.dir' : 'service.log-dir';
  const flag = isOwn ? '--logging-dir' : '--log-dir';
  if (missing)
    return [warning(`${detail}: it is shown as empty until it does`, `create it, or correct ${name} (${flag} DIR)`)];
  const remedy = detail.endsWith('is not a directory')
    ? `set ${name} (${flag} DIR) to the directory that holds the logs`
    : `let the node in: "setfacl -m u:${system.userName}:rx ${dir}", or run it as the user who owns the logs`;
  return [problem(detail, remedy)];
}
