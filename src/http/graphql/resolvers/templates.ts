import type { TemplateSource } from '../../../contract/catalog/query.ts'
import { CreateTemplateRequest, templateNoteFields, UpdateTemplateRequest } from '../../../contract/resources/templates.ts'
import { endpointOfTemplate, flatEndpoint, implicitTemplateId } from '../../../domain/graphql/endpoints.ts'
import {
  type FlatTemplate,
  flatTemplate,
  needsCurrent,
  type TemplateInput,
  templateBody,
  templateEdit,
} from '../../../domain/graphql/templates.ts'
import type { TemplateConfig } from '../../../domain/resources/record.ts'
import { loadCatalog } from '../../../effects/catalog.ts'
import { listCatalogTemplates } from '../../../services/catalog/templates.ts'
import { toEndpoint } from '../../../services/endpoints/endpoint-view.ts'
import { getEndpoint } from '../../../services/endpoints/endpoints.ts'
import { toTemplate } from '../../../services/resources/template-view.ts'
import * as templates from '../../../services/resources/templates.ts'
import { readPages } from '../../pages.ts'
import { type Call, once, type Resolvers } from '../call.ts'
import { checked, mapped, needed } from '../checked.ts'
import { orNull } from '../or-null.ts'
import { NOWHERE, saveEndpoint } from './endpoints.ts'

const OFFICIAL: readonly TemplateSource[] = ['official']
const OTHERS: readonly TemplateSource[] = ['verified', 'community']

const NewTemplate = CreateTemplateRequest.extend(templateNoteFields)
const TemplateEdit = UpdateTemplateRequest.extend(templateNoteFields)

/** Resolvers of templates (GQL-22). */
export const TEMPLATE_RESOLVERS: Resolvers = {
  Query: {
    podTemplates: async (_, { input }, call) => {
      const sources = input?.isRunpod === true ? OFFICIAL : input?.isRunpod === false ? OTHERS : [...OFFICIAL, ...OTHERS]
      // Bounded: three kinds of templates.
      return (await Promise.all(sources.map((source) => listPublic(call, source)))).flat()
    },
    podTemplate: (_, { id }, call) => (call.isKnown ? orNull(() => readTemplate(call, id ?? '')) : readPublic(call, id ?? '')),
  },
  PodTemplate: {
    isRunpod: async ({ id, isRunpod }: FlatTemplate, _, call) =>
      isRunpod ?? (await listPublic(call, 'official')).some((one) => one.id === id),
  },
  Mutation: {
    saveTemplate: async (_, { input }: { input?: TemplateInput | null }, call) => saveTemplate(call, needed(input)),
    deleteTemplate: async (_, { templateName, templateId }, { ctx }) => {
      if (templateId) await templates.deleteTemplate(ctx, templateId)
      else await templates.deleteTemplateNamed(ctx, needed(templateName, 'templateName'))
      return null
    },
  },
}

/** All templates of the account. */
export async function listOwnTemplates({ ctx }: Call): Promise<FlatTemplate[]> {
  const all = await readPages(async (cursor) => {
    const page = await templates.listTemplates(ctx, { limit: 1000, cursor })
    return { items: page.templates, next: page.pagination.nextCursor }
  })
  return all.map((template) => show(template))
}

function listPublic(call: Call, source: TemplateSource): Promise<FlatTemplate[]> {
  return once(call, `templates ${source}`, async () => {
    const listed = await listCatalogTemplates(call.ctx, source)
    return listed.map((template) => show(template, source === 'official'))
  })
}

async function readTemplate({ ctx }: Call, id: string) {
  const endpointId = endpointOfTemplate(id)
  if (endpointId === null) return show(await templates.getTemplate(ctx, id))
  const config = await getEndpoint(ctx, endpointId)
  const endpoint = toEndpoint(await loadCatalog(ctx.env), config, NOWHERE)
  return { ...flatEndpoint(endpoint, config, ctx.principal.userId).template, id: implicitTemplateId(endpointId) }
}

/** Reads a template without a key: a template that is not public is absent (GQL-3). */
async function readPublic({ ctx }: Call, id: string) {
  const template = await templates.findTemplate(ctx.env, ctx.principal.teamId, id)
  return template && show(template)
}

async function saveTemplate(call: Call, input: TemplateInput) {
  const { ctx, key } = call
  if (!input.id) return show(await templates.createTemplate(ctx, checked(NewTemplate, mapped(templateBody(input))), key))
  // An implicit template id names the container of an endpoint without a template (GQL-63).
  const endpointId = endpointOfTemplate(input.id)
  if (endpointId !== null) return (await saveEndpoint(call, { id: endpointId, template: input })).template
  const current = needsCurrent(input) ? toTemplate(await templates.getTemplate(ctx, input.id)) : undefined
  return show(await templates.updateTemplate(ctx, input.id, checked(TemplateEdit, mapped(templateEdit(input, current)))))
}

function show(template: TemplateConfig, isRunpod?: boolean): FlatTemplate {
  return flatTemplate(toTemplate(template), template.notes, isRunpod)
}
