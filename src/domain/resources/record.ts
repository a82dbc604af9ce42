import type { ContainerSpec } from './container.ts'

/** The stored form of a template: what D1 owns, and what a pod or endpoint is filled from. */
export interface TemplateConfig {
  id: string
  teamId: string
  name: string
  container: ContainerSpec
  /** The one kind of mount that a template knows (MNT-6). */
  persistent: { sizeGb: number; path: string } | null
  serverless: boolean
  isPublic: boolean
  /** For display only (TPL-2). */
  category: 'CPU' | 'NVIDIA' | 'AMD'
  startSsh: boolean
  startJupyter: boolean
  allowedCudaVersions: string[]
  /** What older interfaces keep with a template, for display only (GQL-42). Absent: nothing. */
  notes?: TemplateNotes
}

/** What a template tells whoever uses it; nothing here acts on it. */
export interface TemplateNotes {
  readme?: string
  /** Names of its ports, by the port as the template has it. */
  portNames?: Record<string, string>
  advancedStart?: boolean
}

/** A change of them: what is left out stays. */
export type TemplateNotesPatch = { [Name in keyof TemplateNotes]?: TemplateNotes[Name] | undefined }
