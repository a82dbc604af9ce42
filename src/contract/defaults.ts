/**
 * Defaults that apply whatever else a create contains: the document names them as `default` (DOC-10), and decisions use them. Members that
 * a template may fill have no default here.
 */
export const POD_DEFAULTS = { cloud: 'SECURE', onHostLoss: 'WAIT', gpuCount: 1, globalNetworking: false } as const

/** Defaults of clusters (CLU-11). */
export const CLUSTER_DEFAULTS = { onHostLoss: 'WAIT', startJupyter: false, startSsh: false } as const

/** Defaults of Serverless endpoints (END-2, END-6, END-7). */
export const ENDPOINT_DEFAULTS = {
  type: 'QUEUE',
  cloud: 'SECURE',
  gpuCount: 1,
  workers: { min: 0, max: 3, idleTimeout: 5 },
  scaling: { type: 'QUEUE_DELAY', queueDelay: 4 },
  /** Scaling of a load-balancing endpoint. */
  balancerScaling: { type: 'REQUEST_COUNT', requestCount: 4 },
  timeout: 600_000,
  flashboot: 'OFF',
} as const

/** LIM-4: default and shortest retention of results, milliseconds. */
export const RETENTION_DEFAULTS = { run: 1_800_000, runSync: 60_000 } as const

/** Defaults of templates (TPL-2). */
export const TEMPLATE_DEFAULTS = {
  disk: 10,
  serverless: false,
  public: false,
  category: 'NVIDIA',
  startSsh: true,
  startJupyter: true,
} as const

/** Defaults of jobs: their policy (TMO-1); the wait of a held call (RUN-4) in milliseconds; the page size of `/requests` (HLT-10). */
export const JOB_DEFAULTS = { ttl: 86_400_000, lowPriority: false, wait: 90_000, streamWait: 10_000, requests: 100, interval: 'h' } as const

/** Defaults of join tokens. */
export const JOIN_DEFAULTS = { cloud: 'SECURE', dataCenterId: 'LOCAL-1' } as const

/** Values that the console and the command line send where a request must name one and the user has not. */
export const PROPOSED = { vcpuCount: 2, mountPath: '/workspace', startSsh: true } as const

/** Default of API keys and of command lines that are allowed in the console. */
export const KEY_DEFAULTS = { permission: 'ALL' } as const

/** Default of links that sign in to the console. */
export const SIGN_IN_LINK_DEFAULTS = { isOperator: false } as const

/** Time for which a rotated key stays valid, seconds (TEAM-22). */
export const KEY_OVERLAP_SECONDS = 86_400
