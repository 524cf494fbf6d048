import { type CheckContext, type CheckOutcome, ok, warning } from './check-result.ts';

/** Each response holds a connection and a file. */
const PER_STREAM = 2;

/** Open files of an idle node: its own log, ports, cached descriptors, threads and their pipes. */
const BESIDES = 128;

/** Descriptors needed for the maximum number of responses and everything else except follows. */
export function openFilesNeeded({ maxStreams }: { maxStreams: number }): number {
  return maxStreams * PER_STREAM + BESIDES;
}

/** Whether the process may open enough files for the maximum number of responses. */
export async function checkOpenFiles({ settings: { http }, system }: CheckContext): Promise<CheckOutcome[]> {
  const limit = await system.maxOpenFiles();
  if (limit === undefined) return [];
  const needed = openFilesNeeded(http);
  const shown = Number.isFinite(limit) ? `${limit} files may be open` : 'any number of files may be open';
  if (limit >= needed) return [ok(`${shown}, http.max-streams = ${http.maxStreams} needs about ${needed}`)];
  return [
    warning(
      `only ${shown}, but http.max-streams = ${http.maxStreams} needs about ${needed}`,
      `raise it ("ulimit -n ${needed}", or LimitNOFILE=${needed} in the systemd unit), or lower http.max-streams`,
    ),
  ];
}
