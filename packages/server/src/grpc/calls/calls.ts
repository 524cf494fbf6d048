import type { CallOptions } from '@porthole/contract';
import type { NodeStateServiceMethods } from '../generated/messages.ts';

export type MethodName = keyof NodeStateServiceMethods;

type MethodRequest<Name extends MethodName> = NodeStateServiceMethods[Name]['request'];
type MethodResponse<Name extends MethodName> = NodeStateServiceMethods[Name]['response'];

/** Answers with one message. */
export type UnaryCall<Request, Response> = (request: Request, options: CallOptions) => Promise<Response>;

/**
 * Answers with messages. What can be refused is refused before the first item. `undefined` is nothing to send yet: the
 * question is a good one. Bytes in a message may be lent: they are valid until the next item is asked for.
 */
export type StreamCall<Request, Response> = (
  request: Request,
  options: CallOptions,
) => AsyncIterable<Response | undefined>;

/** All methods of the service. */
export type Calls = {
  [Name in MethodName]: NodeStateServiceMethods[Name]['stream'] extends true
    ? StreamCall<MethodRequest<Name>, MethodResponse<Name>>
    : UnaryCall<MethodRequest<Name>, MethodResponse<Name>>;
};
