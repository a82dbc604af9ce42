import type { TemplateConfig } from './record.ts'

/** Templates that clients name without having made them (GQL-36): owned by no account, unlisted, and the same on every plane. */
const SEED_TEMPLATES: readonly TemplateConfig[] = [
  {
    id: 'runpod-ubuntu',
    teamId: '',
    name: 'Ubuntu',
    container: { image: 'docker.io/library/ubuntu:24.04', args: '', diskGb: 10, env: {}, ports: ['22/tcp'], registry: null },
    persistent: null,
    serverless: false,
    isPublic: true,
    category: 'CPU',
    startSsh: true,
    startJupyter: false,
    allowedCudaVersions: [],
  },
]

/** Seed template with this id, or null. */
export function findSeedTemplate(id: string): TemplateConfig | null {
  return SEED_TEMPLATES.find((template) => template.id === id) ?? null
}
