type ProgramName =
  | 'chromium'
  | 'curl'
  | 'dd'
  | 'etcd'
  | 'git'
  | 'grep'
  | 'grpc_python_plugin'
  | 'journalctl'
  | 'lnav'
  | 'logrotate'
  | 'nginx'
  | 'openssl'
  | 'protoc'
  | 'python3-grpcio'
  | 'systemd-analyze'
  | 'systemd-journal-remote'
  | 'wc'
  | 'wrk';

export class ProgramsMissing extends Error {}
export function ensurePrograms<Name extends ProgramName>(names: readonly Name[]): Map<Name, string>;
