import type { Template } from '../../contract/resources/templates.ts'
import { decodeArgs } from '../../domain/resources/container.ts'
import type { TemplateConfig } from '../../domain/resources/record.ts'

/** Returns a template in the format of REST (TPL-3). */
export function toTemplate(template: TemplateConfig): Template {
  const { container, persistent } = template
  return {
    id: template.id,
    name: template.name,
    args: container.args,
    ...decodeArgs(container.args),
    disk: container.diskGb,
    env: container.env,
    image: container.image,
    ports: container.ports,
    registry: container.registry,
    mounts: persistent ? { persistent: { size: persistent.sizeGb, path: persistent.path } } : {},
    serverless: template.serverless,
    public: template.isPublic,
    category: template.category,
    startSsh: template.startSsh,
    startJupyter: template.startJupyter,
    allowedCudaVersions: template.allowedCudaVersions,
  }
}
