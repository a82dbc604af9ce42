import { z } from 'zod'
import { TEMPLATE_CATEGORIES } from '../enums.ts'

// Bodies with flat names of members, which API v1 and GraphQL share (LEG-5): names and types. The verbs of v2 check the values.

export const Text = z.string()
export const Texts = z.array(Text)
export const Flag = z.boolean()
export const Whole = z.number().int()

/** Members of a container. */
export const container = {
  imageName: Text,
  containerDiskInGb: Whole,
  containerRegistryAuthId: Text,
  dockerEntrypoint: Texts,
  dockerStartCmd: Texts,
  env: z.record(Text, Text),
  ports: Texts,
}
/** Members of a persistent volume. */
export const volume = { volumeInGb: Whole.min(0), volumeMountPath: Text }

export const FlatPodPatch = z.strictObject({ ...container, ...volume, globalNetworking: Flag, locked: Flag, name: Text }).partial()
export type FlatPodPatch = z.infer<typeof FlatPodPatch>

const template = {
  ...container,
  ...volume,
  category: z.enum(TEMPLATE_CATEGORIES),
  isPublic: Flag,
  isServerless: Flag,
  name: Text,
  readme: Text,
}

export const FlatTemplateCreate = z.strictObject(template).partial().required({ name: true, imageName: true })
export type FlatTemplateCreate = z.infer<typeof FlatTemplateCreate>

export const FlatTemplatePatch = z.strictObject(template).partial()
export type FlatTemplatePatch = z.infer<typeof FlatTemplatePatch>
