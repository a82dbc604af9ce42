import type { Endpoint } from '../../../contract/endpoints/endpoints.ts'
import type { ListWorkersResponse } from '../../../contract/endpoints/workers.ts'
import { type Live, useLive } from '../../hooks/live.ts'

/** Configuration of an endpoint. */
export function useEndpoint(id: string): Live<Endpoint> {
  return useLive(['endpoints', id], (api, signal) => api.getEndpoint({ path: { id } }, { signal }))
}

/** Number of an endpoint's jobs and workers in each state. */
export function useHealth(id: string, everyMs?: number) {
  const options = everyMs === undefined ? {} : { everyMs }
  return useLive(['health', id], (api, signal) => api.getQueueHealth({ path: { endpointId: id } }, { signal }), options)
}

/** Workers of an endpoint. */
export function useWorkers(id: string): Live<ListWorkersResponse> {
  return useLive(['workers', id], (api, signal) => api.listEndpointWorkers({ path: { id } }, { signal }))
}
