import type { TemplateSource } from '../../contract/catalog/query.ts'
import { openRecords } from '../../db/client.ts'
import { listPublicTemplates } from '../../db/resources/public-templates.ts'
import type { TemplateConfig } from '../../domain/resources/record.ts'
import { withoutCredential } from '../../domain/resources/template.ts'
import type { VerbContext } from '../context.ts'

/** Limits of one answer in templates (CAT-6) and bytes: a hundred of the largest would not fit into a Worker's memory. */
const MAX_TEMPLATES = 100
const MAX_BYTES = 8 * 1024 * 1024

/** Returns public templates of one source, newest first, without the credentials of other accounts (CAT-6, TPL-3). */
export async function listCatalogTemplates({ env, principal }: VerbContext, source: TemplateSource): Promise<TemplateConfig[]> {
  const templates = await listPublicTemplates(openRecords(env), source, MAX_TEMPLATES, MAX_BYTES)
  return templates.map((template) => (template.teamId === principal.teamId ? template : withoutCredential(template)))
}
