import type { Podplane } from '@podplane/sdk'
import { begins, holds, refused, until } from './tour.ts'

const GPU = 'NVIDIA L4'
const POOL = 'AMPERE_24'
/** Members of clusters are containers; these have no program to run. */
const IMAGE = 'registry.invalid/none:1'

export async function compute(plane: Podplane) {
  return { pod: await pod(plane), cluster: await cluster(plane), endpoint: await endpoint(plane), jobs: await jobs(plane) }
}

async function pod(plane: Podplane) {
  const body = { name: 'one', image: 'builtin/idle', env: { GREETING: 'hello' }, gpu: { id: GPU, count: 1 } }
  const preview = await plane.createPod({ body, query: { dryRun: true } })
  const headers = { 'Idempotency-Key': crypto.randomUUID() }
  const made = await plane.createPod({ body, headers })
  const again = await plane.createPod({ body, headers })
  if (!('id' in made && 'id' in again && 'fits' in preview)) throw new Error('a pod, and what it would be')
  const path = { id: made.id }
  const running = await plane.getPod({ path, query: { waitFor: 'RUNNING' } })
  const { pods } = await plane.listPods({ query: { includeClusterPods: true } })
  const logs = await begins((signal) => plane.getPodLogs({ path, query: { source: 'system' }, signal }))
  const lines = await plane.listPodLogLines({ path, query: { q: 'nowhere' } })
  const changed = await plane.updatePod({ path, body: { name: 'two' } })
  const why = await plane.explainPod({ path })
  const stopped = await plane.actOnPod({ path, body: { action: 'stop' } })
  await plane.deletePod({ path })
  const measured = await plane.getPodMetrics({ path, query: { step: 60 } })
  return {
    made: [preview.fits, made.name, again.id === made.id],
    running: [running.status, running.gpu?.id, running.env, holds(pods, made)],
    logs,
    changed: ['name' in changed && changed.name, stopped !== undefined],
    measured: measured.step,
    explained: [why.code, why.isStale],
    lines: [lines.atEnd, Array.isArray(lines.lines)],
    gone: [await refused(plane.getPod({ path })), await refused(begins((signal) => plane.getPodLogs({ path, signal })))],
  }
}

async function cluster(plane: Podplane) {
  const compute = { gpuTypeId: GPU, gpuCountPerPod: 1, podCount: 2 }
  const body = { name: 'one', type: 'TRAINING' as const, image: IMAGE, compute }
  const preview = await plane.createCluster({ body, query: { dryRun: true } })
  const made = await plane.createCluster({ body })
  if (!('id' in made && 'fits' in preview)) throw new Error('a cluster, and what it would be')
  const path = { id: made.id }
  const read = await plane.getCluster({ path })
  const { clusters } = await plane.listClusters()
  const { pods } = await plane.listClusterPods({ path })
  await plane.explainCluster({ path })
  const changed = await plane.updateCluster({ path, body: { name: 'two' } })
  await plane.deleteCluster({ path })
  return {
    made: [preview.fits, made.name, read.type, holds(clusters, made)],
    members: [read.pods.total, pods.map(({ name }) => name), pods.map((pod) => pod.cluster?.rank)],
    changed: changed.name,
    gone: await refused(plane.getCluster({ path })),
  }
}

async function endpoint(plane: Podplane) {
  const body = { name: 'one', image: 'builtin/probe', gpu: { pools: [POOL] }, workers: { max: 0 } }
  const preview = await plane.createEndpoint({ body, query: { dryRun: true } })
  const made = await plane.createEndpoint({ body })
  if (!('id' in made && 'fits' in preview)) throw new Error('an endpoint, and where its worker would go')
  const path = { id: made.id }
  const read = await plane.getEndpoint({ path })
  const { endpoints } = await plane.listEndpoints({ query: { limit: 1000 } })
  const changed = await plane.updateEndpoint({ path, body: { name: 'two' } })
  const { workers } = await plane.listEndpointWorkers({ path })
  const { releases } = await plane.listEndpointReleases({ path })
  const { builds } = await plane.listEndpointBuilds({ path })
  const scaling = await plane.listScalingDecisions({ path })
  await plane.explainEndpoint({ path })
  const { secret } = await plane.getWebhookSigningSecret()
  const rotated = await plane.rotateWebhookSigningSecret()
  const { deliveries } = await plane.listWebhookDeliveries({ query: { endpointId: made.id } })
  const redelivered = await refused(plane.redeliverWebhook({ path: { id: 'none' } }))
  const logs = await refused(begins((signal) => plane.getWorkerLogs({ path: { ...path, workerId: 'none' }, signal })))
  await plane.listEndpointLogLines({ path })
  const lines = await refused(plane.listWorkerLogLines({ path: { ...path, workerId: 'none' } }))
  const timeline = await plane.getEndpointTimeline({ path, query: { step: 60 } })
  const unknown = await refused(plane.getWorkerMetrics({ path: { ...path, workerId: 'none' } }))
  await plane.deleteEndpoint({ path })
  return {
    timeline: [timeline.series.length, unknown],
    made: [made.name, read.name, holds(endpoints, made), 'name' in changed && changed.name],
    parts: [workers.length, releases.length, builds.length, Object.keys(scaling).length > 0],
    webhooks: [secret === rotated.secret, deliveries.length, redelivered],
    gone: [await refused(plane.getEndpoint({ path })), logs, lines],
  }
}

async function jobs(plane: Podplane) {
  const body = { name: 'jobs', image: 'builtin/probe', gpu: { pools: [POOL] }, workers: { max: 1, idleTimeout: 300 } }
  const made = await plane.createEndpoint({ body })
  if (!('id' in made)) throw new Error('an endpoint')
  const endpointId = made.id
  const at = { endpointId }
  const run = (input: Record<string, unknown>) => plane.runJob({ path: at, body: { input } })
  const ended = (jobId: string) =>
    until(
      () => plane.awaitJob({ path: { ...at, jobId }, query: { wait: 20_000 } }),
      ({ status }) => status !== 'IN_QUEUE' && status !== 'IN_PROGRESS',
    )

  const synchronous = await plane.runJobSync({ path: at, body: { input: { n: 1 } }, query: { wait: 60_000 } })
  const failing = await run({ fail: 'as it should' })
  const failed = await ended(failing.id)
  const retried = await plane.retryJob({ path: { ...at, jobId: failing.id } })
  const failedAgain = await ended(failing.id)
  const streaming = await run({ chunks: 2 })
  const path = { ...at, jobId: streaming.id }
  await ended(streaming.id)
  const streams = [await plane.streamJob({ path }), await plane.streamJobByPost({ path })]
  const statuses = [await plane.getJobStatus({ path }), await plane.getJobStatusByPost({ path }), await plane.awaitJobByPost({ path })]
  const explained = await plane.explainJob({ path })
  await plane.getJobTimeline({ path })

  const sleeping = await run({ sleepMs: 600_000 })
  const waiting = await run({})
  const purged = await plane.purgeQueue({ path: at })
  const cancelled = await plane.cancelJob({ path: { ...at, jobId: sleeping.id } })
  const health = await plane.getQueueHealth({ path: at })
  const { requests } = await plane.listRequests({ path: at })
  await plane.cancelJobs({ path: at, body: { status: ['IN_QUEUE'] }, query: { dryRun: true } })
  const again = await plane.retryJobs({ path: at, body: { ids: ['none'] } })
  await plane.getJobBulk({ path: { ...at, bulkId: again.id ?? '' } })
  const measured = [await plane.getQueueMetrics({ path: at }), await plane.getRequestSeries({ path: at, query: { interval: 'm' } })]

  const [worker] = (await plane.listEndpointWorkers({ path: { id: endpointId } })).workers
  const ofWorker = { id: endpointId, workerId: worker?.id ?? '' }
  const logs = await begins((signal) => plane.getWorkerLogs({ path: ofWorker, query: { source: 'system', tail: 10 }, signal }))
  const openai = [
    await plane.postOpenai({ path: { ...at, route: 'v1/chat/completions' }, body: { model: 'one', messages: [] } }),
    await plane.callOpenai({ path: { ...at, route: 'v1/models' } }),
    await plane.putOpenai({ path: { ...at, route: 'v1/models/one' }, body: {} }),
    await plane.patchOpenai({ path: { ...at, route: 'v1/models/one' }, body: {} }),
    await plane.deleteOpenai({ path: { ...at, route: 'v1/models/one' } }),
  ] as { input: { openai_route: string } }[]
  await plane.deleteEndpoint({ path: { id: endpointId } })
  return {
    ended: [synchronous.status, synchronous.output, failed.status, failed.error, retried.status, failedAgain.status],
    streamed: [streams.map((part) => part.stream.length), statuses.map(({ status }) => status), explained !== undefined],
    stopped: [waiting.status, purged.removed, cancelled.status, health.jobs.failed, requests.length > 0],
    measured: measured.every((one) => one !== undefined),
    openai: openai.map(({ input }) => input.openai_route),
    logs,
  }
}
