import type { ChangePlan } from '../../contract/change-plan.ts'
import type { PodExplanation } from '../../contract/explain/explain.ts'
import type { LogLinesResponse } from '../../contract/logs/lines.ts'
import type { MetricsResponse } from '../../contract/metrics.ts'
import type { CreatePodRequest, ListPodsResponse, Pod, PodActionRequest, UpdatePodRequest } from '../../contract/pods/pods.ts'
import { as, create, events, get, patch, post, remove, socket } from '../operation.ts'

export const PODS_OPERATIONS = {
  execInPod: socket('/v2/pods/{id}/exec'),
  getPodMetrics: get('/v2/pods/{id}/metrics', as<typeof MetricsResponse>()),
  getPodLogs: events('/v2/pods/{id}/logs'),
  listPodLogLines: get('/v2/pods/{id}/logs/lines', as<typeof LogLinesResponse>()),
  listPods: get('/v2/pods', as<typeof ListPodsResponse>()),
  createPod: create('/v2/pods', as<typeof Pod>(), as<typeof CreatePodRequest>()),
  getPod: get('/v2/pods/{id}', as<typeof Pod>()),
  explainPod: get('/v2/pods/{id}/explain', as<typeof PodExplanation>()),
  updatePod: patch('/v2/pods/{id}', as<typeof Pod>(), as<typeof UpdatePodRequest>()),
  deletePod: remove('/v2/pods/{id}', as<typeof ChangePlan | undefined>()),
  actOnPod: post('/v2/pods/{id}/action', as<typeof Pod | undefined>(), as<typeof PodActionRequest>()),
}
