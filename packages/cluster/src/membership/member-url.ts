import { PortholeError } from '@porthole/contract';
import { quote } from './member-id.ts';

/** Where something listens. */
export interface Address {
  /** Scheme, host and port, nothing behind them. */
  url: string;
  isTls: boolean;
  /** Without the brackets of IPv6. */
  host: string;
  port: number;
}

/**
 * Reads `http://host:port` or `https://host:port`. Throws PARAMETER_INVALID for anything more: a path would be asked for
 * nothing, and a name with a password would end in logs and answers.
 */
export function readAddress(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    throw new PortholeError('PARAMETER_INVALID', `${quote(text)} is not of the form http://host:port`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new PortholeError('PARAMETER_INVALID', `a URL at ${quote(url.host)} holds a user or password; none may`);
  }
  if (url.origin !== url.href.replace(/\/$/, '') || text.length > 512) {
    throw new PortholeError('PARAMETER_INVALID', `${quote(text)} has more than a host and a port`);
  }
  const isTls = url.protocol === 'https:';
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);
  return { url: url.origin, isTls, host: url.hostname.replace(/^\[|\]$/g, ''), port };
}
