import { Metadata, status } from '@grpc/grpc-js';
import { ERROR_KINDS, toProblem } from '@porthole/contract';
import { retryAfterSeconds } from '../transport/request-policy.ts';
import { wellFormed } from './messages/record-messages.ts';

/** Details are percent-encoded in a header; many clients accept 8 KiB of headers, and a character may need nine bytes. */
const MAX_DETAIL_CHARACTERS = 700;

export interface CallStatus {
  code: status;
  details: string;
  metadata: Metadata;
}

/** The one place where an error becomes a gRPC status, with the same code and message as over HTTP. */
export function toCallStatus(thrown: unknown): CallStatus {
  const { code, detail, position } = toProblem(thrown);
  const metadata = new Metadata();
  metadata.set('porthole-code', code);
  if (position !== undefined) metadata.set('porthole-position', String(position));
  const retryAfter = retryAfterSeconds(thrown, code);
  if (retryAfter !== undefined) metadata.set('retry-after', String(retryAfter));
  const shown = detail.length > MAX_DETAIL_CHARACTERS ? `${detail.slice(0, MAX_DETAIL_CHARACTERS)}...` : detail;
  return { code: status[ERROR_KINDS[code].grpc], details: wellFormed(shown), metadata };
}
