import { access, constants, stat } from 'node:fs/promises';

export interface LogDirStatus {
  ok: boolean;
  missing: boolean;
  detail: string;
}

/** The current state of the log directory. A missing one counts as empty, but is reported. */
export async function probeLogDir(dir: string): Promise<LogDirStatus> {
  try {
    if (!(await stat(dir)).isDirectory()) return { ok: false, missing: false, detail: `${dir} is not a directory` };
    await access(dir, constants.R_OK | constants.X_OK);
    return { ok: true, missing: false, detail: `${dir} is readable` };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return { ok: false, missing: true, detail: `${dir} does not exist` };
    return { ok: false, missing: false, detail: `${dir} cannot be read: ${code ?? error}` };
  }
}
