import type { FlatTemplateCreate, FlatTemplatePatch } from '../../contract/flat/bodies.ts'
import type { CreateTemplateRequest, Template, UpdateTemplateRequest } from '../../contract/resources/templates.ts'
import { containerOf, persistentOf } from './container.ts'

const DEFAULT_DISK_GB = 50

/** v2 body for a create with flat fields (LEG-8). */
export function templateCreate(body: FlatTemplateCreate): CreateTemplateRequest & { readme?: string } {
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

/** Whether an update with flat fields needs the template's present mount, because it names only one of size and path. */
export function needsMount({ volumeInGb, volumeMountPath }: FlatTemplatePatch): boolean {
  return (volumeInGb === undefined) !== (volumeMountPath === undefined)
}

/** v2 body for an update with flat fields. `mounts`: the template's present mounts, if `needsMount`. */
export function templatePatch(body: FlatTemplatePatch, mounts: Template['mounts']): UpdateTemplateRequest & { readme?: string } {
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

function flagsOf({ category, isPublic, isServerless }: FlatTemplatePatch) {
  return {
    ...(category && { category }),
    ...(isPublic !== undefined && { public: isPublic }),
    ...(isServerless !== undefined && { serverless: isServerless }),
  }
}
