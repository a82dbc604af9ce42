import type { ApiBody } from '../../../../client/client.ts'
import { ENDPOINT_DEFAULTS, PROPOSED } from '../../../../contract/defaults.ts'
import { type ContainerText, containerBody, EMPTY_CONTAINER } from '../../../parts/container/container-form.ts'
import type { HardwareText } from '../../../parts/hardware/hardware.tsx'
import type { ScalerText } from '../scaler-fields.tsx'
import { numberOf, scalingOf } from '../settings/settings-form.ts'

/** Form of a new endpoint, as text. */
export interface EndpointText extends ScalerText, HardwareText {
  name: string
  type: 'QUEUE' | 'LOAD_BALANCER'
  templateId: string
  pool: string
  container: ContainerText
  /** Fields that an option of the dry run has set; choosing other hardware clears them. */
  taken: Partial<ApiBody<'createEndpoint'>>
}

const QUEUE_SCALER = { scaler: ENDPOINT_DEFAULTS.scaling.type, scalerValue: String(ENDPOINT_DEFAULTS.scaling.queueDelay) }

export const EMPTY_ENDPOINT: EndpointText = {
  name: '',
  type: ENDPOINT_DEFAULTS.type,
  templateId: '',
  kind: 'gpu',
  pool: '',
  gpuCount: String(ENDPOINT_DEFAULTS.gpuCount),
  cpuId: '',
  vcpuCount: String(PROPOSED.vcpuCount),
  container: EMPTY_CONTAINER,
  taken: {},
  min: String(ENDPOINT_DEFAULTS.workers.min),
  max: String(ENDPOINT_DEFAULTS.workers.max),
  idleTimeout: String(ENDPOINT_DEFAULTS.workers.idleTimeout),
  ...QUEUE_SCALER,
}

/** Type of an endpoint, with the default scaling of that type. */
export function ofType(type: string): Pick<EndpointText, 'type' | 'scaler' | 'scalerValue'> {
  if (type === 'QUEUE') return { type, ...QUEUE_SCALER }
  const { type: scaler, requestCount } = ENDPOINT_DEFAULTS.balancerScaling
  return { type: 'LOAD_BALANCER', scaler, scalerValue: String(requestCount) }
}

/** Request body of the form; the template or the plane fills empty fields. */
export function endpointBody(text: EndpointText): ApiBody<'createEndpoint'> {
  const isDelay = text.scaler === 'QUEUE_DELAY'
  return {
    ...(text.name.trim() !== '' && { name: text.name.trim() }),
    type: text.type,
    ...(text.templateId !== '' && { templateId: text.templateId }),
    ...containerBody(text.container),
    ...(text.kind === 'gpu'
      ? { gpu: { pools: [text.pool], count: numberOf(text.gpuCount) } }
      : { cpu: [{ id: text.cpuId, vcpuCount: numberOf(text.vcpuCount) }] }),
    workers: { min: numberOf(text.min), max: numberOf(text.max), ...(isDelay && { idleTimeout: numberOf(text.idleTimeout) }) },
    scaling: scalingOf(text),
    ...text.taken,
  }
}

/** Fields in which another create request differs from this form, merged into those taken before. */
export function takenFrom(text: EndpointText, other: ApiBody<'createEndpoint'>): EndpointText['taken'] {
  const own = endpointBody(text) as Record<string, unknown>
  // The dry run uses a placeholder name.
  const changed = Object.entries(other).filter(([member, value]) => member !== 'name' && !isSame(own[member], value))
  return { ...text.taken, ...Object.fromEntries(changed) }
}

/** Whether two JSON values are equal; the order of the fields of an object does not matter. */
function isSame(own: unknown, other: unknown): boolean {
  if (typeof own !== 'object' || own === null || typeof other !== 'object' || other === null) return own === other
  return JSON.stringify(sorted(own)) === JSON.stringify(sorted(other))
}

function sorted(value: object): unknown {
  return Array.isArray(value) ? value : Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Reason why the form is incomplete; undefined if it can be sent. */
export function missingOf(text: EndpointText): string | undefined {
  if (text.templateId === '' && text.name.trim() === '') return 'Enter a name.'
  if (text.templateId === '' && text.container.image.trim() === '') return 'Enter an image.'
  if (text.kind === 'gpu' && text.pool === '') return 'Choose a GPU.'
  if (text.kind === 'cpu' && text.cpuId === '') return 'Choose a CPU.'
  return undefined
}
