import { ENDPOINT_DEFAULTS } from '../../contract/defaults.ts'
import type { Endpoint } from '../../contract/endpoints/endpoints.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import { cpuMemoryGb } from '../../domain/endpoint/compute.ts'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import { servingOf } from '../../domain/endpoint/serving.ts'
import { decodeArgs } from '../../domain/resources/container.ts'

/** Base URLs of endpoints. */
export interface EndpointBases {
  /** Base URL of the job API, without a trailing slash. */
  serverlessUrl: string
  /** Domain below which load-balancing endpoints have names of their own; null: they are reached below `/lb/` of `serverlessUrl`. */
  lbDomain: string | null
}

/** Returns an endpoint in the format of REST (END-9). */
export function toEndpoint(catalog: Catalog, config: EndpointConfig, bases: EndpointBases): Endpoint {
  const { container, compute, workers, scaling } = config
  return {
    id: config.id,
    name: config.name,
    type: config.type,
    requestUrls: config.type === 'QUEUE' ? jobUrls(`${bases.serverlessUrl}/v2/${config.id}`) : servedUrls(config, bases),
    args: container.args,
    ...decodeArgs(container.args),
    disk: container.diskGb,
    env: container.env,
    image: container.image,
    ports: container.ports,
    registry: container.registry,
    gpu: compute.kind === 'gpu' ? gpuView(compute) : null,
    ...(compute.kind === 'cpu' && {
      cpu: compute.options.map((option) => ({ ...option, memory: cpuMemoryGb(catalog, option.id, option.vcpuCount) ?? 1 })),
    }),
    workers: {
      min: workers.min,
      max: workers.max,
      // END-6: the field has no effect on a queue that scales by REQUEST_COUNT.
      ...((scaling.type === 'QUEUE_DELAY' || config.type === 'LOAD_BALANCER') && { idleTimeout: workers.idleTimeoutSeconds }),
    },
    scaling,
    dataCenterIds: config.dataCenterIds,
    cloud: config.cloud ?? ENDPOINT_DEFAULTS.cloud,
    networkVolumes: config.networkVolumes,
    timeout: config.timeoutMs,
    ...(config.retention && { resultRetention: { run: config.retention.runMs, runSync: config.retention.runSyncMs } }),
    flashboot: config.flashboot,
    createdAt: config.createdAt,
  }
}

function gpuView({ kind: _kind, ...gpu }: Extract<EndpointConfig['compute'], { kind: 'gpu' }>): Endpoint['gpu'] {
  return gpu
}

/** END-10: all eight URLs, with a literal `{job_id}`. */
function jobUrls(base: string): Endpoint['requestUrls'] {
  return {
    run: `${base}/run`,
    runSync: `${base}/runsync`,
    status: `${base}/status/{job_id}`,
    stream: `${base}/stream/{job_id}`,
    cancel: `${base}/cancel/{job_id}`,
    retry: `${base}/retry/{job_id}`,
    purgeQueue: `${base}/purge-queue`,
    health: `${base}/health`,
  }
}

/** END-10, LB-2. */
function servedUrls(config: EndpointConfig, { serverlessUrl, lbDomain }: EndpointBases): Endpoint['requestUrls'] {
  const base = lbDomain === null ? `${serverlessUrl}/lb/${config.id}` : `https://${config.id}.${lbDomain}`
  return { base, health: `${base}${servingOf(config).healthPath}` }
}
