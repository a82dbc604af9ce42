import type { NetworkVolume } from '../../contract/resources/network-volumes.ts'
import type { CreateTemplateRequest, Template, UpdateTemplateRequest } from '../../contract/resources/templates.ts'
import type { V1CreateTemplate, V1UpdateTemplate } from '../../contract/v1/bodies.ts'
import { containerOf, persistentOf, v1Container } from './container.ts'

const DEFAULT_DISK_GB = 50

/** v2 body for a v1 template create (LEG-8). */
export function templateCreate(body: V1CreateTemplate): CreateTemplateRequest & { readme?: string } {
  const { name, imageName, volumeInGb = 0, volumeMountPath, readme } = body
  const persistent = persistentOf(volumeInGb, volumeMountPath)
  return {
    disk: DEFAULT_DISK_GB,
    ...containerOf(body),
    ...flagsOf(body),
    ...(persistent && { mounts: { persistent } }),
    name,
    image: imageName,
    ...(readme !== undefined && { readme }),
  }
}

/** Whether a v1 update needs the template's present mount, because it names only one of size and path. */
export function needsMount({ volumeInGb, volumeMountPath }: V1UpdateTemplate): boolean {
  return (volumeInGb === undefined) !== (volumeMountPath === undefined)
}

/** v2 body for a v1 update. `mounts`: the template's present mounts, if `needsMount`. */
export function templatePatch(body: V1UpdateTemplate, mounts: Template['mounts']): UpdateTemplateRequest & { readme?: string } {
  const { name, volumeInGb, volumeMountPath, readme } = body
  const isNamed = (volumeInGb ?? volumeMountPath) !== undefined
  const persistent = persistentOf(volumeInGb ?? mounts.persistent?.size ?? 0, volumeMountPath ?? mounts.persistent?.path)
  return {
    ...containerOf(body),
    ...flagsOf(body),
    ...(name !== undefined && { name }),
    ...(isNamed && { mounts: persistent ? { persistent } : {} }),
    ...(readme !== undefined && { readme }),
  }
}

function flagsOf({ category, isPublic, isServerless }: V1UpdateTemplate) {
  return {
    ...(category && { category }),
    ...(isPublic !== undefined && { public: isPublic }),
    ...(isServerless !== undefined && { serverless: isServerless }),
  }
}

/** A template as v1 shows it (LEG-7), with its readme, which is stored separately. */
export function v1Template(template: Template, readme = '') {
  const { persistent } = template.mounts
  return {
    id: template.id,
    name: template.name,
    ...v1Container(template),
    category: template.category,
    isPublic: template.public,
    isRunpod: false,
    isServerless: template.serverless,
    readme,
    volumeInGb: persistent?.size ?? 0,
    volumeMountPath: persistent?.path ?? '',
  }
}

/** A network volume as v1 shows it. */
export function v1Volume({ id, name, size, dataCenter }: NetworkVolume) {
  return { id, name, size, dataCenterId: dataCenter }
}
