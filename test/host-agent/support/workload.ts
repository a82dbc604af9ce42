import type { Workload } from '../../../src/host-protocol/messages.ts'

/** A workload as the plane would send it; `change` has the members that matter to the test. */
export function makeWorkload(change: Partial<Workload> & { id: string }): Workload {
  return {
    kind: 'pod',
    desired: 'running',
    stopGraceMs: 2_000,
    image: 'builtin/idle',
    entrypoint: [],
    cmd: [],
    env: {},
    platformEnv: {},
    ports: [],
    resources: { vcpus: 0, memoryMb: 0, diskGb: 0, gpu: null },
    ...change,
  }
}

/** The variables that the platform injects into a serverless worker. */
export function workerEnv(endpointId: string, workerId: string, origin = '{{relay_url}}'): Record<string, string> {
  const query = 'gpu=NVIDIA+L4&boot=b1'
  return {
    RUNPOD_WEBHOOK_GET_JOB: `${origin}/v2/${endpointId}/job-take/$ID?${query}`,
    RUNPOD_WEBHOOK_POST_OUTPUT: `${origin}/v2/${endpointId}/job-done/$RUNPOD_POD_ID/$ID?${query}`,
    RUNPOD_WEBHOOK_POST_STREAM: `${origin}/v2/${endpointId}/job-stream/$RUNPOD_POD_ID/$ID?${query}`,
    RUNPOD_WEBHOOK_PING: `${origin}/v2/${endpointId}/ping/$RUNPOD_POD_ID?${query}`,
    RUNPOD_PING_INTERVAL: '200',
    RUNPOD_AI_API_KEY: 'ppw_test_worker_key',
    RUNPOD_POD_ID: workerId,
  }
}
