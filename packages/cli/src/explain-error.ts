/** What went wrong and what to do, in one line; a stack only where it is a bug of ours. */
export function explainError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (USER_ERRORS.has(error.name)) return error.message;
  if (error.name === 'ClientError') return explainClientError(error);
  if (isSystemError(error)) return error.message;
  return error.stack ?? error.message;
}

/** Errors whose message was written for the one who runs the program. */
const USER_ERRORS = new Set(['ProgramError', 'SettingsError', 'StartError', 'LogError', 'PortholeError']);

function explainClientError(error: Error & { code?: string; url?: string }): string {
  const { code = '', message } = error;
  const hint = HINTS[code];
  return `${message}${hint ? `; ${hint}` : ''}`;
}

const HINTS: Readonly<Record<string, string>> = {
  UNREACHABLE: 'is the node running? --url or PORTHOLE_URL says where ("porthole serve" starts one here)',
  UNAUTHENTICATED: 'give a token with --token-file FILE or in PORTHOLE_TOKEN',
};

function isSystemError(error: Error): boolean {
  return 'syscall' in error;
}
