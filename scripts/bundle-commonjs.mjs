import { readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { ROOT } from './steps.mjs';

/*
 * What packages in CommonJS need to be bundled into modules: modules have no `require`, not even of what Node.js itself
 * has, and no `__dirname`, from where the packages of gRPC read their own .proto files.
 */

/** Calls that read a .proto file when the package is loaded or a service is added, by the name of the file they are in. */
const PROTO_READERS = {
  'grpc-health-check/build/src/health.js': {
    call: "(0, proto_loader_1.loadSync)('health/v1/health.proto', {",
    instead: (json) => `(0, proto_loader_1.fromJSON)(${json}, {`,
    file: 'grpc-health-check/proto/health/v1/health.proto',
  },
  '@grpc/reflection/build/src/implementations/reflection-v1.js': {
    call: 'protoLoader.loadSync(protoPath, ',
    instead: (json) => `protoLoader.fromJSON(${json}, `,
    file: '@grpc/reflection/build/proto/grpc/reflection/v1/reflection.proto',
  },
  '@grpc/reflection/build/src/implementations/reflection-v1alpha.js': {
    call: 'protoLoader.loadSync(protoPath, ',
    instead: (json) => `protoLoader.fromJSON(${json}, `,
    file: '@grpc/reflection/build/proto/grpc/reflection/v1alpha/reflection.proto',
  },
};

/** A plugin for esbuild. */
export const commonJs = {
  name: 'commonjs',
  setup(made) {
    // In two steps: what is required has to be the module itself, and only a module can import without a function for it.
    made.onResolve({ filter: /./ }, ({ path, kind, namespace }) => {
      if (namespace === 'builtin') return { path, namespace: 'builtin-module' };
      return kind === 'require-call' && isBuiltin(path) ? { path, namespace: 'builtin' } : undefined;
    });
    made.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)}).default;`,
    }));
    made.onLoad({ filter: /./, namespace: 'builtin-module' }, ({ path }) => ({
      contents: `export { default } from 'node:${path.replace(/^node:/, '')}';`,
    }));
    for (const [name, reader] of Object.entries(PROTO_READERS)) {
      const filter = new RegExp(`/node_modules/${name.replaceAll('.', '\\.')}$`);
      made.onLoad({ filter }, ({ path }) => ({ contents: withoutFiles(path, reader) }));
    }
  },
};

function withoutFiles(path, { call, instead, file }) {
  const text = readFileSync(path, 'utf8');
  if (!text.includes(call)) throw new Error(`${path} does not call ${call}`);
  const { Root } = createRequire(import.meta.url)('protobufjs');
  // Names of fields as these packages expect them: in camel case, which changes none of the health service.
  const json = JSON.stringify(new Root().loadSync(join(ROOT, 'node_modules', file)).toJSON());
  // These paths are not read any more; they are only handed out.
  return text.replace(call, instead(json)).replaceAll('__dirname', JSON.stringify(`/${dirname(file)}`));
}
