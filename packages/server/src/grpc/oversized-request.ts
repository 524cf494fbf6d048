import type { MethodDefinition } from '@grpc/grpc-js';

/** Stands for a request that was not read because it is too large; the gate answers it. */
export class OversizedRequest {
  readonly bytes: number;

  constructor(bytes: number) {
    this.bytes = bytes;
  }
}

/** The method with requests of a bounded size. The library's own limit would be told without the name of the setting. */
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
