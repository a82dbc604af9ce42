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
}
