import type { Template } from '../../contract/resources/templates.ts'
import { flatContainer } from '../flat/container.ts'

/** A template as v1 shows it (LEG-7), with its readme, which is stored separately. */
export function v1Template(template: Template, readme = '') {
  const { persistent } = template.mounts
  return {
    id: template.id,
    name: template.name,
    ...flatContainer(template),
    category: template.category,
    isPublic: template.public,
    isRunpod: false,
    isServerless: template.serverless,
    readme,
    volumeInGb: persistent?.size ?? 0,
    volumeMountPath: persistent?.path ?? '',
  }
}
