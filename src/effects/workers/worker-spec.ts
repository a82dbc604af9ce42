import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import { servingOf } from '../../domain/endpoint/serving.ts'
import { workerMounts } from '../../domain/endpoint/volumes.ts'
import type { ComputeShape } from '../../domain/host/placement.ts'
import { decodeArgs, withoutPlatformNames } from '../../domain/resources/container.ts'
import { INIT_TIMEOUT_MS } from '../../domain/worker/worker.ts'
import { RELAY_URL_PLACEHOLDER, type Workload } from '../../host-protocol/messages.ts'

/** Identity of a worker that is about to be placed. */
export interface WorkerIdentity {
  workerId: string
  boot: string
  token: string
  pingIntervalMs: number
  dataCenterId: string
}

const STOP_GRACE_MS = 30_000

/** Returns the workload for one worker of an endpoint, with the variables of the worker protocol (WRK-1, ENV-2). */
export function workerWorkload(config: EndpointConfig, worker: WorkerIdentity, shape: ComputeShape): Workload {
  const { entrypoint, cmd } = decodeArgs(config.container.args)
  const mounts = workerMounts(config, worker.dataCenterId)
  return {
    id: worker.workerId,
    kind: 'worker',
    desired: 'running',
    stopGraceMs: STOP_GRACE_MS,
    account: config.teamId,
    image: config.container.image,
    entrypoint,
    cmd,
    env: withoutPlatformNames(config.container.env),
    ...(config.type === 'LOAD_BALANCER'
      ? servingParts(config, worker, shape)
      : {
          platformEnv: { ...commonEnv(config.id, worker, shape), ...protocolEnv(config.id, worker, shape) },
          ports: config.container.ports,
        }),
    ...(mounts.length > 0 && { mounts }),
    resources: { vcpus: shape.vcpus, memoryMb: shape.memoryMb, diskGb: config.container.diskGb, gpu: shape.gpu },
  }
}

/**
 * END-10: a load-balanced worker gets the ports to listen on, but no key and no URL of the worker protocol. Its ports are published for
 * engines whose containers have no address.
 */
function servingParts(config: EndpointConfig, worker: WorkerIdentity, shape: ComputeShape) {
  const { port, healthPort, healthPath } = servingOf(config)
  const platformEnv = {
    ...commonEnv(config.id, worker, shape),
    PORT: String(port),
    PORT_HEALTH: String(healthPort),
    HEALTH_CHECK_PATH: healthPath,
  }
  const published = new Set(config.container.ports.map((one) => Number.parseInt(one, 10)))
  const own = [...new Set([port, healthPort])].filter((one) => !published.has(one)).map((one) => `${one}/http`)
  return { platformEnv, ports: [...config.container.ports, ...own], health: { port: healthPort, path: healthPath } }
}

function protocolEnv(endpointId: string, worker: WorkerIdentity, shape: ComputeShape): Record<string, string> {
  const gpuName = shape.gpu?.typeId ?? 'CPU'
  const query = new URLSearchParams({ gpu: gpuName, boot: worker.boot }).toString()
  const base = `${RELAY_URL_PLACEHOLDER}/v2/${endpointId}`
  // The worker SDK itself fills in the placeholders $ID and $RUNPOD_POD_ID.
  const stream = `${base}/job-stream/$RUNPOD_POD_ID/$ID?${query}`
  return {
    RUNPOD_AI_API_KEY: worker.token,
    RUNPOD_WEBHOOK_GET_JOB: `${base}/job-take/$ID?${query}`,
    RUNPOD_WEBHOOK_POST_OUTPUT: `${base}/job-done/$RUNPOD_POD_ID/$ID?${query}`,
    RUNPOD_WEBHOOK_POST_STREAM: stream,
    RUNPOD_WEBHOOK_JOB_STREAM: stream,
    RUNPOD_WEBHOOK_PING: `${base}/ping/$RUNPOD_POD_ID?${query}`,
    RUNPOD_PING_INTERVAL: String(worker.pingIntervalMs),
    RUNPOD_INIT_TIMEOUT: String(INIT_TIMEOUT_MS / 1000),
  }
}

function commonEnv(endpointId: string, worker: WorkerIdentity, shape: ComputeShape): Record<string, string> {
  return {
    RUNPOD_ENDPOINT_ID: endpointId,
    RUNPOD_POD_ID: worker.workerId,
    RUNPOD_POD_HOSTNAME: `${worker.workerId}-${worker.boot.slice(0, 8)}`,
    RUNPOD_DC_ID: worker.dataCenterId,
    RUNPOD_CPU_COUNT: String(shape.vcpus),
    RUNPOD_MEM_GB: String(Math.floor(shape.memoryMb / 1024)),
    RUNPOD_GPU_COUNT: String(shape.gpu?.count ?? 0),
    RUNPOD_GPU_NAME: shape.gpu?.typeId ?? '',
  }
}
