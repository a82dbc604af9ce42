import type { Command } from 'commander'
import { type Column, columns } from '../output/columns.ts'
import { act, collect, examples, noun, plannable, planOne, wholeNumber } from '../session/act.ts'
import type { Kind } from '../session/names.ts'
import { type Answer, readPages } from '../session/pages.ts'
import type { Session } from '../session/session.ts'

/** Resource kind with the same commands: list, get, create, update, delete. */
interface Resource<Row extends { id: string; name: string }> {
  name: string
  aliases: readonly string[]
  one: string
  /** Name of the arguments, which selects the lists for name lookup (CMD-17). */
  argument: Kind
  description: string
  columns: readonly Column<Row>[]
  /** Text for the confirmation of a deletion. */
  loss: string
  list(session: Session, all: boolean | undefined): Promise<{ answer: object; rows: readonly Row[] }>
  get?(session: Session, id: string): Promise<object>
  create?(session: Session, body: Record<string, unknown>): Promise<Row>
  /** With `dryRun` it returns the plan, if `canPlanUpdate` is set. */
  update?(session: Session, id: string, body: Record<string, unknown>, query?: { dryRun?: true }): Promise<object>
  canPlanUpdate?: true
  /** With `dryRun` it returns the plan. */
  remove(session: Session, id: string, query?: { dryRun?: true }): Promise<unknown>
  example: string
}

type Body = never

/** Adds the commands for templates, volumes, global volumes, registries and secrets. */
export function addResources(program: Command): void {
  addTemplates(program)
  addVolumes(program)
  addGlobalVolumes(program)
  addRegistries(program)
  addSecrets(program)
}

function addTemplates(program: Command): void {
  add<Answer<'getTemplate'>>(program, {
    name: 'templates',
    aliases: ['template'],
    one: 'template',
    argument: 'template',
    description: 'named container configurations',
    columns: columns('id', 'name', 'image', 'category', 'serverless', 'public'),
    loss: 'Pods and endpoints that were created from it are not changed.',
    async list(session, all) {
      const answer = await readPages(session, (query) => session.api.listTemplates({ query }), all)
      return { answer, rows: answer.templates }
    },
    get: (session, id) => session.api.getTemplate({ path: { id } }),
    create: (session, body) => session.api.createTemplate({ body: body as Body }),
    update: (session, id, body, query = {}) => session.api.updateTemplate({ path: { id }, query, body: body as Body }),
    canPlanUpdate: true,
    remove: (session, id, query = {}) => session.api.deleteTemplate({ path: { id }, query }),
    example: `templates create --body '{"name":"torch","image":"pytorch/pytorch:2.6.0","disk":50}'`,
  })
}

function addVolumes(program: Command): void {
  const volumes = add<Answer<'getNetworkVolume'>>(program, {
    name: 'volumes',
    aliases: ['volume', 'network-volumes'],
    one: 'volume',
    argument: 'volume',
    description: 'storage in one data center that outlives pods',
    columns: columns('id', 'name', 'size', 'dataCenter', 'type', 'usedBytes'),
    loss: 'Everything on it is lost.',
    async list(session) {
      const answer = await session.api.listNetworkVolumes()
      return { answer, rows: answer.networkVolumes }
    },
    get: (session, id) => session.api.getNetworkVolume({ path: { id } }),
    create: (session, body) => session.api.createNetworkVolume({ body: body as Body }),
    update: (session, id, body, query = {}) => session.api.updateNetworkVolume({ path: { id }, query, body: body as Body }),
    canPlanUpdate: true,
    remove: (session, id, query = {}) => session.api.deleteNetworkVolume({ path: { id }, query }),
    example: `volumes create --body '{"name":"data","size":100,"dataCenter":"LOCAL-1"}'`,
  })
  const resize = plannable(volumes.command('resize <volume> <gb>').description('make a volume larger; it cannot shrink again'))
  act(resize, async (session, { plan }: { plan?: boolean }, id: string, size: string) => {
    const given = { path: { id }, body: { size: wholeNumber(size) } }
    if (plan) return planOne(session, (query) => session.api.updateNetworkVolume({ ...given, query }))
    const volume = await session.api.updateNetworkVolume(given)
    session.out.done(volume, id, `volume ${id} has ${volume.size} GB`)
  })
  examples(resize, 'volumes resize data 200 --plan', 'volumes resize data 200')
}

function addGlobalVolumes(program: Command): void {
  add<Answer<'getGlobalVolume'>>(program, {
    name: 'global-volumes',
    aliases: ['global-volume'],
    one: 'global volume',
    argument: 'global-volume',
    description: 'storage that pods in every data center can mount',
    columns: columns('id', 'name'),
    loss: 'Everything on it is lost.',
    async list(session) {
      const answer = await session.api.listGlobalVolumes()
      return { answer, rows: answer.globalVolumes }
    },
    get: (session, id) => session.api.getGlobalVolume({ path: { id } }),
    create: (session, body) => session.api.createGlobalVolume({ body: body as Body }),
    update: (session, id, body) => session.api.updateGlobalVolume({ path: { id }, body: body as Body }),
    remove: (session, id, query = {}) => session.api.deleteGlobalVolume({ path: { id }, query }),
    example: `global-volumes create --body '{"name":"shared"}'`,
  })
}

function addRegistries(program: Command): void {
  add<Answer<'getRegistry'>>(program, {
    name: 'registries',
    aliases: ['registry'],
    one: 'registry credential',
    argument: 'registry',
    description: 'credentials for image registries; a password comes from stdin or a file, not an argument',
    columns: columns('id', 'name'),
    loss: 'Images that need it cannot be pulled.',
    async list(session) {
      const answer = await session.api.listRegistries()
      return { answer, rows: answer.registries }
    },
    get: (session, id) => session.api.getRegistry({ path: { id } }),
    create: (session, body) => session.api.createRegistry({ body: body as Body }),
    remove: (session, id, query = {}) => session.api.deleteRegistry({ path: { id }, query }),
    example: 'registries create --body @registry.json',
  })
}

function addSecrets(program: Command): void {
  add<Answer<'getSecret'>>(program, {
    name: 'secrets',
    aliases: ['secret'],
    one: 'secret',
    argument: 'secret',
    description: 'values that an env references as {{ RUNPOD_SECRET_<name> }}; they are never shown again',
    columns: columns('id', 'name', 'description'),
    loss: 'Containers that reference it cannot start.',
    async list(session) {
      const answer = await session.api.listSecrets()
      return { answer, rows: answer.secrets }
    },
    get: (session, id) => session.api.getSecret({ path: { id } }),
    create: (session, body) => session.api.createSecret({ body: body as Body }),
    update: (session, id, body, query = {}) => session.api.updateSecret({ path: { id }, query, body: body as Body }),
    canPlanUpdate: true,
    remove: (session, id, query = {}) => session.api.deleteSecret({ path: { id }, query }),
    example: 'secrets create --body - < secret.json',
  })
}

function add<Row extends { id: string; name: string }>(program: Command, kind: Resource<Row>): Command {
  const command = noun(program, kind.name, kind.aliases, kind.description)
  act(
    command.command('list').alias('ls').description(`list ${kind.one}s`).option('--all', 'show all, not only the first 50'),
    async (session, { all }: { all?: boolean }) => {
      const { answer, rows } = await kind.list(session, all)
      session.out.list(answer, rows, {
        columns: kind.columns,
        idOf: ({ id }) => id,
        empty: `no ${kind.one}s; create one with podplane ${kind.name} create`,
      })
    },
  )
  const { get, create, update } = kind
  if (get)
    act(command.command(`get <${kind.argument}>`).description(`show a ${kind.one}`), async (session, _options, id: string) =>
      session.out.record(await get(session, id), id),
    )
  if (create) addCreate(command, kind, create)
  if (update) {
    const change = command
      .command(`update <${kind.argument}>`)
      .description(`change a ${kind.one}`)
      .requiredOption('--body <json>', 'fields to change: JSON, @file, or - for stdin')
    if (kind.canPlanUpdate) plannable(change)
    act(change, async (session, { body, plan }: { body: string; plan?: boolean }, id: string) => {
      const members = await bodyOf(session, body, [])
      if (plan) return planOne(session, (query) => update(session, id, members, query))
      session.out.done(await update(session, id, members), id, `${kind.one} ${id} changed`)
    })
  }
  const remove = plannable(command.command(`delete <${kind.argument}...>`).alias('rm').description(`delete ${kind.one}s`))
  act(remove, async (session, { plan }: { plan?: boolean }, ...given) => {
    const ids = given.flat()
    if (plan) return (await import('../session/change-plan.ts')).planEach(session, ids, (id, query) => kind.remove(session, id, query))
    await session.confirm(`Delete ${ids.join(', ')}? ${kind.loss}`)
    for (const id of ids) {
      await kind.remove(session, id)
      session.out.done(undefined, id, `${kind.one} ${id} is deleted`)
    }
  })
  return command
}

function addCreate<Row extends { id: string; name: string }>(
  command: Command,
  kind: Resource<Row>,
  create: (session: Session, body: Record<string, unknown>) => Promise<Row>,
): void {
  const make = command
    .command('create [name]')
    .description(`create a ${kind.one}`)
    .option('--body <json>', 'fields of the request: JSON, @file, or - for stdin')
    .option('--set <member=value>', 'value of one field, as JSON or as text; repeatable', collect)
  act(make, async (session, { body, set = [] }: { body?: string; set?: string[] }, name?: string) => {
    const members = await bodyOf(session, body, set)
    const made = await create(session, name === undefined ? members : { ...members, name })
    session.out.done(made, made.id, `${kind.one} ${made.name} is created`)
  })
  examples(make, kind.example)
}

async function bodyOf(session: Session, body: string | undefined, set: readonly string[]): Promise<Record<string, unknown>> {
  const { readBody, readPairs } = await import('../core/body.ts')
  const pairs = Object.entries(readPairs(set, '--set')).map(([name, value]) => [name, jsonOrText(value)])
  return { ...(await readBody(session.io, body)), ...Object.fromEntries(pairs) }
}

function jsonOrText(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
