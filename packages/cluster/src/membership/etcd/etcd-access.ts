/* How an etcd is reached. Apart from the connection: the types of the published package lead here, but not to gRPC. */

/** PEM texts. */
export interface EtcdTls {
  /** CA of the etcd certificate; default: the system CAs. */
  ca?: string;
  /** If etcd requires client certificates. */
  cert?: string;
  key?: string;
}

/** The functions are called for each session and each authentication: files may have changed. */
export interface EtcdAccess {
  user?: string;
  password?: string | (() => string);
  tls?: EtcdTls | (() => EtcdTls);
}
