import { z } from 'zod'
import { orChangePlan } from '../change-plan.ts'
import { TEMPLATE_DEFAULTS } from '../defaults.ts'
import { TEMPLATE_CATEGORIES } from '../enums.ts'
import { CudaVersions, LINES_TEXT, Name, PLAIN_TEXT } from '../fields.ts'
import { countsField } from '../list-query.ts'
import { Pagination } from '../pagination.ts'
import { containerRequestFields, containerResponseFields, Image } from '../pods/container.ts'
import { PersistentMount } from '../pods/mounts.ts'

export const TemplateCategory = z
  .enum(TEMPLATE_CATEGORIES)
  .meta({ id: 'TemplateCategory', description: 'For display only.', example: 'NVIDIA' })

/** Only `persistent`: any other kind is an unknown member (MNT-6). */
export const TemplateMounts = z
  .strictObject({ persistent: PersistentMount.optional() })
  .meta({ id: 'TemplateMounts', example: { persistent: { size: 20, path: '/workspace' } } })

const CredentialId = z.string().regex(PLAIN_TEXT)

const SERVERLESS_TEXT = 'For endpoints, not for pods.'
const PUBLIC_TEXT = 'Every account may read and use it, env included.'

const requestFields = {
  ...containerRequestFields,
  registry: z
    .union([CredentialId, z.strictObject({ id: CredentialId }), z.null()])
    .optional()
    .meta({
      description: 'Id of a registry credential, also as `{"id"}`; null or empty for none.',
    }),
  mounts: TemplateMounts.optional().meta({ description: 'On update replaces what was there; `{}` removes it.' }),
  serverless: z.boolean().optional().meta({ description: SERVERLESS_TEXT }),
  public: z.boolean().optional().meta({ description: PUBLIC_TEXT }),
  category: TemplateCategory.optional(),
  startSsh: z.boolean().optional(),
  startJupyter: z.boolean().optional(),
  allowedCudaVersions: CudaVersions.optional().meta({ description: 'Exact CUDA versions; empty for any.' }),
}

const EXAMPLE = {
  name: 'pytorch',
  image: 'registry.example.com/pytorch:2',
  disk: 50,
  ports: ['8888/http', '22/tcp'],
  mounts: { persistent: { size: 20, path: '/workspace' } },
}

/** The same example as an answer. */
const READ_EXAMPLE = {
  id: '9x4m2p7v1k8h3d',
  ...EXAMPLE,
  args: '',
  entrypoint: [],
  cmd: [],
  env: {},
  registry: null,
  serverless: false,
  public: false,
  category: 'NVIDIA',
  startSsh: true,
  startJupyter: true,
  allowedCudaVersions: [],
}

export const CreateTemplateRequest = z
  .strictObject({
    ...requestFields,
    name: Name.meta({ description: 'Unique in the account.' }),
    image: Image,
    disk: requestFields.disk.meta({ default: TEMPLATE_DEFAULTS.disk }),
    serverless: requestFields.serverless.meta({ description: SERVERLESS_TEXT, default: TEMPLATE_DEFAULTS.serverless }),
    public: requestFields.public.meta({ description: PUBLIC_TEXT, default: TEMPLATE_DEFAULTS.public }),
    category: requestFields.category.meta({ default: TEMPLATE_DEFAULTS.category }),
    startSsh: requestFields.startSsh.meta({ default: TEMPLATE_DEFAULTS.startSsh }),
    startJupyter: requestFields.startJupyter.meta({ default: TEMPLATE_DEFAULTS.startJupyter }),
  })
  .meta({ id: 'CreateTemplateRequest', example: EXAMPLE })
export type CreateTemplateRequest = z.infer<typeof CreateTemplateRequest>

export const UpdateTemplateRequest = z.strictObject({ ...requestFields, name: Name.optional() }).meta({
  id: 'UpdateTemplateRequest',
  description: 'Omitted members stay unchanged. Pods and endpoints that were created from the template stay unchanged.',
  example: { env: { MODEL: 'small' } },
})
export type UpdateTemplateRequest = z.infer<typeof UpdateTemplateRequest>

/** Longest readme, characters. */
const MAX_README = 64 * 1024
const MAX_PORT_NAME = 64

/** Members that older APIs store with a template (GQL-42). */
export const templateNoteFields = {
  readme: z.string().max(MAX_README).regex(LINES_TEXT).optional(),
  /** Names of ports, by the port's string in `ports`. */
  portNames: z.record(z.string().regex(PLAIN_TEXT), z.string().max(MAX_PORT_NAME).regex(PLAIN_TEXT)).optional(),
  advancedStart: z.boolean().optional(),
}

export const Template = z
  .object({
    id: z.string(),
    name: z.string(),
    ...containerResponseFields,
    registry: z.string().nullable().meta({ description: "Id of a registry credential; null on other accounts' templates." }),
    mounts: TemplateMounts,
    serverless: z.boolean(),
    public: z.boolean(),
    category: TemplateCategory,
    startSsh: z.boolean(),
    startJupyter: z.boolean(),
    allowedCudaVersions: z.array(z.string()),
  })
  .meta({ id: 'Template', description: 'A container configuration stored under a name.', example: READ_EXAMPLE })
export type Template = z.infer<typeof Template>

export const TemplateOrChangePlan = orChangePlan('TemplateOrChangePlan', Template)

export const ListTemplatesResponse = z
  .object({ templates: z.array(Template), pagination: Pagination, ...countsField })
  .meta({ id: 'ListTemplatesResponse', example: { templates: [READ_EXAMPLE], pagination: { nextCursor: null, hasNextPage: false } } })
