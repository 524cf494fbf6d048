/** What the tests of other packages use of this one: helpers, and internals that have no public entry. Not published. */
export { bearerToken } from '../auth/access.ts';
export { JwtCheck } from '../auth/jwt-check.ts';
export { fetchKeySet } from '../auth/jwt-keys.ts';
export { createAuthority, issue, issueExpired, issueForNode } from '../auth/testing/certificates.ts';
export { startGuardedNode } from '../auth/testing/guarded-node.ts';
export { AUDIENCE, createSigner, ISSUER, signJwt, toKeySet } from '../auth/testing/jwt-maker.ts';
export { hashSecret } from '../auth/tokens.ts';
export { mergedLog } from '../bundle/log-entries.ts';
export { readBundle } from '../bundle/testing/bundle-cluster.ts';
export { viewConfig } from '../config/config-view.ts';
export { flattenToml } from '../config/flatten-config.ts';
export { redactToml } from '../config/redact-config.ts';
export { FORMAT_CORPUS } from '../config/testing/format-corpus.ts';
export { REDACTION_CORPUS, unmark } from '../config/testing/redaction-corpus.ts';
export { selfSigned } from '../doctor/testing/self-signed.ts';
export { loadServiceDefinition } from '../grpc/service-definition.ts';
export { connectNode } from '../grpc/testing/connect.ts';
export { Connection as GrpcConnection } from '../grpc/testing/connection.ts';
export { GrpcNode } from '../grpc/testing/grpc-node.ts';
export { findRoute, parseTarget } from '../http/request/find-route.ts';
export { createHostCheck } from '../http/request/hosts-and-origins.ts';
export { chooseEncoding } from '../http/response/console-files.ts';
export { parseByteRange } from '../http/routes/log-routes.ts';
export { type LoadedSettings, loadSettings } from '../settings/load-settings.ts';
export { startNode } from '../start-node.ts';
export { freePorts } from './free-ports.ts';
export { generateIncident, INCIDENT_NAMES, QUIET_NAMES } from './incidents/generate-incident.ts';
export {
  type Cause,
  type GeneratedNode,
  type Incident,
  judgeIncident,
  type ReportItem,
  type ReportView,
  type Truth,
  type Verdict,
} from './incidents/incident.ts';
export { type OpenedIncident, openIncident } from './incidents/open-incident.ts';
export { sendRequest } from './send-request.ts';
export {
  countConnections,
  startTestNode,
  startWithSharedThreads,
  type TestNode,
  testSettings,
} from './test-node.ts';
