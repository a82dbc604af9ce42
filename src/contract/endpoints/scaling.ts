import { z } from 'zod'
import { ScalingDecisionView } from '../jobs/explain.ts'
import { EndpointScaling } from './endpoint-parts.ts'

const Count = z.number().int().min(0)

/** A decision that changed something, and what it changed. */
export const ScalingEvent = ScalingDecisionView.extend({ started: Count, stopped: Count }).meta({ id: 'ScalingEvent' })
export type ScalingEvent = z.infer<typeof ScalingEvent>

export const ListScalingResponse = z
  .object({
    scaling: EndpointScaling,
    decisions: z.array(ScalingEvent).meta({ description: 'Newest first; the last 200 that changed something.' }),
  })
  .meta({ id: 'ListScalingResponse' })
export type ListScalingResponse = z.infer<typeof ListScalingResponse>
