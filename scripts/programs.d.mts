type ProgramName =
  | 'chromium'
  | 'curl'
  | 'dd'
  | 'etcd'
  | 'git'
  | 'grep'
  | 'journalctl'
  | 'lnav'
  | 'logrotate'
  | 'nginx'
  | 'openssl'
  | 'python3-grpcio'
  | 'systemd-analyze'
  | 'systemd-journal-remote'
  | 'wc'
  | 'wrk';

export class ProgramsMissing extends Error {}
export function ensurePrograms<Name extends ProgramName>(names: readonly Name[]): Map<Name, string>;
