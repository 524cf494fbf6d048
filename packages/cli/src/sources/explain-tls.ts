import { connect, type PeerCertificate } from 'node:tls'; // owner: one probe with a timeout; an error is the answer

/* Why a TLS connection failed, in words that say what to change. Loaded only when one did. */

/** How long to wait for a server to show its certificate. */
const PROBE_MS = 2000;

/** Not signed by an authority that is trusted here. */
const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_UNTRUSTED',
]);

/** What a server that does not speak TLS sends is taken for a damaged TLS record. */
const NOT_TLS = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_HTTP_REQUEST',
  'ERR_SSL_TLSV1_ALERT_DECODE_ERROR',
]);

/** Alerts of a server that wants another client certificate, or one at all. */
const CLIENT_REFUSED =
  /^ERR_SSL_(?:TLSV13_ALERT_CERTIFICATE_REQUIRED|TLSV1_ALERT_UNKNOWN_CA|SSLV3_ALERT_(?:HANDSHAKE_FAILURE|BAD_CERTIFICATE|CERTIFICATE_\w+|UNSUPPORTED_CERTIFICATE))$/;

/** A connection that ended before the response, or with something that is not HTTP. */
const BROKEN = /^(?:ECONNRESET|EPIPE|HPE_\w+)$/;

export interface FailedRequest {
  url: string;
  /** Whether a client certificate was sent. */
  hasCertificate: boolean;
  error: unknown;
}

/** `undefined` if TLS is not the reason. */
export async function explainTlsFailure({ url, hasCertificate, error }: FailedRequest): Promise<string | undefined> {
  const { origin, protocol, hostname } = new URL(url);
  const code = codeOf(error);
  if (protocol === 'http:') {
    if (!BROKEN.test(code) || !(await showCertificate(url))) return undefined;
    return `${origin} expects TLS: use ${origin.replace('http:', 'https:')}`;
  }
  if (NOT_TLS.has(code) || (code === 'EPROTO' && /wrong version number|packet length too long/.test(String(error))))
    return `${origin} does not speak TLS: use ${origin.replace('https:', 'http:')} if it has none`;
  if (UNTRUSTED.has(code))
    return `the certificate of ${origin} is not signed by a trusted authority (${code}): pass the certificate of its authority with --ca-file`;
  if (code === 'CERT_HAS_EXPIRED')
    return `the certificate of ${origin} has expired${await dateText(url, 'valid_to', 'on')}: it must be renewed`;
  if (code === 'CERT_NOT_YET_VALID')
    return `the certificate of ${origin} is not valid yet${await dateText(url, 'valid_from', 'until')}: check the clock of this machine`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `the certificate of ${origin} is for ${namesIn(error)}, not for ${hostname}: use the name it is for`;
  if (CLIENT_REFUSED.test(code)) return explainRefusal(origin, code, hasCertificate);
  return undefined;
}

function explainRefusal(origin: string, code: string, hasCertificate: boolean): string {
  return hasCertificate
    ? `${origin} refused the client certificate (${code}): check --cert-file`
    : `${origin} refused the connection (${code}): it may require a client certificate, pass one with --cert-file and --key-file`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** `DNS:a, IP Address:10.0.0.1` without the kinds; a common name counts only where there are no others. */
function namesIn(error: unknown): string {
  const { subjectaltname = '', subject } = (error as { cert?: Partial<PeerCertificate> }).cert ?? {};
  const names = subjectaltname
    .split(', ')
    .filter(Boolean)
    .map((name) => name.replace(/^[^:]+:/, ''));
  return (names.length > 0 ? names : [subject?.CN ?? 'another name']).join(', ');
}

async function dateText(url: string, field: 'valid_from' | 'valid_to', word: string): Promise<string> {
  const time = Date.parse((await showCertificate(url))?.[field] ?? '');
  return Number.isNaN(time) ? '' : ` ${word} ${new Date(time).toISOString().slice(0, 10)}`;
}

/** The certificate a server shows, whatever it is worth: nothing is sent. `undefined` if it does not speak TLS. */
function showCertificate(url: string): Promise<PeerCertificate | undefined> {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: Number(port || (protocol === 'http:' ? 80 : 443)),
      rejectUnauthorized: false,
    });
    const finish = (certificate?: PeerCertificate) => {
      socket.destroy();
      resolve(certificate);
    };
    socket.setTimeout(PROBE_MS, () => finish());
    socket.once('secureConnect', () => finish(socket.getPeerCertificate()));
    // No TLS is an answer, not a failure.
    socket.on('error', () => finish());
  });
}
