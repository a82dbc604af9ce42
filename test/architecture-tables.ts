// The tables that test/architecture.test.ts compares with the imports and texts of the sources.

/**
 * The rooms of the plane in order: each may import itself and the rooms before it. Two rooms of one row do not import each other.
 * `env.ts` names the bindings and so the interfaces of the objects.
 */
export const PLANE: readonly (readonly string[])[] = [
  ['src/contract'],
  ['src/host-protocol', 'src/platform'],
  ['src/domain'],
  ['src/queue'],
  ['src/db'],
  ['src/objects', 'src/env.ts'],
  ['src/effects'],
  ['src/services', 'durable-objects'],
  ['src/http'],
  ['src/app.ts'],
  ['src/worker.ts'],
]
/** Rooms of one row that may import each other. */
export const TWINS = ['src/objects', 'src/env.ts']
/** Rooms that may import less than all rooms before them. */
export const NARROWER: Readonly<Record<string, readonly string[]>> = {
  'src/domain': ['src/contract', 'src/host-protocol'],
  'src/queue': ['src/contract', 'src/host-protocol', 'src/domain'],
  'src/http': [
    'src/contract',
    'src/host-protocol',
    'src/platform',
    'src/domain',
    'src/objects',
    'src/env.ts',
    'src/effects',
    'src/services',
  ],
  'src/app.ts': ['src/contract', 'src/platform', 'src/http'],
  'src/worker.ts': ['src/contract', 'durable-objects', 'src/app.ts', 'src/env.ts', 'src/http', 'src/platform'],
}
/** Programs for Node, each with all rooms that it may import beside itself. */
export const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  // For Node and browsers: types of the contract, and no code.
  'src/client': ['src/contract'],
  // For browsers: the API, through the client alone.
  'src/console': ['src/client', 'src/contract'],
  'src/node': [],
  'src/host-agent': ['src/host-protocol', 'src/node', 'src/contract/key-kinds.ts'],
  'src/ssh-proxy': ['src/host-protocol', 'src/node'],
  'src/local': [
    'src/client',
    'src/contract',
    'src/domain',
    'src/node',
    'src/ssh-proxy',
    'src/host-agent/plane/enrolment.ts',
    'src/host-agent/gpus/simulated.ts',
  ],
  'src/cli': [
    'src/client',
    'src/node',
    'src/contract/defaults.ts',
    'src/contract/key-kinds.ts',
    'src/domain/key-text.ts',
    'src/domain/text/versions.ts',
  ],
}

/** Files that may create a proof of ownership (AUT-21), and what each proves it by. */
export const PROVERS: Readonly<Record<string, string>> = {
  'src/objects/ownership/own.ts': "a row of the caller's team",
  'src/objects/ownership/own-queue.ts': "a row of the caller's team, as cached by the isolate",
  'src/objects/ownership/own-worker.ts': 'an endpoint that is owned',
  'src/effects/workers/worker-token.ts': "a worker's key",
  'src/effects/log-access.ts': "a host's grant for a log",
  'src/services/hosts/host-enrolment.ts': "a host's signature or access token",
  'src/objects/ownership/as-plane.ts': 'the plane itself, or the operator',
}
/** Files that reach objects without a request of a tenant, and why. */
export const FOR_THE_PLANE: Readonly<Record<string, readonly string[]>> = {
  'src/effects/billing/spend-webhook.ts': ['sends a notification'],
  'src/effects/clusters/place-cluster.ts': ['places a workload'],
  'src/effects/notify-cluster.ts': ['a host reports it'],
  'src/effects/overlays/forward-report.ts': ['a host reports it'],
  'src/effects/overlays/notify-hosts.ts': ['places a workload'],
  'src/effects/capacity.ts': ['capacity appeared'],
  'src/effects/preempt.ts': ['preempts workers'],
  'src/effects/pods/with-pod-intents.ts': ['places a workload'],
  'src/effects/explain/snapshot.ts': ['explains'],
  'src/effects/explain/holders.ts': ['explains'],
  'src/effects/workers/place-worker.ts': ['places a workload'],
  'src/effects/pods/pod-notes.ts': ['writes a system line'],
  'src/effects/departure.ts': ['previews a change of a host'],
  'src/effects/presence.ts': ['presence of a host'],
  'src/services/plane/readiness.ts': ['checks its readiness'],
  'src/services/operator/reseal.ts': ['reseals values'],
  'src/services/accounts/suspension.ts': ['suspends an account'],
  'durable-objects/endpoint/outbox.ts': ['sends a notification', 'shows notifications of a job'],
  'durable-objects/endpoint/effects/capacity-effects.ts': ['preempts workers'],
  'durable-objects/host/reports.ts': ['a host reports it'],
  'durable-objects/pod-log.ts': ['checks the owner of a log'],
  'durable-objects/pod-log/archive-room.ts': ['frees space in an archive'],
  'durable-objects/tunnel/open-slots.ts': ['forwards a request'],
  'src/objects/tunnel/host-tunnel-calls.ts': ['forwards a request'],
}
/** The rooms that may import a package. Rules (src/domain, src/queue) need none; the contract and the host protocol need zod alone. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  '@base-ui/react': ['src/console'],
  '@hono/zod-openapi': ['src/http'],
  '@tailwindcss/vite': ['src/console'],
  '@tanstack/react-query': ['src/console'],
  '@tanstack/react-router': ['src/console'],
  '@tanstack/react-virtual': ['src/console'],
  '@vitejs/plugin-react': ['src/console'],
  '@xterm/addon-fit': ['src/console'],
  '@xterm/xterm': ['src/console'],
  anser: ['src/console'],
  aws4fetch: ['src/effects'],
  'cloudflare:workers': ['durable-objects'],
  commander: ['src/cli', 'src/host-agent', 'src/local', 'src/ssh-proxy'],
  'dns-packet': ['src/host-agent'],
  dockerode: ['src/host-agent'],
  'drizzle-orm': ['src/db'],
  graphql: ['src/http'],
  hono: ['src/app.ts', 'src/http'],
  jose: ['src/host-agent', 'src/services'],
  miniflare: ['src/local'],
  nanoid: ['src/platform'],
  oauth4webapi: ['src/services'],
  react: ['src/console'],
  'react-dom': ['src/console'],
  'smol-toml': ['src/cli'],
  ssh2: ['src/ssh-proxy'],
  'structured-headers': ['src/services'],
  uplot: ['src/console'],
  vite: ['src/console'],
  wrangler: ['src/local'],
  ws: ['src/host-agent', 'src/ssh-proxy'],
  zod: [
    'src/client',
    'src/contract',
    'src/effects',
    'src/host-agent',
    'src/host-protocol',
    'src/http',
    'src/local',
    'src/node',
    'src/services',
  ],
}
/** Verbs and effects that read the clock themselves, and why: the others use the instant of their request. */
export const READS_THE_CLOCK: Readonly<Record<string, string>> = {
  'src/effects/arriving-body.ts': 'a body arrives over minutes',
  'src/effects/audit.ts': 'the instant of a pod’s transition, in the order of the writes',
  'src/effects/billing/spend.ts': 'the cost of the month grows until the statement that reserves',
  'src/effects/capacity.ts': 'a charge ends when capacity becomes free',
  'src/effects/catalog.ts': 'a cache that objects read too',
  'src/effects/clusters/steps.ts': 'an object decides, after its hosts were marked',
  'src/effects/ecr/delegated-token.ts': 'an object makes the workload',
  'src/effects/gpu-health.ts': 'a host’s object applies its report',
  'src/effects/pods/pod-hosts.ts': 'a host’s object moves pods one after another',
  'src/effects/pods/pod-notes.ts': 'the instant of a line in a log',
  'src/effects/pods/pod-reports.ts': 'a host reports',
  'src/effects/pods/pod-spec.ts': 'a host’s object makes the workload',
  'src/effects/pods/watch-spend.ts': 'a pod is charged until it stops, after a notification',
  'src/effects/workers/place-worker.ts': 'an endpoint’s object places workers, and waits for hosts',
  'src/services/billing/spend.ts': 'explains a statement that read the clock',
  'src/services/heavy-reads.ts': 'the rows of a read count from its end',
  'src/services/plane/readiness.ts': 'measures a duration',
  'src/services/pods/wait-for-pod.ts': 'waits',
}
