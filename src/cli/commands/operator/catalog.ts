import type { Command } from 'commander'
import { OperatorError } from '../../../node/fail.ts'
import { type Call, PLAN, type Planned } from './call.ts'

const PARTS = ['gpus', 'cpus', 'datacenters', 'storage', 'publishers']
const API = '/admin/v1/catalog'

/** Adds `admin catalog …`: prices, types, pools and data centers. */
export function addCatalogCommands(program: Command, call: Call): void {
  const catalog = program.command('catalog').description(`offers and their prices; a part is one of ${PARTS.join(', ')}`)
  catalog
    .command('list <part>')
    .description('list a part of the catalog')
    .action((part: string) => call((api) => api.request('GET', pathOf(part))))
  catalog
    .command('get <part> <id>')
    .description('show one entry')
    .action((part: string, id: string) => call((api) => api.request('GET', pathOf(part, id))))
  catalog
    .command('set <part> <id> <json>')
    .description('override the defaults of an entry, such as \'{"price":{"secure":0.5}}\'; replaces the earlier override')
    .option(...PLAN)
    .action((part: string, id: string, json: string, { plan }: Planned) =>
      call((api) => api.request('PUT', changeOf(part, id, plan), parseJson(json))),
    )
  catalog
    .command('reset <part> <id>')
    .description('remove the override of a built-in entry, or remove an entry of your own')
    .option(...PLAN)
    .action((part: string, id: string, { plan }: Planned) => call((api) => api.request('DELETE', changeOf(part, id, plan))))
}

function pathOf(part: string, id?: string): string {
  if (!PARTS.includes(part)) throw new OperatorError(`${part}: it must be one of ${PARTS.join(', ')}`)
  return id === undefined ? `${API}/${part}` : `${API}/${part}/${encodeURIComponent(id)}`
}

function changeOf(part: string, id: string, isPlan = false): string {
  return `${pathOf(part, id)}${isPlan ? '?dryRun=true' : ''}`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new OperatorError(`${text}: it must be JSON such as {"price":{"secure":0.5}}`)
  }
}
