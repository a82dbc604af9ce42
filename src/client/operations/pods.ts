import type { ChangePlan } from '../../contract/change-plan.ts'
import type { CreatePodRequest, ListPodsResponse, Pod, PodActionRequest, UpdatePodRequest } from '../../contract/pods/pods.ts'
import { as, create, events, get, patch, post, remove, socket } from '../operation.ts'

export const PODS_OPERATIONS = {
  execInPod: socket('/v2/pods/{id}/exec'),
  getPodLogs: events('/v2/pods/{id}/logs'),
  listPods: get('/v2/pods', as<typeof ListPodsResponse>()),
  createPod: create('/v2/pods', as<typeof Pod>(), as<typeof CreatePodRequest>()),
  getPod: get('/v2/pods/{id}', as<typeof Pod>()),
  updatePod: patch('/v2/pods/{id}', as<typeof Pod>(), as<typeof UpdatePodRequest>()),
  deletePod: remove('/v2/pods/{id}', as<typeof ChangePlan | undefined>()),
  actOnPod: post('/v2/pods/{id}/action', as<typeof Pod | undefined>(), as<typeof PodActionRequest>()),
}
