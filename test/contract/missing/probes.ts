import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OpenApi, Parameter, Schema } from '../../support/openapi/document.ts'

/** Everything that a probe may read: documents of the APIs, commands, and sources by path. */
export interface Surfaces {
  rest: OpenApi
  admin: OpenApi
  /** Commands of the command line, without `podplane`. */
  commands: string[]
  sources: Record<string, string>
}

/** A search for a missing feature. */
export interface Probe {
  /** Returns where the feature is; empty: it is missing. */
  find(surfaces: Surfaces): string[]
  /** Adds the feature, in the form in which `find` would see it. */
  plant(surfaces: Surfaces): void
}

/** Reads the surfaces of the project at `root`. */
export function readSurfaces(root: string): Surfaces {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const paths = globSync(['src/**/*.{ts,tsx}', 'durable-objects/**/*.ts', 'test/e2e/**/*.ts'], { cwd: root })
  return {
    rest: JSON.parse(read('docs/openapi-v2.json')),
    admin: JSON.parse(read('docs/openapi-admin-v1.json')),
    commands: [...read('docs/cli.md').matchAll(/^#{3,} `?podplane ([a-z -]+)/gm)].map(([, command = '']) => command.trim()),
    sources: Object.fromEntries(paths.map((path) => [path, read(path)])),
  }
}

const METHODS = ['post', 'put', 'patch', 'delete'] as const

/** The operations that change something and take no `dryRun`, as `POST /v2/pods`; calls to the queue of an endpoint are left out. */
export function withoutPlan({ rest, admin }: Surfaces): string[] {
  return [rest, admin].flatMap(({ paths }) =>
    Object.entries(paths)
      .filter(([path]) => !path.startsWith('/v2/{endpointId}/'))
      .flatMap(([path, item]) =>
        METHODS.filter((method) => item[method] && !item[method].parameters?.some(({ name }) => name === 'dryRun')).map(
          (method) => `${method.toUpperCase()} ${path}`,
        ),
      ),
  )
}

/** Operations without a dry run, by the row that lists them. */
export const NO_PLAN = {
  'GAP-16': [
    'POST /v2/templates',
    'POST /v2/network-volumes',
    'POST /v2/global-volumes',
    'POST /v2/registries',
    'POST /v2/registries/delegations',
    'POST /v2/account/secrets',
    'POST /v2/account/keys',
    'POST /v2/organizations',
    'POST /v2/organizations/{id}/invitations',
    'POST /admin/v1/users',
    'POST /admin/v1/users/{id}/keys',
    'POST /admin/v1/sign-in-links',
    'POST /admin/v1/join-tokens',
  ],
  'GAP-17': [
    'PATCH /v2/clusters/{id}',
    'PATCH /v2/global-volumes/{id}',
    'PATCH /v2/organizations/{id}',
    'POST /v2/spend/stops/{id}/undo',
    'POST /admin/v1/hosts/{id}/uncordon',
  ],
  'GAP-18': [
    'POST /v2/webhooks/signing-secret/rotate',
    'POST /v2/webhooks/deliveries/{id}/redeliver',
    'POST /v2/organizations/invitations/accept',
    'POST /v2/organizations/invitations/decline',
    'POST /admin/v1/secrets/reseal',
    'DELETE /admin/v1/deleted-volumes/{id}',
  ],
} as const

/** A probe for each row of the table of gaps in docs/SPEC.md. */
export const PROBES: Readonly<Record<string, Probe>> = {
  'GAP-1': path('rest', /^\/v2\/\{endpointId\}\/logs/, '/v2/{endpointId}/logs'),
  'GAP-2': source(/application\/grpc|node:http2/, 'src/http/load-balancer/grpc.ts', "import 'node:http2'"),
  'GAP-3': member('CreateEndpointRequest', /git|repo|build/i, 'gitRepository'),
  'GAP-4': source(
    /flashboot/i,
    'src/queue/workers/start.ts',
    'config.flashboot',
    /^(src\/(queue|objects|effects|host-agent)|durable-objects)\//,
  ),
  'GAP-5': path('rest', /\/(move|transfer)$/, '/v2/pods/{id}/transfer'),
  'GAP-6': member('CreatePodRequest', /spot|bid|interrupt/i, 'interruptible'),
  'GAP-7': path('rest', /balance|payment/, '/v2/billing/balance'),
  'GAP-8': source(/GPU_VENDORS[^=]*= \[(?!NVIDIA\])/, 'src/host-agent/gpus/vendors.ts', 'export const GPU_VENDORS = [NVIDIA, AMD]'),
  'GAP-9': source(/--runtime-class|runsc|kata/, 'test/e2e/gvisor.e2e.test.ts', "['--runtime-class', 'runsc']", /^test\/e2e\//),
  // A refused identity ends the agent like a shutdown; only a message over the link has the outcome `revoked`.
  'GAP-10': absent(
    'src/host-agent/agent.ts',
    /throw error instanceof IdentityRefused \? refusedIdentity/,
    /const stop = revoked \|\| options\.onExit === 'stop'/,
  ),
  // The agent tries the engine once, before it opens its link.
  'GAP-11': source(
    /detectDocker\(/,
    'src/host-agent/link-loop.ts',
    'await detectDocker({})',
    /^src\/host-agent\/(?!survey|build-runtimes)/,
  ),
  'GAP-12': member('UpdateClusterRequest', /^(?!name$)/, 'podCount'),
  'GAP-13': source(/\bens[2-8]\b/, 'src/host-protocol/overlays.ts', "'ens2'"),
  'GAP-14': {
    find: ({ commands }) => commands.filter((command) => /\b(backup|restore|(hosts|plane) (test|check|bench))\b/.test(command)),
    plant: ({ commands }) => commands.push('plane backup'),
  },
  'GAP-15': source(
    /type: 'spend\.stop'/,
    'src/services/spend/stop.ts',
    "type: 'spend.stop'",
    /^(?!src\/(domain\/billing|effects\/pods)\/(spend-watch|watch-spend))/,
  ),
  'GAP-16': noPlan('GAP-16'),
  'GAP-17': noPlan('GAP-17'),
  'GAP-18': {
    find: (surfaces) => [...noPlan('GAP-18').find(surfaces), ...jobsWithPlan(surfaces)],
    plant: (surfaces) => takesDryRun(surfaces.rest, '/v2/{endpointId}/cancel/{jobId}', 'post'),
  },
  'GAP-19': source(
    /\b(readHolders|holderAdvice)\(/,
    'src/services/clusters/nearest-cluster.ts',
    'holderAdvice(holders)',
    /^src\/(?!domain\/explain\/holders|effects\/explain|services\/(pods\/(explain|nearest)-pod|endpoints\/preview-endpoint))/,
  ),
  'GAP-20': {
    find: ({ rest }) => streams(rest).filter((name) => rest.paths[name]?.get?.parameters?.some((one) => one.name === 'q')),
    plant: ({ rest }) => rest.paths['/v2/pods/{id}/logs']?.get?.parameters?.push(queryParameter('q')),
  },
  'GAP-21': path('rest', /^\/v2\/(serverless\/\{id\}\/logs|clusters\/\{id\}\/logs.*)$/, '/v2/serverless/{id}/logs'),
  'GAP-22': absent(
    'src/http/graphql/resolvers/absent.ts',
    /listings: nothing, allAiApiPublicConfigs: nothing, myModels: nothing/,
    /'createFlashApp'/,
  ),
  'GAP-23': absent('src/http/graphql/graphql-api.ts', /refuseDryRun/),
  'GAP-24': absent('src/domain/billing/lists.ts', /feeAmount: 0/, /endpointAmount: 0/, /networkingAmount: 0|clusterNetworkingAmount: 0/),
  'GAP-25': source(/^(?!\s*\/\/).*aws-cn/m, 'src/domain/resources/ecr.ts', 'arn:aws-cn:ecr'),
}

const queryParameter = (name: string): Parameter => ({ name, in: 'query', schema: {} })

/** Log streams of the document. */
const streams = ({ paths }: OpenApi) => Object.keys(paths).filter((name) => name.endsWith('/logs'))

/** Calls for single jobs that take `dryRun`; those for all jobs of a filter have a plan. */
function jobsWithPlan({ rest }: Surfaces): string[] {
  return Object.entries(rest.paths)
    .filter(([name, item]) => name.startsWith('/v2/{endpointId}/') && !name.includes('/requests/') && plans(item.post?.parameters))
    .map(([name]) => name)
}

function plans(parameters: readonly { name: string }[] | undefined): boolean {
  return parameters?.some(({ name }) => name === 'dryRun') === true
}

function takesDryRun({ paths }: OpenApi, name: string, method: (typeof METHODS)[number]): void {
  const operation = paths[name]?.[method]
  if (operation) operation.parameters = [...(operation.parameters ?? []), queryParameter('dryRun')]
}

function noPlan(gap: keyof typeof NO_PLAN): Probe {
  return {
    find: (surfaces) => NO_PLAN[gap].filter((name) => !withoutPlan(surfaces).includes(name)),
    plant: ({ rest }) => {
      const [method = '', name = ''] = NO_PLAN[gap][0].toLowerCase().split(' ')
      takesDryRun(rest, name, METHODS.find((one) => one === method) ?? 'post')
    },
  }
}

/** The feature would be a path. */
function path(document: 'rest' | 'admin', pattern: RegExp, planted: string): Probe {
  return {
    find: (surfaces) => Object.keys(surfaces[document].paths).filter((name) => pattern.test(name)),
    plant: (surfaces) => {
      surfaces[document].paths[planted] = {}
    },
  }
}

/** The feature would be a member of a request. */
function member(schema: string, pattern: RegExp, planted: string): Probe {
  const properties = ({ rest }: Surfaces): Record<string, Schema> => rest.components.schemas[schema]?.properties ?? { [pattern.source]: {} }
  return {
    find: (surfaces) => Object.keys(properties(surfaces)).filter((name) => pattern.test(name)),
    plant: (surfaces) => {
      properties(surfaces)[planted] = {}
    },
  }
}

/** The feature would be named in a source below `places`. */
function source(pattern: RegExp, plantedAt: string, planted: string, places = /^(src|durable-objects)\//): Probe {
  return {
    find: ({ sources }) => Object.keys(sources).filter((name) => places.test(name) && pattern.test(sources[name] ?? '')),
    plant: ({ sources }) => {
      sources[plantedAt] = planted
    },
  }
}

/** The code that leaves the feature out would be gone from a file. */
function absent(file: string, ...patterns: readonly RegExp[]): Probe {
  return {
    find: ({ sources }) => patterns.filter((pattern) => !pattern.test(sources[file] ?? '')).map(({ source: text }) => `${file}: ${text}`),
    plant: ({ sources }) => {
      sources[file] = ''
    },
  }
}
