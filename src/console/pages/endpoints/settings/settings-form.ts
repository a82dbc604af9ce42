import type { Endpoint, UpdateEndpointRequest } from '../../../../contract/endpoints/endpoints.ts'
import { type EnvRow, envDiffers, envOf, rowsOf } from '../../../parts/env/env-rows.ts'

/** Settings of an endpoint, as text. */
export interface SettingsText {
  name: string
  image: string
  min: string
  max: string
  idleTimeout: string
  scaler: 'QUEUE_DELAY' | 'REQUEST_COUNT'
  scalerValue: string
  timeoutSeconds: string
  env: readonly EnvRow[]
}

const MS = 1_000

/** Returns the settings of an endpoint as form text; times are in seconds. */
export function settingsText({ name, image, workers, scaling, timeout, env }: Endpoint): SettingsText {
  return {
    name,
    image,
    min: String(workers.min),
    max: String(workers.max),
    idleTimeout: workers.idleTimeout === undefined ? '' : String(workers.idleTimeout),
    scaler: scaling.type,
    scalerValue: String(scaling.type === 'QUEUE_DELAY' ? scaling.queueDelay : scaling.requestCount),
    timeoutSeconds: String(timeout / MS),
    env: rowsOf(env),
  }
}

/** Number that the user typed; NaN for any other text, which the plane refuses with the expected format. */
export const numberOf = (text: string) => (text.trim() === '' ? Number.NaN : Number(text))

/** Returns the scaler of an update request; the queue delay is in seconds. */
export function scalingOf({ scaler, scalerValue }: Pick<SettingsText, 'scaler' | 'scalerValue'>) {
  return scaler === 'QUEUE_DELAY'
    ? { type: scaler, queueDelay: numberOf(scalerValue) }
    : { type: scaler, requestCount: numberOf(scalerValue) }
}

/** Update request with only the fields that differ. */
export function settingsChanges(text: SettingsText, before: SettingsText): UpdateEndpointRequest {
  const env = envOf(text.env)
  const was = envOf(before.env)
  const changed = (...names: (keyof SettingsText)[]) => names.some((name) => text[name] !== before[name])
  const workers = {
    ...(changed('min') && { min: numberOf(text.min) }),
    ...(changed('max') && { max: numberOf(text.max) }),
    ...(changed('idleTimeout') && text.idleTimeout !== '' && { idleTimeout: numberOf(text.idleTimeout) }),
  }
  return {
    ...(changed('name') && { name: text.name.trim() }),
    ...(changed('image') && { image: text.image.trim() }),
    ...(Object.keys(workers).length > 0 && { workers }),
    ...(changed('scaler', 'scalerValue') && { scaling: scalingOf(text) }),
    // The update replaces the whole environment, so unchanged variables are sent as they were read (END-11).
    ...(env.ok && was.ok && envDiffers(text.env, was.value) && { env: env.value }),
    ...(changed('timeoutSeconds') && { timeout: numberOf(text.timeoutSeconds) * MS }),
  }
}

/** Reason why the text cannot be sent; undefined if it can. */
export function settingsProblem({ env }: SettingsText): string | undefined {
  const read = envOf(env)
  return read.ok ? undefined : read.problem
}
