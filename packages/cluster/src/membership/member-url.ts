import { PortholeError } from '@porthole/contract';
import { quote } from './member-id.ts';

/** A host and port to connect to. */
export interface Address {
  /** Scheme, host and port. */
  url: string;
  isTls: boolean;
  /** Without IPv6 brackets. */
  host: string;
  port: number;
}

/**
 * Parses `http://host:port` or `https://host:port`. Throws PARAMETER_INVALID for anything more: a path would be ignored, and
 * credentials would end up in logs and responses.
 */
export function readAddress(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    throw new PortholeError('PARAMETER_INVALID', `invalid URL ${quote(text)}: expected http://host:port`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new PortholeError(
      'PARAMETER_INVALID',
      `the URL with host ${quote(url.host)} contains a user or password, which is not allowed`,
    );
  }
  if (url.origin !== url.href.replace(/\/$/, '') || text.length > 512) {
    throw new PortholeError('PARAMETER_INVALID', `invalid URL ${quote(text)}: expected only a host and a port`);
  }
  const isTls = url.protocol === 'https:';
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);
  return { url: url.origin, isTls, host: url.hostname.replace(/^\[|\]$/g, ''), port };
}
