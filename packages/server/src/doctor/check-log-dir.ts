import { probeLogDir } from '../log-dir-probe.ts';
import { type CheckContext, servedLogDir } from './check-context.ts';
import { type CheckOutcome, ok, problem, warning } from './check-result.ts';

/** Whether the served log directory can be read. */
export async function checkLogDir({ settings, system }: CheckContext): Promise<CheckOutcome[]> {
  const dir = servedLogDir(settings);
  const isOwn = settings.service.logDir === '';
  const { ok: isReadable, missing, detail } = await probeLogDir(dir);
  if (isReadable) return [ok(detail)];
  if (missing && isOwn) return [ok(`${dir} does not exist yet; the node creates it at start`)];
  const name = isOwn ? 'logging.dir' : 'service.log-dir';
  const flag = isOwn ? '--logging-dir' : '--log-dir';
  if (missing)
    return [warning(`${detail}: no logs are shown until it does`, `create it, or correct ${name} (${flag} DIR)`)];
  const remedy = detail.endsWith('is not a directory')
    ? `set ${name} (${flag} DIR) to the directory that holds the logs`
    : `grant access: "setfacl -m u:${system.userName}:rx ${dir}", or run the node as the owner of the logs`;
  return [problem(detail, remedy)];
}
