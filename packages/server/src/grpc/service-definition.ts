import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer, type PackageDefinition } from '@grpc/proto-loader';
import type { MethodName } from './calls/calls.ts';
import { DESCRIPTOR_BASE64 } from './generated/descriptor.ts';

/** Names as in the .proto, numbers as numbers, default values for fields without presence. */
const OPTIONS = { keepCase: true, longs: Number, enums: String, defaults: true };

/** The methods of the service, with serializers of their messages. */
export type NodeStateDefinition = ServiceDefinition & Record<MethodName, MethodDefinition<object, object>>;

export function loadServiceDefinition(): NodeStateDefinition {
  const loaded = loadFileDescriptorSetFromBuffer(descriptorSet(), OPTIONS);
  return loaded[SERVICE_NAME] as unknown as NodeStateDefinition;
}

/**
 * The descriptor for reflection, from the compiler: the one written by proto-loader does not say which fields are optional.
 */
export function reflectedPackage(): PackageDefinition {
  const file = onlyFile(descriptorSet());
  return { [SERVICE_NAME]: { format: '', type: {}, fileDescriptorProtos: [file] } } as unknown as PackageDefinition;
}

function descriptorSet(): Buffer {
  return Buffer.from(DESCRIPTOR_BASE64, 'base64');
}

/** A descriptor set with one file is that file after a tag and its length; the service imports no other file. */
function onlyFile(set: Buffer): Buffer {
  let start = 1;
  while (((set[start] ?? 0) & 0x80) !== 0) start++;
  return set.subarray(start + 1);
}

export const SERVICE_NAME = 'porthole.v1.NodeStateService';
