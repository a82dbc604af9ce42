import { FlatTemplateCreate, FlatTemplatePatch } from '../../contract/flat/bodies.ts'
import { CreateNetworkVolumeRequest, UpdateNetworkVolumeRequest } from '../../contract/resources/network-volumes.ts'
import { CreateRegistryRequest } from '../../contract/resources/registries.ts'
import { CreateTemplateRequest, templateNoteFields, UpdateTemplateRequest } from '../../contract/resources/templates.ts'
import { V1CreateRegistry, V1CreateVolume, V1UpdateVolume } from '../../contract/v1/bodies.ts'
import { needsMount, templateCreate, templatePatch } from '../../domain/flat/templates.ts'
import { flatVolume } from '../../domain/flat/volumes.ts'
import type { TemplateConfig } from '../../domain/resources/record.ts'
import { v1Template } from '../../domain/v1/resources.ts'
import * as volumes from '../../services/resources/network-volumes.ts'
import * as registries from '../../services/resources/registries.ts'
import { toTemplate } from '../../services/resources/template-view.ts'
import * as templates from '../../services/resources/templates.ts'
import { readPages } from '../pages.ts'
import { asV2, type V1Call, type V1Route, v1BodyRoute, v1DeleteRoute, v1Route } from './route.ts'

const { readme } = templateNoteFields
const NewTemplate = CreateTemplateRequest.extend({ readme })
const TemplateEdit = UpdateTemplateRequest.extend({ readme })

/** Templates, network volumes and registry credentials of v1 (LEG-8). */
export const RESOURCE_ROUTES: readonly V1Route[] = [
  v1Route('GET', '/templates', 'templates:read', async ({ c, ctx }) => {
    const all = await readPages(async (cursor) => {
      const page = await templates.listTemplates(ctx, { limit: 1000, cursor })
      return { items: page.templates, next: page.pagination.nextCursor }
    })
    return c.json(all.map(shownTemplate), 200)
  }),
  v1BodyRoute('POST', '/templates', 'templates:write', FlatTemplateCreate, async ({ c, ctx, body, key }) =>
    c.json(shownTemplate(await templates.createTemplate(ctx, asV2(NewTemplate, templateCreate(body)), key)), 200),
  ),
  v1Route('GET', '/templates/:id', 'templates:read', async ({ c, ctx, id }) =>
    c.json(shownTemplate(await templates.getTemplate(ctx, id)), 200),
  ),
  v1BodyRoute('PATCH', '/templates/:id', 'templates:write', FlatTemplatePatch, updateTemplate),
  v1BodyRoute('POST', '/templates/:id/update', 'templates:write', FlatTemplatePatch, updateTemplate),
  v1DeleteRoute('/templates/:id', 'templates:write', templates.deleteTemplate),

  v1Route('GET', '/networkvolumes', 'volumes:read', async ({ c, ctx }) => c.json((await volumes.listVolumes(ctx)).map(flatVolume), 200)),
  v1BodyRoute('POST', '/networkvolumes', 'volumes:write', V1CreateVolume, async ({ c, ctx, body, key }) => {
    const { dataCenterId: dataCenter, ...rest } = body
    return c.json(flatVolume(await volumes.createVolume(ctx, asV2(CreateNetworkVolumeRequest, { ...rest, dataCenter }), key)), 200)
  }),
  v1Route('GET', '/networkvolumes/:id', 'volumes:read', async ({ c, ctx, id }) =>
    c.json(flatVolume(await volumes.getVolume(ctx, id)), 200),
  ),
  v1BodyRoute('PATCH', '/networkvolumes/:id', 'volumes:write', V1UpdateVolume, updateVolume),
  v1BodyRoute('POST', '/networkvolumes/:id/update', 'volumes:write', V1UpdateVolume, updateVolume),
  v1DeleteRoute('/networkvolumes/:id', 'volumes:write', volumes.deleteVolume),

  v1Route('GET', '/containerregistryauth', 'registries:read', async ({ c, ctx }) =>
    c.json((await registries.listRegistries(ctx)).map(shownRegistry), 200),
  ),
  v1BodyRoute('POST', '/containerregistryauth', 'registries:write', V1CreateRegistry, async ({ c, ctx, body, key }) =>
    c.json(shownRegistry(await registries.createRegistry(ctx, asV2(CreateRegistryRequest, body), key)), 200),
  ),
  v1Route('GET', '/containerregistryauth/:id', 'registries:read', async ({ c, ctx, id }) =>
    c.json(shownRegistry(await registries.getRegistry(ctx, id)), 200),
  ),
  v1DeleteRoute('/containerregistryauth/:id', 'registries:write', registries.deleteRegistry),
]

async function updateTemplate({ c, ctx, id, body }: V1Call<FlatTemplatePatch>): Promise<Response> {
  const mounts = needsMount(body) ? toTemplate(await templates.getTemplate(ctx, id)).mounts : {}
  const patch = asV2(TemplateEdit, templatePatch(body, mounts))
  return c.json(shownTemplate(await templates.updateTemplate(ctx, id, patch)), 200)
}

async function updateVolume({ c, ctx, id, body }: V1Call<V1UpdateVolume>): Promise<Response> {
  return c.json(flatVolume(await volumes.updateVolume(ctx, id, asV2(UpdateNetworkVolumeRequest, body))), 200)
}

function shownTemplate(template: TemplateConfig) {
  return v1Template(toTemplate(template), template.notes?.readme)
}

function shownRegistry({ id, name }: { id: string; name: string }) {
  return { id, name }
}
