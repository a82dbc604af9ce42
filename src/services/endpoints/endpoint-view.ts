import { ENDPOINT_DEFAULTS } from '../../contract/defaults.ts'
import type { Endpoint } from '../../contract/endpoints/endpoints.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import { cpuMemoryGb } from '../../domain/endpoint/compute.ts'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import { decodeArgs } from '../../domain/resources/container.ts'

/** An endpoint as REST shows it (END-9). `serverlessUrl` is the base of the job API, without a trailing slash. */
export function toEndpoint(catalog: Catalog, config: EndpointConfig, serverlessUrl: string): Endpoint {
  const { container, compute, workers, scaling } = config
  return {
    id: config.id,
    name: config.name,
    type: config.type,
    requestUrls: requestUrls(`${serverlessUrl}/v2/${config.id}`),
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
      // END-6: nothing reads it with REQUEST_COUNT.
      ...(scaling.type === 'QUEUE_DELAY' && { idleTimeout: workers.idleTimeoutSeconds }),
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

/** END-10: all eight, with `{job_id}` literal. */
function requestUrls(base: string): Endpoint['requestUrls'] {
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
