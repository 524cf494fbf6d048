/** Formats an error as one line with what to do about it; bugs keep their stack. */
export function explainError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (USER_ERRORS.has(error.name)) return error.message;
  if (error.name === 'ClientError') return explainClientError(error);
  if (isSystemError(error)) return error.message;
  return error.stack ?? error.message;
}

/** Errors whose message is written for the user. */
const USER_ERRORS = new Set(['ProgramError', 'SettingsError', 'StartError', 'LogError', 'PortholeError']);

function explainClientError(error: Error & { code?: string; url?: string }): string {
  const { code = '', message } = error;
  const hint = HINTS[code];
  return hint === undefined ? message : `${message}. ${hint}`;
}

const HINTS: Readonly<Record<string, string>> = {
  UNREACHABLE: 'Is the node running? Set its address with --url or PORTHOLE_URL ("porthole serve" starts one here)',
  UNAUTHENTICATED: 'Pass a token with --token-file FILE or PORTHOLE_TOKEN',
};

function isSystemError(error: Error): boolean {
  return 'syscall' in error;
}
