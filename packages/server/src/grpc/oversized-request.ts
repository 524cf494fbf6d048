import type { MethodDefinition } from '@grpc/grpc-js';

/** Stands for a request that was not decoded because it is too large; the gate refuses it. */
export class OversizedRequest {
  readonly bytes: number;

  constructor(bytes: number) {
    this.bytes = bytes;
  }
}

/** Limits the size of a method's requests. The error of the library's own limit would not name the setting. */
export function boundingRequests<Method extends MethodDefinition<object, object>>(
  method: Method,
  maxBytes: number,
): Method {
  const { requestDeserialize } = method;
  return {
    ...method,
    requestDeserialize: (bytes: Buffer) =>
      bytes.length > maxBytes ? new OversizedRequest(bytes.length) : requestDeserialize(bytes),
  };
}
