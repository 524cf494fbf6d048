import type { CallOptions, NodeState } from '@porthole/contract';
import type { NodeStateServiceMethods } from '../generated/messages.ts';
import { configMessage, descriptionMessage, settingsMessage } from '../messages/node-messages.ts';

export type MethodName = keyof NodeStateServiceMethods;

type MethodRequest<Name extends MethodName> = NodeStateServiceMethods[Name]['request'];
type MethodResponse<Name extends MethodName> = NodeStateServiceMethods[Name]['response'];

/** Returns one message. */
export type UnaryCall<Request, Response> = (request: Request, options: CallOptions) => Promise<Response>;

/**
 * Yields messages. Errors of the request are thrown before the first item. `undefined`: the request is valid, but there is
 * nothing to send yet. Buffers in a message may be reused: they are valid until the next item is requested.
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

export function createNodeCalls(node: NodeState): Pick<Calls, 'Describe' | 'GetConfig' | 'GetSettings'> {
  return {
    Describe: async (_request, options) => descriptionMessage(await node.describe(options)),
    GetConfig: async (_request, options) => configMessage(await node.config(options)),
    GetSettings: async (_request, options) => settingsMessage(await node.settings(options)),
  };
}
