import type { MethodDefinition } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';
import { DESCRIPTOR_BASE64 } from './generated/descriptor.ts';
import type { AuthMethods, KVMethods, LeaseMethods, WatchMethods } from './generated/messages.ts';

/** Names as in the .proto; 64-bit numbers as strings, because lease ids need all digits. */
const OPTIONS = { keepCase: true, longs: String, enums: String, defaults: true };

const SERVICES = ['KV', 'Watch', 'Lease', 'Auth'];

type Methods = KVMethods & LeaseMethods & AuthMethods & WatchMethods;

export type MethodName = keyof Methods;
/** Absent fields have their zero value. */
export type MethodRequest<Name extends MethodName> = Partial<Methods[Name]['request']>;
export type MethodResponse<Name extends MethodName> = Methods[Name]['response'];

/** The methods in use with their serializers. */
export type EtcdDefinition = Readonly<Record<MethodName, MethodDefinition<object, object>>>;

export function loadEtcdDefinition(): EtcdDefinition {
  const loaded = loadFileDescriptorSetFromBuffer(Buffer.from(DESCRIPTOR_BASE64, 'base64'), OPTIONS);
  const services = SERVICES.map((name) => loaded[`etcdserverpb.${name}`]);
  return Object.assign({}, ...services) as EtcdDefinition;
}
