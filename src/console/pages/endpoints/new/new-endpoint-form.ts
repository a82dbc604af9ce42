import type { ApiBody } from '../../../../client/client.ts'
import { type ContainerText, containerBody, EMPTY_CONTAINER } from '../../../parts/container/container-form.ts'
import type { ScalerText } from '../scaler-fields.tsx'
import { numberOf, scalingOf } from '../settings/settings-form.ts'

/** A new endpoint as one types it. */
export interface EndpointText extends ScalerText {
  name: string
  type: 'QUEUE' | 'LOAD_BALANCER'
  templateId: string
  kind: 'gpu' | 'cpu'
  pool: string
  gpuCount: string
  cpuId: string
  vcpuCount: string
  container: ContainerText
}

export const EMPTY_ENDPOINT: EndpointText = {
  name: '',
  type: 'QUEUE',
  templateId: '',
  kind: 'gpu',
  pool: '',
  gpuCount: '1',
  cpuId: '',
  vcpuCount: '2',
  container: EMPTY_CONTAINER,
  min: '0',
  max: '3',
  idleTimeout: '5',
  scaler: 'QUEUE_DELAY',
  scalerValue: '4',
}

/** What it asks for; what is empty is left to the template, or to the plane. */
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
  }
}

/** What is still missing; undefined: it can be sent. */
export function missingOf(text: EndpointText): string | undefined {
  if (text.templateId === '' && text.name.trim() === '') return 'Give it a name.'
  if (text.templateId === '' && text.container.image.trim() === '') return 'Say which image it runs.'
  if (text.kind === 'gpu' && text.pool === '') return 'Choose a GPU.'
  if (text.kind === 'cpu' && text.cpuId === '') return 'Choose a CPU.'
  return undefined
}
