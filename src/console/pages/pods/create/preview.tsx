import type { CreatePodRequest, PodPlacementPreview } from '../../../../contract/pods/pods.ts'
import type { Live } from '../../../hooks/live.ts'
import { Foretold, type PreviewProps, Price, useDryRun } from '../../../parts/explain/preview.tsx'
import { perHour } from '../../../parts/format.ts'
import { Misfit } from './misfit.tsx'
import { askedBody, missingOf, type PodText } from './pod-form.ts'

/** Current placement of the pod (POD-21). */
export function usePodPreview(text: PodText): Live<PodPlacementPreview> {
  return useDryRun('pod-preview', askedBody(text), missingOf(text) === undefined, (api, body, signal) =>
    api.previewPod({ body }, { signal }),
  )
}

/** Outcome of creating the pod: placement and cost, or the obstacles and the options that would fit instead. */
export function PreviewPanel(props: PreviewProps<PodPlacementPreview, CreatePodRequest>) {
  return (
    <Foretold
      {...props}
      price={({ cost }) => <Price text={perHour(cost)} />}
      fitText={({ dataCenterId }) => `Fits now${dataCenterId === null ? '' : ` in ${dataCenterId}`}.`}
      obstacles={({ hosts }) => <Misfit hosts={hosts} />}
    />
  )
}
