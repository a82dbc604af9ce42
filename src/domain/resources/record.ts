import type { TemplateCategory } from '../../contract/enums.ts'
import type { ContainerSpec } from './container.ts'

/** A template as stored in D1; pods and endpoints are filled from it. */
export interface TemplateConfig {
  id: string
  teamId: string
  name: string
  container: ContainerSpec
  /** The only kind of mount that a template supports (MNT-6). */
  persistent: { sizeGb: number; path: string } | null
  serverless: boolean
  isPublic: boolean
  /** For display only (TPL-2). */
  category: TemplateCategory
  startSsh: boolean
  startJupyter: boolean
  allowedCudaVersions: string[]
  /** Fields that older interfaces store with a template, for display only (GQL-42). Absent: none. */
  notes?: TemplateNotes
}

/** Notes of a template for its users; the plane does not act on them. */
export interface TemplateNotes {
  readme?: string
  /** Display names of ports, by the port as listed in the template. */
  portNames?: Record<string, string>
  advancedStart?: boolean
}

/** Change of a template's notes: absent fields stay. */
export type TemplateNotesPatch = { [Name in keyof TemplateNotes]?: TemplateNotes[Name] | undefined }
