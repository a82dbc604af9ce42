import type { CreateEndpointRequest } from '../../../../contract/endpoints/endpoints.ts'
import type { EndpointPlacementPreview } from '../../../../contract/endpoints/placement-preview.ts'
import type { Live } from '../../../hooks/live.ts'
import { Foretold, InTheWay, type PreviewProps, Price, useDryRun } from '../../../parts/explain/preview.tsx'
import { perHour } from '../../../parts/format.ts'

/** Current placement of a worker (DRY-18). */
export function useEndpointPreview(body: CreateEndpointRequest, isComplete: boolean): Live<EndpointPlacementPreview> {
  // The name does not affect placement, so a change of it sends no new dry run.
  const asked = { ...body, name: 'endpoint' }
  return useDryRun('endpoint-preview', asked, isComplete, (api, sent, signal) => api.previewEndpoint({ body: sent }, { signal }))
}

/** Outcome for the first job: a worker with its price, or the obstacles and the options that would fit instead. */
export function EndpointPreview(props: PreviewProps<EndpointPlacementPreview, CreateEndpointRequest>) {
  return (
    <Foretold
      {...props}
      price={({ cost, costAtLeast, costAtMost }) => (
        <>
          <Price text={`${perHour(cost)} per worker`} />
          <p className="text-soft tabular-nums">
            {perHour(costAtLeast)} without jobs, {perHour(costAtMost)} at most.
          </p>
        </>
      )}
      fitText={({ dataCenterId }) => `A worker fits now${dataCenterId === null ? '' : ` in ${dataCenterId}`}.`}
      obstacles={({ missing }) => (
        <InTheWay title="No worker would start now. You can create the endpoint, but its jobs would wait." lines={missing} />
      )}
    />
  )
}
