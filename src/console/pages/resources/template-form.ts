import { PROPOSED, TEMPLATE_DEFAULTS } from '../../../contract/defaults.ts'
import type { CreateTemplateRequest, Template, UpdateTemplateRequest } from '../../../contract/resources/templates.ts'
import {
  type ContainerText,
  containerBody,
  containerChanges,
  containerText,
  EMPTY_CONTAINER,
} from '../../parts/container/container-form.ts'
import { readNumber } from '../../parts/container/text-lists.ts'

/** Form of a template, as text. */
export interface TemplateText {
  name: string
  container: ContainerText
  persistentGb: string
  serverless: boolean
  public: boolean
  startSsh: boolean
  startJupyter: boolean
}

const FLAGS = ['serverless', 'public', 'startSsh', 'startJupyter'] as const

export const EMPTY_TEMPLATE: TemplateText = {
  name: '',
  container: EMPTY_CONTAINER,
  persistentGb: '',
  serverless: TEMPLATE_DEFAULTS.serverless,
  public: TEMPLATE_DEFAULTS.public,
  startSsh: TEMPLATE_DEFAULTS.startSsh,
  startJupyter: TEMPLATE_DEFAULTS.startJupyter,
}

/** Returns a template as form text. */
export function templateText(template: Template): TemplateText {
  const { name, mounts, serverless, startSsh, startJupyter } = template
  const persistentGb = mounts.persistent === undefined ? '' : String(mounts.persistent.size)
  return { name, container: containerText(template), persistentGb, serverless, public: template.public, startSsh, startJupyter }
}

/** Returns the create request of the form; fields with their default value are left out. */
export function createBody(text: TemplateText): CreateTemplateRequest {
  const { image = '', ...container } = containerBody(text.container)
  return { name: text.name, image, ...container, ...differing(text, EMPTY_TEMPLATE) }
}

/** Update request with only the fields that differ. */
export function updateBody(text: TemplateText, before: TemplateText): UpdateTemplateRequest {
  return {
    ...(text.name !== before.name && { name: text.name }),
    ...containerChanges(text.container, before.container),
    ...differing(text, before),
  }
}

function differing(text: TemplateText, before: TemplateText): Pick<UpdateTemplateRequest, 'mounts' | (typeof FLAGS)[number]> {
  const flags = FLAGS.filter((name) => text[name] !== before[name]).map((name) => [name, text[name]])
  return {
    ...Object.fromEntries(flags),
    ...(text.persistentGb !== before.persistentGb && { mounts: mountsOf(text) }),
  }
}

function mountsOf({ persistentGb }: TemplateText): NonNullable<UpdateTemplateRequest['mounts']> {
  const size = readNumber(persistentGb)
  return size === undefined ? {} : { persistent: { size, path: PROPOSED.mountPath } }
}
