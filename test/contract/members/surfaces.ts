import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSchema, isInputObjectType, isObjectType } from 'graphql'
import { GRAPHQL_SCHEMA } from '../../../src/contract/graphql/schema.ts'
import { inFlatTerms } from '../../../src/domain/graphql/values.ts'
import { adminDocument } from '../../../src/http/admin-api.ts'
import { restDocument } from '../../../src/http/rest-api.ts'
import type { Noun } from './nouns.ts'

const SRC = join(import.meta.dirname, '../../../src')
const schema = buildSchema(GRAPHQL_SCHEMA)

interface Documented {
  components: { schemas: Record<string, { properties?: Record<string, unknown> }> }
}
// The generators read these documents as JSON.
const DOCUMENTS = [restDocument(), adminDocument()].map((document) => JSON.parse(JSON.stringify(document)) as Documented)

/** Names of GraphQL for members of v2 that have no single name there, beyond those of `inFlatTerms`. */
const FLAT: Readonly<Record<string, readonly string[]>> = {
  mounts: ['volumeInGb', 'networkVolumeId', 'objectMounts'],
  gpu: ['gpuTypeId', 'gpuIds'],
  cpu: ['instanceId', 'instanceIds', 'vcpuCount'],
  compute: ['gpuTypeId'],
  globalNetworking: ['globalNetwork'],
  cost: ['costPerHr'],
  status: ['desiredStatus'],
  statusReason: ['lastStatusChange'],
  startedAt: ['lastStartedAt'],
  template: ['templateId'],
  cluster: ['clusterId'],
  ssh: ['podHostId'],
  cloud: ['cloudType', 'secureCloud'],
  workers: ['workersMax'],
  scaling: ['scalerType'],
  dataCenterIds: ['dataCenterIds'],
  name: ['clusterName'],
}

export type Side = 'request' | 'answer'
export const SURFACES = ['sdk', 'graphql', 'console', 'cli'] as const
export type Surface = (typeof SURFACES)[number]

/** Members of a noun in the schemas of REST, by their names there. */
export function membersOf(noun: Noun, side: Side): string[] {
  return [...new Set(Object.values(side === 'request' ? noun.requests : noun.answer).flatMap(({ shape }) => Object.keys(shape)))]
}

/** Whether a surface has a member; null: the surface does not have the noun, or states no members of this side. */
export const HAS: Readonly<Record<Surface, (noun: Noun, side: Side, member: string) => boolean | null>> = {
  // Generated clients have what the documents have.
  sdk: (noun, side, member) =>
    Object.entries(side === 'request' ? noun.requests : noun.answer).every(([id, { shape }]) => {
      const documented = DOCUMENTS.map(({ components }) => components.schemas[id]).find((one) => one !== undefined)
      return !(member in shape) || member in (documented?.properties ?? {})
    }),
  graphql: ({ graphql }, side, member) => {
    if (!graphql) return null
    const known = new Set((side === 'request' ? graphql.inputs : graphql.types).flatMap(fieldsOf))
    return [inFlatTerms(`$.${member}`).slice(2), ...(FLAT[member] ?? [])].some((name) => known.has(name))
  },
  console: ({ console: sources }, side, member) => isNamed('console', side === 'request' ? sources.requests : sources.answer, member),
  // `get` prints every member of an answer.
  cli: ({ cli }, side, member) => (cli && side === 'request' ? isNamed('cli', cli, member) : null),
}

function fieldsOf(type: string): string[] {
  const found = schema.getType(type)
  if (!isObjectType(found) && !isInputObjectType(found)) throw new Error(`the GraphQL schema has no ${type}`)
  return Object.keys(found.getFields())
}

const texts = new Map<string, string>()
/** Whether the sources of a program name a member, without comments and imports. */
function isNamed(room: string, patterns: readonly string[], member: string): boolean {
  const files = globSync([...patterns], { cwd: join(SRC, room) })
  if (files.length === 0) throw new Error(`no file of src/${room} is ${patterns.join(' or ')}`)
  const word = new RegExp(`(?<![\\w'-])${member}(?![\\w'-])`)
  return files.some((file) => word.test(textOf(join(SRC, room, file))))
}

function textOf(path: string): string {
  const read =
    texts.get(path) ??
    readFileSync(path, 'utf8')
      .replaceAll(/\/\*[\s\S]*?\*\//g, '')
      .replaceAll(/^\s*\/\/.*$/gm, '')
      .replaceAll(/^import [\s\S]*?from '.*'$/gm, '')
  texts.set(path, read)
  return read
}
