import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLOutputType,
  getNamedType,
  isInputObjectType,
  isObjectType,
  valueFromASTUntyped,
} from 'graphql'
import { GRAPHQL_SCHEMA } from '../../../../src/contract/graphql/schema.ts'

export const SCHEMA = buildSchema(GRAPHQL_SCHEMA)

/** A field whose directives state who may read it. */
export interface Guarded {
  /** `Type.field`. */
  name: string
  field: GraphQLField<unknown, unknown>
  isPublic: boolean
  scope: string | null
  boundTo: string | null
}

/** Fields of a type, with the contents of their directives. */
export function fieldsOf(type: 'Query' | 'Mutation' | 'User'): Guarded[] {
  const object = SCHEMA.getType(type)
  if (!isObjectType(object)) throw new Error(`no type ${type}`)
  return Object.values(object.getFields()).map((field) => {
    const scope = directiveOf(field, 'scope')
    return {
      name: `${type}.${field.name}`,
      field,
      isPublic: directiveOf(field, 'public') !== null,
      scope: (scope?.name as string | undefined) ?? null,
      boundTo: (scope?.boundTo as string | undefined) ?? null,
    }
  })
}

/** The smallest selection of a type that is valid: its first plain field. */
export function selectionOf(type: GraphQLOutputType): string {
  const named = getNamedType(type)
  if (!isObjectType(named)) return ''
  const fields = Object.values(named.getFields()).filter(({ args }) => args.length === 0)
  const plain = fields.find((field) => !isObjectType(getNamedType(field.type))) ?? fields[0]
  return plain ? `{ ${plain.name} ${selectionOf(plain.type)} }` : ''
}

/** A document that selects these fields of a root. */
export function documentOf(operation: 'query' | 'mutation', fields: readonly Guarded[], argumentsOf: (field: Guarded) => string): string {
  const parts = fields.map((one) => `${one.field.name}${argumentsOf(one)} ${selectionOf(one.field.type)}`)
  return `${operation} { ${parts.join(' ')} }`
}

/** Arguments in which every id and name is this text. */
export function argumentsWith(text: string, { args }: GraphQLField<unknown, unknown>): string {
  const given = args.map((argument: GraphQLArgument) => `${argument.name}: ${valueWith(text, argument.name, argument.type)}`)
  return given.length > 0 ? `(${given.join(', ')})` : ''
}

const PLAIN: Readonly<Record<string, string>> = {
  Int: '1',
  Float: '1',
  Boolean: 'false',
  JSON: 'null',
  FlashBootType: 'OFF',
  CloudType: 'SECURE',
}
/** Valid values for arguments that are no references, so that references are checked. */
const VALID: Readonly<Record<string, string>> = {
  imageName: '"img"',
  gpuTypeId: '"NVIDIA L4"',
  gpuIds: '"AMPERE_24"',
  volumeMountPath: '"/workspace"',
  username: '"u"',
  password: '"p"',
}

function valueWith(text: string, name: string, type: GraphQLInputType): string {
  const named = getNamedType(type)
  if (isInputObjectType(named)) {
    const fields = Object.values(named.getFields()).filter((field) => field.name in VALID || /id$|ids$|name$/i.test(field.name))
    return `{ ${fields.map((field) => `${field.name}: ${valueWith(text, field.name, field.type)}`).join(', ')} }`
  }
  const isList = String(type).startsWith('[')
  const value = VALID[name] ?? PLAIN[named.name] ?? (/id$|ids$|name$/i.test(name) ? JSON.stringify(text) : '""')
  return isList ? `[${value}]` : value
}

function directiveOf({ astNode }: GraphQLField<unknown, unknown>, name: string): Record<string, unknown> | null {
  const directive = astNode?.directives?.find((one) => one.name.value === name)
  return directive ? Object.fromEntries((directive.arguments ?? []).map((one) => [one.name.value, valueFromASTUntyped(one.value)])) : null
}
